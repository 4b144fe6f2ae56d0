//===- FootprintMessage.cpp - What is said of changes ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Footprint.h"
#include "stark/Json/Names.h"
#include "stark/Support/Error.h"
#include <algorithm>

using namespace stark;

namespace stark {
static constexpr Named<Grounding> GroundingNames[] = {
    {Grounding::Strict, "strict"},
    {Grounding::Support, "support"},
    {Grounding::Off, "off"}};
static constexpr std::span<const Named<Grounding>> namesOf(Grounding) {
  return GroundingNames;
}

static constexpr Named<ChangeClass> ChangeClassNames[] = {
    {ChangeClass::Inside, "inside"},
    {ChangeClass::Supporting, "supporting"},
    {ChangeClass::Outside, "outside"}};
static constexpr std::span<const Named<ChangeClass>> namesOf(ChangeClass) {
  return ChangeClassNames;
}
} // namespace stark

llvm::Expected<Grounding> stark::parseGrounding(llvm::StringRef Name) {
  if (std::optional<Grounding> G = valueNamed<Grounding>(Name))
    return *G;
  return usageError("grounding: got '" + Name + "', wanted " +
                    allNames<Grounding>());
}

llvm::StringRef stark::groundingName(Grounding G) { return nameOf(G); }
llvm::StringRef stark::changeClassName(ChangeClass C) { return nameOf(C); }

ChangeClass ChangeReason::changeClass() const {
  return Kind == InAnchor         ? ChangeClass::Inside
         : Kind <= AnchoredLaunch ? ChangeClass::Supporting
                                  : ChangeClass::Outside;
}

/// How an anchor's text reaches out of it, or empty.
static llvm::StringRef breakoutText(ChangeReason::KindType Kind) {
  switch (Kind) {
  case ChangeReason::UnbalancedAnchor:
    return "has brackets, or #if and #endif, that do not match";
  case ChangeReason::EmptyAnchor:
    return "is empty, so that the statement after it takes its place";
  case ChangeReason::UnfinishedAnchor:
    return "ends in the middle of a statement or declaration";
  case ChangeReason::OpenDo:
    return "ends with a do that has no while";
  case ChangeReason::TakesElse:
    return "has an if that would take the else after it";
  case ChangeReason::NoSemicolon:
    return "ends with a declaration that has no semicolon";
  default:
    return "";
  }
}

std::string ChangeReason::str() const {
  std::string Quoted = "'" + Name + "'", OfKind = pieceKindName(Piece).str();
  switch (Kind) {
  case InAnchor:
    return "inside anchor " + std::to_string(Anchor);
  case NewPiece:
    return "new top-level " + OfKind + (Name.empty() ? "" : " " + Quoted);
  case AnchoredDeclaration:
    return "declaration of anchored function " + Quoted;
  case AnchoredLaunch:
    return "launch of an anchored kernel in " + Quoted;
  case Elsewhere:
    return Name.empty() ? "outside every anchor"
                        : "in " + OfKind + " " + Quoted;
  case RemovedPiece:
    return "removes " + OfKind + " " + Quoted;
  case AroundOld:
    return "a new " + OfKind + " around what was there before";
  case NewOverload:
    return "a new overload or specialisation of " + Quoted +
           ", which holds no anchor";
  case NewDirective:
    return "a new directive";
  case UnbalancedPiece:
    return "brackets that do not match";
  case UnbalancedMacro:
    return "the macro " + Quoted + " has brackets that do not match";
  case Redefinition:
    return "the macro " + Quoted + " would change the meaning of line " +
           std::to_string(BaseLine) + " of the base";
  default:
    return "the text in place of anchor " + std::to_string(Anchor) + " " +
           breakoutText(Kind).str();
  }
}

static bool allows(Grounding G, const Change &C) {
  ChangeClass Class = C.Why.changeClass();
  return G == Grounding::Off || Class == ChangeClass::Inside ||
         (G == Grounding::Support && Class == ChangeClass::Supporting);
}

bool Footprint::grounded(Grounding G) const {
  return std::all_of(Changes.begin(), Changes.end(),
                     [&](const Change &C) { return allows(G, C); });
}

static std::string lines(const Change &C) {
  if (C.CandidateEndLine > C.CandidateLine)
    return "lines " + std::to_string(C.CandidateLine) + " to " +
           std::to_string(C.CandidateEndLine) + " are";
  return "line " + std::to_string(C.CandidateLine) + " is";
}

std::vector<std::string> Footprint::complaints(Grounding G) const {
  std::vector<std::string> Result;
  for (const Change &C : Changes)
    if (!allows(G, C))
      Result.push_back(lines(C) + " changed, but no anchor covers " +
                       (C.CandidateEndLine > C.CandidateLine ? "them" : "it") +
                       " (" + C.Why.str() + ")" +
                       (C.Text.empty() ? "" : ": " + C.Text));
  return Result;
}

void Footprint::print(llvm::raw_ostream &OS) const {
  for (const Change &C : Changes)
    OS << changeClassName(C.Why.changeClass()) << ": " << lines(C)
       << " changed (line " << C.BaseLine << " of the base): " << C.Why.str()
       << "\n";
}
