//===- Evaluator.cpp - Which evaluator is meant --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   EvaluatorSpec -> an evaluator
///
//===----------------------------------------------------------------------===//

#include "stark/Eval/Evaluator.h"

using namespace stark;

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeEvaluator(const EvaluatorSpec &Spec, const Task &T,
                     const EvaluatorOptions &Options, Clock &Time) {
  switch (Spec.Of) {
  case EvaluatorSpec::Kind::Cuda:
    return makeCudaEvaluator(T, Options, Time);
  case EvaluatorSpec::Kind::Sim:
    return makeSimEvaluator(T, Spec.Where, Options);
  case EvaluatorSpec::Kind::Spool:
    return makeSpoolEvaluator(T, Spec.Where, Options, Time);
  case EvaluatorSpec::Kind::Slurm:
    return makeSlurmEvaluator(T, Spec, Options, Time);
  case EvaluatorSpec::Kind::Replay:
    return makeReplayEvaluator(Spec.Where, Options.ReplayedAs);
  }
  llvm_unreachable("all kinds are above");
}
