//===- EvaluatorSpec.cpp - Who is to judge -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/EvaluatorSpec.h"
#include "stark/Support/Error.h"

using namespace stark;

static constexpr const char *DefaultGpu = "h200";

llvm::Expected<EvaluatorSpec> stark::parseEvaluatorSpec(llvm::StringRef Text) {
  using Kind = EvaluatorSpec::Kind;
  auto [Name, Where] = Text.split(':');
  if (Text == "cuda")
    return EvaluatorSpec{Kind::Cuda, ""};
  if (Name == "sim")
    return EvaluatorSpec{Kind::Sim, Where.empty() ? DefaultGpu : Where.str()};
  if (Name == "spool" && !Where.empty())
    return EvaluatorSpec{Kind::Spool, Where.str()};
  if (Name == "replay" && !Where.empty())
    return EvaluatorSpec{Kind::Replay, Where.str()};
  return usageError("evaluator: got '" + Text +
                    "', wanted cuda, sim[:GPU], spool:DIR or replay:RUN");
}

std::string stark::printEvaluatorSpec(const EvaluatorSpec &Spec) {
  switch (Spec.Of) {
  case EvaluatorSpec::Kind::Cuda:
    return "cuda";
  case EvaluatorSpec::Kind::Sim:
    return "sim:" + Spec.Where;
  case EvaluatorSpec::Kind::Spool:
    return "spool:" + Spec.Where;
  case EvaluatorSpec::Kind::Replay:
    return "replay:" + Spec.Where;
  }
  llvm_unreachable("all kinds are above");
}
