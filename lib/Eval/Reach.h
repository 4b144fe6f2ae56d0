//===- Reach.h - What a source reads and writes in full -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_EVAL_REACH_H
#define STARK_LIB_EVAL_REACH_H

#include "stark/Draft/Draft.h"
#include "stark/Eval/Evaluator.h"

namespace stark {

/// Runs the source of \p T at its timed sizes on a simulated GPU, every block.
/// With \p SameValues each argument holds one value throughout, so that an
/// array of places does not reach all of another one by luck. Unset: it takes
/// tensors, or does not come to its end.
llvm::Expected<std::optional<WholeArguments>>
reachOfSource(const Task &T, bool SameValues, const EvaluatorOptions &Options);

} // namespace stark

#endif
