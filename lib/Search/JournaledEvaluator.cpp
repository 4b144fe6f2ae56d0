//===- JournaledEvaluator.cpp - Verdicts as steps of a run ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Journaled.h"
#include "stark/Support/Digest.h"

using namespace stark;
using By = VerdictEvent::By;

/// Takes \p E, or writes the candidate \p Text, which may be empty, and then
/// the event with what \p Find returns.
static llvm::Expected<Verdict>
verdictStep(RunSteps &Steps, VerdictEvent E, const std::string &Text,
            llvm::function_ref<llvm::Expected<Verdict>()> Find) {
  bool Confirms = E.Purpose == By::Confirm;
  if (!Text.empty())
    E.Candidate = sha256(Text);
  auto Make = [&]() -> llvm::Expected<VerdictEvent> {
    llvm::Expected<Verdict> Found = Find();
    if (!Found)
      return Found.takeError();
    E.Found = std::move(*Found);
    if (!Confirms && !Text.empty())
      if (llvm::Error Problem = Steps.write(candidateFile(E.Node), Text))
        return Problem;
    return E;
  };
  llvm::Expected<VerdictEvent> Taken = Steps.step<VerdictEvent>(
      Confirms ? RunSteps::Tail : E.Attempt,
      {"judge",
       "node " + std::to_string(E.Node) + ", purpose " + nameOf(E.Purpose) +
           ", candidate " + E.Candidate.substr(0, 16),
       [&](const VerdictEvent &Had) {
         return Had.Attempt == E.Attempt && Had.Node == E.Node &&
                Had.Purpose == E.Purpose && Had.Candidate == E.Candidate;
       }},
      Make);
  if (!Taken)
    return Taken.takeError();
  return std::move(Taken->Found);
}

namespace {
class JournaledEvaluator : public Evaluator {
public:
  JournaledEvaluator(Evaluator &Live, RunSteps &Steps, unsigned Attempt)
      : Live(Live), Steps(Steps), Attempt(Attempt) {}

  llvm::Expected<Verdict> evaluate(const Candidate &C) override {
    VerdictEvent E;
    E.Attempt = Attempt;
    E.Node = C.Node;
    E.Purpose = recordedAs(C.Why);
    return verdictStep(Steps, std::move(E), C.Text,
                       [&] { return Live.evaluate(C); });
  }
  std::string identity() const override { return Live.identity(); }

private:
  Evaluator &Live;
  RunSteps &Steps;
  const unsigned Attempt;
};
} // namespace

std::unique_ptr<Evaluator>
stark::journalVerdicts(Evaluator &Live, RunSteps &Steps, unsigned Attempt) {
  return std::make_unique<JournaledEvaluator>(Live, Steps, Attempt);
}

llvm::Expected<Verdict> stark::journalCheck(RunSteps &Steps, unsigned Attempt,
                                            unsigned Number,
                                            const std::string &Text,
                                            const Verdict &Found) {
  VerdictEvent E;
  E.Attempt = Attempt;
  E.Node = Number;
  E.Purpose = By::Check;
  return verdictStep(Steps, std::move(E), Text,
                     [&] { return llvm::Expected<Verdict>(Found); });
}
