//===- Evaluator.cpp - Which evaluator is meant --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   "cuda", "sim:GPU", "spool:DIR", "replay:RUN" -> an evaluator
///
//===----------------------------------------------------------------------===//

#include "stark/Eval/Evaluator.h"
#include "stark/Support/Error.h"

using namespace stark;

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeEvaluator(llvm::StringRef Spec, const Task &T,
                     const EvaluatorOptions &Options) {
  auto [Name, Where] = Spec.split(':');
  if (Spec == "cuda")
    return makeCudaEvaluator(T, Options);
  if (Name == "sim")
    return makeSimEvaluator(T, Where.empty() ? "h200" : Where, Options);
  if (Name == "spool" && !Where.empty())
    return makeSpoolEvaluator(T, Where, Options);
  if (Name == "replay" && !Where.empty())
    return makeReplayEvaluator(Where);
  return usageError("evaluator: got '" + Spec +
                    "', wanted cuda, sim[:GPU], spool:DIR or replay:RUN");
}
