//===- ReadReply.cpp - From a reply to what it asks for -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   reply -> parsed -> grounded, spliced. Shared by all teams: whoever wrote a
/// reply, it is checked alike.
///
//===----------------------------------------------------------------------===//

#include "CandidateText.h"
#include "TextForms.h"
#include "stark/AST/Parse.h"
#include "stark/Agent/Reply.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

std::string stark::requestId(unsigned Attempt, llvm::StringRef Role,
                             unsigned Try) {
  std::string Id;
  llvm::raw_string_ostream(Id)
      << llvm::format("%04u-", Attempt) << Role << "-" << Try;
  return Id;
}

/// What the marked code says of itself goes to the code agent with the advice.
static void addRemarks(PlanReply &Plan, llvm::StringRef Base) {
  std::vector<std::string> Remarks = remarksInMarks(Plan.Marked, Base);
  std::string Text;
  for (size_t I = 0; I < Remarks.size(); ++I)
    if (!Remarks[I].empty())
      Text += "- anchor " + std::to_string(I + 1) + ": " + Remarks[I] + "\n";
  if (Text.empty())
    return;
  if (Plan.Title.empty())
    for (const std::string &Remark : Remarks)
      if (!Remark.empty() && Plan.Title.empty())
        Plan.Title = shortenUtf8(Remark, 120);
  if (!Plan.Advice.empty())
    Plan.Advice += "\n\n";
  Plan.Advice += "Said in the marked code:\n\n" + Text;
}

llvm::Expected<Instruction> stark::readPlan(const AgentInput &In,
                                            llvm::StringRef Reply) {
  llvm::Expected<PlanReply> Plan = parsePlanReply(Reply);
  if (!Plan)
    return Plan.takeError();
  Instruction I;
  llvm::Expected<std::vector<Anchor>> Anchors =
      Plan->SiteIds.empty()
          ? groundMarks(*In.Base, *In.BaseSites, Plan->Marked)
          : groundSites(*In.Base, *In.BaseSites, Plan->SiteIds);
  if (!Anchors)
    return Anchors.takeError();
  if (Plan->SiteIds.empty())
    addRemarks(*Plan, In.Base->text());
  if (Plan->Advice.empty() || Plan->Title.empty())
    return failed("the plan marks places and does not say what is to be done "
                  "there; wanted the advice as text before the marked code");
  if (Anchors->empty())
    return failed("the plan marks nothing; wanted one place at least");
  I.Title = std::move(Plan->Title);
  I.Advice = std::move(Plan->Advice);
  I.Anchors = std::move(*Anchors);
  return I;
}

llvm::Expected<std::string> stark::readCode(const AgentInput &In,
                                            llvm::StringRef Reply) {
  const std::vector<Anchor> &Anchors = In.Given->Anchors;
  llvm::Expected<CodeReply> Code =
      parseCodeReply(Reply, Anchors.size(), plainName(In.Of->Entry.Name));
  if (!Code)
    return Code.takeError();
  return makeCandidate(*In.Base, Anchors, *Code, In.Of->Entry.Name);
}

/// The first line that says something, as a title.
static std::string titleOf(llvm::StringRef Explanation) {
  constexpr size_t TitleLimit = 120;
  while (!Explanation.empty()) {
    auto [Line, Rest] = Explanation.split('\n');
    Line = Line.trim(" \t\r#*_`");
    if (!Line.empty())
      return Line.size() <= TitleLimit
                 ? cleanText(Line)
                 : cleanText(Line.take_front(TitleLimit - 3)) + "...";
    Explanation = Rest;
  }
  return "no explanation";
}

llvm::Expected<SingleAnswer> stark::readSingle(const AgentInput &In,
                                               llvm::StringRef Reply) {
  llvm::Expected<CodeReply> Code =
      parseCodeReply(Reply, 0, plainName(In.Of->Entry.Name));
  if (!Code)
    return Code.takeError();
  llvm::Expected<std::string> Candidate =
      makeCandidate(*In.Base, {}, *Code, In.Of->Entry.Name);
  if (!Candidate)
    return Candidate.takeError();
  SingleAnswer Answer;
  Answer.Given.Title = titleOf(Code->Explanation);
  Answer.Given.Advice = cleanText(Code->Explanation);
  Answer.Text = std::move(*Candidate);
  return Answer;
}
