//===- Profiler.h - Counters of a simulated GPU ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate -> "line 14: load of global memory: 32.0 sectors a request, 4.0
///                would do"; text -> modelled time
/// What a judge that measures cannot say: which line is to blame. Nothing is
/// compared, and the timed sizes alone are run, in part.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_PROFILER_H
#define STARK_EVAL_PROFILER_H

#include "stark/Eval/Evaluator.h"
#include <functional>
#include <optional>

namespace stark {

struct Counters {
  std::string Device;   ///< "simulated NVIDIA H200"
  std::string Text;     ///< by size and kernel, worst line first; may be empty
  std::string Problem;  ///< why there are none; empty when there are
  bool TooSlow = false; ///< and so would others be
  bool operator==(const Counters &) const = default;
};

class Profiler {
public:
  virtual ~Profiler() = default;
  /// Errors: the profiler itself failed. What it cannot run has a Problem. May
  /// be called by several threads at a time.
  virtual llvm::Expected<Counters> profile(const Candidate &C) = 0;
};

/// Text -> microseconds that it is modelled to take, the geometric mean of the
/// timed sizes; unset when the simulator does not come to its end. Errors: the
/// simulator itself failed.
using TimeModel =
    std::function<llvm::Expected<std::optional<double>>(llvm::StringRef Text)>;

/// Likewise; a text that takes longer than Options.TimeoutMs to model is
/// given up.
llvm::Expected<TimeModel> makeSimTimeModel(const Task &T, llvm::StringRef Gpu,
                                           const EvaluatorOptions &Options);

/// Of the GPU that stark-sim calls \p Gpu. A candidate that takes longer than
/// Options.TimeoutMs is too slow.
llvm::Expected<std::unique_ptr<Profiler>>
makeSimProfiler(const Task &T, llvm::StringRef Gpu,
                const EvaluatorOptions &Options);

/// From the journal of a run, by the digest of the candidate's text.
llvm::Expected<std::unique_ptr<Profiler>>
makeReplayProfiler(llvm::StringRef RunFolder);

} // namespace stark

#endif
