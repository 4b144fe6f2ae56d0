//===- ReplayEvaluator.cpp - Verdicts that were found before -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   journal -> (digest of the text, purpose) -> verdicts, in the order of the
///   run
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "RecordedEvents.h"
#include "stark/Support/Digest.h"
#include <deque>
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;

namespace {
class ReplayEvaluator : public Evaluator {
public:
  explicit ReplayEvaluator(std::string Identity)
      : Identity(std::move(Identity)) {}
  llvm::Error load(llvm::StringRef RunFolder);
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  std::string identity() const override { return Identity; }

private:
  std::string File;
  const std::string Identity;
  /// A text that was judged twice has two.
  std::map<std::pair<VerdictEvent::By, std::string>, std::deque<Verdict>>
      Verdicts;
};
} // namespace

llvm::Error ReplayEvaluator::load(llvm::StringRef RunFolder) {
  File = journalOf(RunFolder);
  return forEachEvent<VerdictEvent, nlohmann::json>(
      RunFolder, [this](VerdictEvent E) {
        Verdicts[{E.Purpose, E.Candidate}].push_back(std::move(E.Found));
      });
}

llvm::Expected<Verdict> ReplayEvaluator::evaluate(const Candidate &C) {
  std::string Digest = sha256(C.Text);
  auto Found = Verdicts.find({recordedAs(C.Why), Digest});
  if (Found == Verdicts.end())
    return failed(File + ": has no verdict for node " + std::to_string(C.Node) +
                  " (" + purposeName(C.Why) + ", candidate " +
                  Digest.substr(0, 16) + "); the run went another way");
  Verdict V = Found->second.front();
  if (Found->second.size() > 1)
    Found->second.pop_front();
  return V;
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeReplayEvaluator(llvm::StringRef RunFolder,
                           llvm::StringRef Identity) {
  auto E = std::make_unique<ReplayEvaluator>(Identity.str());
  if (llvm::Error Failure = E->load(RunFolder))
    return Failure;
  return E;
}
