//===- CheckCandidate.cpp - What no evaluator need be asked for -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/CheckCandidate.h"
#include "stark/AST/Contract.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// What a model's window can bear of one observation.
static constexpr size_t ObservationBytes = 4000;

static Verdict observed(VerdictKind Kind, llvm::StringRef What) {
  Verdict V;
  V.Kind = Kind;
  V.Compiler = trimForWindow(What, ObservationBytes);
  return V;
}

std::optional<Verdict>
stark::checkAgainstSource(const Task &T, const ParsedSource &Candidate) {
  std::vector<Violation> Found =
      checkContract(*T.Parsed, Candidate, T.Load.Entry);
  if (Found.empty())
    return std::nullopt;
  bool Forbidden = false;
  std::string Text;
  for (const Violation &V : Found) {
    Forbidden |= V.forbidden();
    if (!Text.empty())
      Text += "\n";
    if (V.Line)
      Text += "line " + std::to_string(V.Line) + ": ";
    Text += V.message();
  }
  return observed(
      Forbidden ? VerdictKind::Forbidden : VerdictKind::ContractBroken, Text);
}

std::optional<Verdict> stark::checkFootprint(const Task &T, const Told &To,
                                             const ParsedSource &Candidate) {
  if (To.Strictness == Grounding::Off)
    return std::nullopt;
  Footprint F = findFootprint(To.Base, To.Anchors, Candidate.text());
  if (F.grounded(To.Strictness))
    return std::nullopt;
  std::string Text = llvm::join(F.complaints(To.Strictness), "\n");
  if (std::optional<Verdict> Broken = checkAgainstSource(T, Candidate))
    Text += "\n" + Broken->Compiler;
  return observed(VerdictKind::Ungrounded, Text);
}
