//===- Anchor.cpp - From a plan's marks to exact ranges ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Anchor.h"
#include "AnchorPlan.h"
#include "AnchorSnap.h"
#include "stark/Support/Error.h"
#include <algorithm>
#include <map>

using namespace stark;

llvm::Expected<std::vector<Anchor>> stark::groundMarks(const ParsedSource &Base,
                                                       const Sites &BaseSites,
                                                       llvm::StringRef Marked) {
  Spellings Names;
  SourceTokens Tokens(Base.text(), Names), Plan(Marked, Names);
  auto Regions = findRegions(Tokens, Plan);
  if (!Regions)
    return Regions.takeError();
  AnchorNode Root = anchorTree(Base, Tokens);
  std::vector<Snapped> Runs;
  for (const MarkedRegion &R : *Regions) {
    auto Run =
        snapRegion(Root, Tokens, R.Tokens,
                   "the marks in lines " + std::to_string(R.BeginMark) +
                       " and " + std::to_string(R.EndMark) + " of the plan");
    if (!Run)
      return Run.takeError();
    Runs.push_back(*Run);
  }
  return anchorsOf(Root, Tokens, BaseSites, std::move(Runs));
}

/// "softmax:loop7" -> "softmax"; a function's id is its own.
static llvm::StringRef functionOf(llvm::StringRef Id) {
  return Id.substr(0, Id.rfind(':') == llvm::StringRef::npos ? Id.size()
                                                             : Id.rfind(':'));
}

static std::string listed(const std::vector<std::string> &Items) {
  std::string Result;
  for (const std::string &Item : Items)
    Result += (Result.empty() ? "" : ", ") + Item;
  return Result;
}

/// The message for an id that does not exist: those of the same function, else
/// those that are spelled most alike.
static llvm::Error unknownSite(const Sites &BaseSites, llvm::StringRef Id) {
  llvm::StringRef Function = functionOf(Id);
  std::vector<std::string> Same;
  for (const Site &S : BaseSites.All)
    if (S.Id != Function && functionOf(S.Id) == Function && Same.size() < 12)
      Same.push_back(llvm::StringRef(S.Id).substr(Function.size() + 1).str());
  if (Id.contains(':') && BaseSites.find(Function))
    return failed("plan names site '" + Id + "', but '" + Function + "' has " +
                  (Same.empty() ? "no sites inside it" : listed(Same)));
  std::multimap<unsigned, std::string> Near;
  for (const Site &S : BaseSites.All)
    Near.emplace(Id.edit_distance_insensitive(S.Id), S.Id);
  std::vector<std::string> Nearest;
  for (const auto &[Distance, Name] : Near)
    if (Nearest.size() < 5)
      Nearest.push_back(Name);
  return failed("plan names site '" + Id + "', which the source does not have" +
                (Nearest.empty() ? "; it has no sites at all"
                                 : "; the nearest are " + listed(Nearest)));
}

llvm::Expected<std::vector<Anchor>>
stark::groundSites(const ParsedSource &Base, const Sites &BaseSites,
                   const std::vector<std::string> &Ids) {
  if (Ids.empty())
    return failed("the plan names no site");
  Spellings Names;
  SourceTokens Tokens(Base.text(), Names);
  AnchorNode Root = anchorTree(Base, Tokens);
  std::vector<Snapped> Runs;
  for (const std::string &Id : Ids) {
    const Site *S = BaseSites.find(Id);
    if (!S)
      return unknownSite(BaseSites, Id);
    if (!S->editable())
      return failed("site '" + Id + "' in line " + llvm::Twine(S->Line) +
                    " cannot be edited: it is " + S->Against.str());
    Range Region{Tokens.firstAt(S->Bytes.Begin), Tokens.firstAt(S->Bytes.End)};
    if (Region.size() == 0)
      return failed("site '" + Id + "' has no text");
    auto Run = snapRegion(Root, Tokens, Region, "site '" + Id + "'");
    if (!Run)
      return Run.takeError();
    Runs.push_back(*Run);
  }
  std::vector<Anchor> Anchors =
      anchorsOf(Root, Tokens, BaseSites, std::move(Runs));
  for (Anchor &A : Anchors) {
    std::vector<const Site *> Named;
    for (const std::string &Id : Ids) {
      const Site *S = BaseSites.find(Id);
      if (A.Bytes.contains(S->Bytes) &&
          std::find(Named.begin(), Named.end(), S) == Named.end())
        Named.push_back(S);
    }
    std::stable_sort(Named.begin(), Named.end(),
                     [](const Site *X, const Site *Y) {
                       return X->Bytes.Begin < Y->Bytes.Begin;
                     });
    if (Named.empty())
      continue;
    A.SiteIds.clear();
    for (const Site *S : Named)
      A.SiteIds.push_back(S->Id);
  }
  return Anchors;
}
