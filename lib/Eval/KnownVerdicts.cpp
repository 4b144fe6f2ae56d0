//===- KnownVerdicts.cpp - What a simulation said before ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/KnownVerdicts.h"
#include "stark/Support/Digest.h"

using namespace stark;

namespace {
class RememberingEvaluator : public Evaluator {
public:
  RememberingEvaluator(std::unique_ptr<Evaluator> Judge, const Task &Of,
                       KnownVerdicts &Known)
      : Judge(std::move(Judge)), Of(Of), Known(Known) {}

  llvm::Expected<Verdict> evaluate(const Candidate &C) override {
    std::string Key =
        DigestBuilder()
            .add("task", Of.Digest)
            .add("evaluator", Judge->identity())
            .add("purpose", C.Why == Purpose::Confirm ? "confirm" : "attempt")
            .add("seed", std::to_string(C.Seed))
            .add("text", C.Text)
            .finish();
    auto Found = Known.All.find(Key);
    if (Found != Known.All.end())
      return Found->second;
    llvm::Expected<Verdict> V = Judge->evaluate(C);
    if (V)
      Known.All.emplace(std::move(Key), *V);
    return V;
  }
  void prepare(const Candidate &C) override { Judge->prepare(C); }
  std::string identity() const override { return Judge->identity(); }

private:
  std::unique_ptr<Evaluator> Judge;
  const Task &Of;
  KnownVerdicts &Known;
};
} // namespace

std::unique_ptr<Evaluator>
stark::rememberVerdicts(std::unique_ptr<Evaluator> Judge, const Task &T,
                        KnownVerdicts &Known) {
  return std::make_unique<RememberingEvaluator>(std::move(Judge), T, Known);
}
