//===- EvaluatorSpec.h - Who is to judge ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   "cuda", "sim", "sim:GPU", "spool:DIR", "slurm:gpu,workers=4",
///   "replay:RUN" <-> EvaluatorSpec
/// The text of --evaluator is read here, once; what follows from it is asked of
/// the value.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_EVALUATORSPEC_H
#define STARK_EVAL_EVALUATORSPEC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// Workers that Slurm is asked for.
struct SlurmJobs {
  std::string Partition;      ///< empty: Slurm's default
  std::string Gres = "gpu:1"; ///< of each, as sbatch --gres takes it
  std::string Worker; ///< stark-worker, on the nodes; empty: beside the program
  unsigned Workers = 8;      ///< at most, at once
  unsigned IdleSeconds = 60; ///< without a job, until one ends
  bool operator==(const SlurmJobs &) const = default;
};

/// "slurm:gpu": what decides on which GPU is judged.
std::string slurmIdentity(const SlurmJobs &Asked);

struct EvaluatorSpec {
  enum class Kind {
    Cuda,   ///< this machine's GPU
    Sim,    ///< the GPU Where, simulated on this CPU
    Spool,  ///< the GPU of a machine that works off the jobs in folder Where
    Slurm,  ///< the same, by workers that Slurm starts; Where may be empty
    Replay, ///< the verdicts of the run in folder Where
  };
  Kind Of = Kind::Cuda;
  std::string Where;    ///< empty for Cuda, else as above
  SlurmJobs Slurm = {}; ///< of Kind::Slurm

  /// The run that is replayed, empty for every other kind.
  std::string replayedRun() const { return Of == Kind::Replay ? Where : ""; }
  /// Whether candidates run on a GPU, so that times are measured.
  bool measures() const {
    return Of == Kind::Cuda || Of == Kind::Spool || Of == Kind::Slurm;
  }
  /// Of a spool, Slurm's too: Where, or "stark-slurm/PARTITION".
  std::string folder() const;
  /// How long to wait for a result, the user having said \p AskedMs, or 0. For
  /// what Slurm starts: a week, since somebody sees to it.
  uint64_t waitMs(uint64_t AskedMs) const;
  /// Whether a verdict follows from the candidate and its seed alone, so that
  /// asking again is worth nothing.
  bool repeats() const { return Of == Kind::Sim; }
  bool operator==(const EvaluatorSpec &) const = default;
};

/// A usage error names all forms. "sim" is the GPU h200.
llvm::Expected<EvaluatorSpec> parseEvaluatorSpec(llvm::StringRef Text);

/// The text that reads back as \p Spec.
std::string printEvaluatorSpec(const EvaluatorSpec &Spec);

} // namespace stark

#endif
