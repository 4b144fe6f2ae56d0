//===- Evaluator.h - The judge -------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate -> build -> compare -> time -> verdict. Grounding and contract
/// are checked before by the search; an evaluator runs what it is given.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_EVALUATOR_H
#define STARK_EVAL_EVALUATOR_H

#include "stark/Eval/EvaluatorSpec.h"
#include "stark/Eval/Verdict.h"
#include "stark/Gpu/Device.h"
#include "stark/Posix/Clock.h"
#include "stark/Task/Task.h"
#include <functional>
#include <memory>

namespace stark {

class TextsAhead;

enum class Purpose {
  Attempt, ///< one node of the tree
  Confirm, ///< the winner again: fresh process, seeds never used before
};

struct Candidate {
  unsigned Node = 0; ///< number of the node, 0 for the source itself
  Purpose Why = Purpose::Attempt;
  std::string Text;
  uint64_t Seed = 0; ///< seeds of the comparisons derive from it
  /// How many times as fast as the source it has to be to be looked at by
  /// sanitizers, as a confirmation is in any case; below 0: it is not.
  double Fastest = -1;
  /// Whether a profiler is to look at it, where it is correct and measured.
  bool Profiled = false;
  /// Told, once a call, when it has to wait for the GPU; may be empty.
  std::function<void(llvm::StringRef Why)> OnWait = {};
};

class Evaluator {
public:
  virtual ~Evaluator() = default;
  /// Errors: the evaluator itself failed (no GPU, full disk, no nvcc);
  /// ErrorKind::Suspended when a queue has to be waited for. What is wrong
  /// with the candidate is a verdict, never an error.
  virtual llvm::Expected<Verdict> evaluate(const Candidate &C) = 0;
  /// \p C may be evaluated, if it keeps the rules, which are looked at
  /// meanwhile: what says nothing of it and runs nothing may be begun. Called
  /// by several threads.
  virtual void prepare(const Candidate &C) {}
  /// \p C will be evaluated, but for its number, once others have been: a queue
  /// may have it now. Called by several threads, beside evaluate(), which tells
  /// what comes of it.
  virtual void begin(const Candidate &C) {}
  /// "cuda:NVIDIA H200", "spool", "slurm:gpu", "sim:h200": part of the run's
  /// identity.
  virtual std::string identity() const = 0;
};

/// Of entries of tensors, whose host code and kernels are compiled apart.
enum class HostCompiler {
  Users, ///< g++, as the user's own build
  Own,   ///< our own Clang, which takes a third of the time
};

struct BuildOptions {
  std::string Toolkit; ///< explicit root; empty: find it
  std::string Arch;    ///< "sm_90"; empty: that of the GPU found
  uint64_t TimeoutMs = 120000;
  /// Bytes of a compiler and all that it starts.
  uint64_t MemoryLimit = uint64_t(8) << 30;
  /// For the simulated GPU, of an entry of tensors: host code alone, no nvcc.
  bool Simulated = false;
  /// Who compiles the host code; for an evaluator, that of attempts, where it
  /// can: what is to win is always compiled by the user's.
  HostCompiler Host = HostCompiler::Own;
  /// Path of stark-tool, which is our own compiler; empty: beside the program.
  std::string Tool;
  /// Texts of entries of tensors that are being read already; may be null.
  TextsAhead *Ahead = nullptr;
};

struct EvaluatorOptions {
  BuildOptions Build;
  std::string Worker; ///< path of stark-worker; empty: beside the program
  std::string Sim;    ///< likewise of stark-sim
  uint64_t TimeoutMs = 60000; ///< of one case of one library
  /// Of stark-sim, which compiles as well, and of its children.
  uint64_t SimLimitMs = 3600 * 1000ull, SimMemoryLimit = uint64_t(16) << 30;
  uint64_t WaitMs =
      0; ///< spool: how long to wait for a result before suspending
  /// replay: the identity of the evaluator that judged then.
  std::string ReplayedAs = "replay";
};

/// This machine's GPU, asked of `stark-worker --probe`; an error says why there
/// is none.
llvm::Expected<gpu::DeviceFacts> probeDevice(const EvaluatorOptions &Options);
llvm::Expected<gpu::DeviceFacts> parseDevice(llvm::StringRef Text,
                                             llvm::StringRef File);

/// Options.Worker, or stark-worker beside the running program.
std::string workerPath(const EvaluatorOptions &Options);

/// Runs on this machine's GPU, one process of the user at a time.
llvm::Expected<std::unique_ptr<Evaluator>>
makeCudaEvaluator(const Task &T, const EvaluatorOptions &Options, Clock &Time);

/// Runs on the CPU as the GPU that stark-sim calls \p Gpu ("h200", or a .json
/// file that describes one). Times are modelled.
llvm::Expected<std::unique_ptr<Evaluator>>
makeSimEvaluator(const Task &T, llvm::StringRef Gpu,
                 const EvaluatorOptions &Options);

/// Leaves jobs in \p Folder for `stark-worker --spool` on another machine, and
/// waits for results by \p Time.
llvm::Expected<std::unique_ptr<Evaluator>>
makeSpoolEvaluator(const Task &T, llvm::StringRef Folder,
                   const EvaluatorOptions &Options, Clock &Time);

/// The same for workers that Slurm is asked for, which are told by their jobs'
/// states in its queue. They end by themselves, by \p Spec.Slurm, and at once
/// when no job is left or the user wants to stop.
llvm::Expected<std::unique_ptr<Evaluator>>
makeSlurmEvaluator(const Task &T, const EvaluatorSpec &Spec,
                   const EvaluatorOptions &Options, Clock &Time);

/// Verdicts from the journal of a run, by the digest of the candidate's text.
/// \p Identity is that of the run's own evaluator, so that the replayed run
/// says what the first one said.
llvm::Expected<std::unique_ptr<Evaluator>>
makeReplayEvaluator(llvm::StringRef RunFolder, llvm::StringRef Identity);

llvm::Expected<std::unique_ptr<Evaluator>>
makeEvaluator(const EvaluatorSpec &Spec, const Task &T,
              const EvaluatorOptions &Options, Clock &Time);

} // namespace stark

#endif
