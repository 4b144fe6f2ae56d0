//===- SimJobs.h - What stark-sim is given of a task ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + candidate -> job folder -> stark-sim as a child -> result
/// A job folder holds two texts; of entries of tensors, the kernels' texts and
/// two libraries of host code.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SIMJOBS_H
#define STARK_LIB_EVAL_SIMJOBS_H

#include "JobFolder.h"
#include "LibraryBuilder.h"
#include "PtxasResources.h"
#include <mutex>

namespace stark {

/// What else a run of the candidate alone is to tell.
enum class Asked { Counters, Reach };

/// What stark-sim is given of a task: texts, and libraries where the entry
/// takes tensors.
class SimJobs {
public:
  SimJobs(const Task &Of, std::string Gpu, const EvaluatorOptions &Options);
  /// Runs stark-sim on \p J, for itself when \p Alone; unset when that takes
  /// longer than \p LimitMs, or too much memory, or when it crashes, which
  /// \p Crash then says. A verdict when \p C does not build.
  llvm::Expected<std::optional<job::Result>>
  run(const job::Job &J, const Candidate &C, bool Alone, uint64_t LimitMs,
      std::optional<Verdict> &NotBuilt, std::string &Crash,
      Asked What = Asked::Counters);
  /// What says nothing of \p C and runs nothing is begun.
  void prepare(const Candidate &C);

  const Task &Of;
  std::string Gpu;
  EvaluatorOptions Options;

private:
  llvm::Error write(const job::Job &J, const Candidate &C, bool Alone,
                    llvm::StringRef Folder);
  llvm::Error writeTensors(const job::Job &J, const Candidate &C, bool Alone,
                           llvm::StringRef Folder,
                           std::optional<Verdict> &NotBuilt);
  /// Has ptxas look at both texts, where there is an nvcc.
  llvm::Expected<std::optional<sim::ResourceFiles>>
  askPtxas(llvm::StringRef Source, llvm::StringRef Text);
  /// The path of the observer's library, built once.
  llvm::Expected<std::string> observer();

  std::unique_ptr<PtxasResources> Ptxas; ///< null: registers are estimated
  std::mutex Guard; ///< of what follows, for entries of tensors
  LibraryBuilder Libraries;
  std::unique_ptr<TemporaryFolder> ObserverFolder;
};

/// \p Options with the path of stark-sim; an error when there is none.
llvm::Expected<EvaluatorOptions> withSim(const EvaluatorOptions &Options);

} // namespace stark

#endif
