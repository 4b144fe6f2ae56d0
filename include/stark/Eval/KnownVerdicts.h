//===- KnownVerdicts.h - What a simulation said before --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate + seed -> the verdict of an earlier run of the same task
/// For evaluators that repeat (EvaluatorSpec): a
/// simulation, not a measurement, whose repetition is worth something.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_KNOWNVERDICTS_H
#define STARK_EVAL_KNOWNVERDICTS_H

#include "stark/Eval/Evaluator.h"
#include <map>

namespace stark {

/// Verdicts by digest of task, evaluator, candidate, seed and purpose.
class KnownVerdicts {
public:
  std::map<std::string, Verdict> All;
};

/// \p Judge, asked only for what \p Known lacks, which must outlive it.
std::unique_ptr<Evaluator> rememberVerdicts(std::unique_ptr<Evaluator> Judge,
                                            const Task &T,
                                            KnownVerdicts &Known);

} // namespace stark

#endif
