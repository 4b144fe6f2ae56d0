//===- PtxasResources.h - What ptxas gives the kernels of a text ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> nvcc -cubin, beside whoever simulates it -> a file of
///   sim::ResourceTable
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_PTXASRESOURCES_H
#define STARK_LIB_EVAL_PTXASRESOURCES_H

#include "stark/Eval/Evaluator.h"
#include "stark/Support/File.h"
#include <future>
#include <map>
#include <mutex>

namespace stark {

/// Asks nvcc once for each text. All may be called by several threads.
class PtxasResources {
public:
  /// For the GPU that stark-sim calls \p Gpu. \p Of has to outlive this.
  PtxasResources(const Task &Of, llvm::StringRef Gpu,
                 const BuildOptions &Options);
  /// Kills what has not ended: nobody waits for it any more.
  ~PtxasResources();
  /// False: there is no nvcc.
  bool available() const { return !Nvcc.empty(); }
  /// Begins to compile \p Text; where the file will be that says what came of
  /// it, whatever it is. An error when there is no room for it.
  llvm::Expected<std::string> begin(llvm::StringRef Text);
  /// How long to wait for a file after begin(), at most.
  uint64_t waitMs() const;

private:
  class EndingClock;

  const Task &Of;
  BuildOptions Options;
  std::string Nvcc, Target;
  std::unique_ptr<EndingClock> Time; ///< by which compilations have to end
  std::mutex Guard;                  ///< of what follows
  std::unique_ptr<TemporaryFolder> Folder;
  std::map<std::string, std::future<void>> Begun; ///< by the file's path
};

} // namespace stark

#endif
