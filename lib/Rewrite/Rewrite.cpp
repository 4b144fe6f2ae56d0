//===- Rewrite.cpp - Changes that need no model ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Rewrite/Rewrite.h"
#include "Catalogue.h"
#include "stark/Support/Error.h"
#include "stark/Support/Nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace stark;

static constexpr ReasonKind
    InstancesDiffer("the instances of the template would not change alike");

std::string Match::key() const {
  return Rewrite + (Variant.empty() ? "" : "=" + Variant) + "@" + Site;
}

namespace {
/// A match, and who can make it.
struct Offer {
  const Rewrite *By = nullptr;
  Match Offered;
};
} // namespace

struct RewriteSet::Impl {
  explicit Impl(const RewriteInput &In) : Known(In) {
    for (unsigned I = 1; I < Known.instances(); ++I)
      Others.push_back(std::make_unique<const Facts>(In, I));
  }
  const Facts Known;
  /// The same with other instances of the kernels that are templates.
  std::vector<std::unique_ptr<const Facts>> Others;
  std::vector<const Rewrite *> Makers; ///< one a match
  std::vector<Match> Matches;
  std::vector<Refusal> Refusals;
};

static llvm::StringRef functionOf(llvm::StringRef Site) {
  // Ids of nested sites are FUNCTION:KINDn; a function may be qualified.
  size_t Colon = Site.rfind(':');
  if (Colon == llvm::StringRef::npos || Colon == 0 || Site[Colon - 1] == ':')
    return Site;
  return Site.take_front(Colon);
}

/// One match that makes the changes of \p Members, for a search whose attempts
/// are few.
static Match joined(const std::vector<Match> &Members) {
  Match All = Members.front();
  All.Site = functionOf(All.Site).str();
  All.Sites = {All.Site};
  All.Promise = std::min(All.Promise + 5, 100u);
  All.Title += " (" + std::to_string(Members.size()) + " places)";
  All.Advice += "\n\nAt all of these places:";
  for (const Match &Each : Members) {
    All.Advice += " `" + Each.Site + "`";
    All.Places.push_back(Each.Site);
    for (const std::string &Site : Each.Sites)
      if (!llvm::is_contained(All.Sites, Site) && functionOf(Site) != All.Site)
        All.Sites.push_back(Site);
  }
  All.Advice += ".";
  return All;
}

/// Behind the matches at single places those that take all of a function's.
static void addJoined(std::vector<Match> &Matches) {
  std::vector<std::pair<std::string, std::vector<Match>>> Groups;
  for (const Match &M : Matches) {
    if (M.Alone || functionOf(M.Site) == M.Site)
      continue;
    std::string Name = M.Variant + "@" + functionOf(M.Site).str();
    auto At = llvm::find_if(Groups, [&](auto &G) { return G.first == Name; });
    if (At == Groups.end())
      Groups.push_back({Name, {M}});
    else
      At->second.push_back(M);
  }
  for (auto &[Name, Members] : Groups)
    if (Members.size() > 1)
      Matches.push_back(joined(Members));
}

/// Leaves in \p Found the matches that are the same change for \p Other, and
/// refuses the others.
static void keepCommon(Places &Found, const Facts &F, const Facts &Other,
                       const Rewrite &R) {
  Places There = R.prepare(Other);
  auto Same = [&](const Match &M) {
    return llvm::any_of(There.Matches, [&](const Match &Each) {
      if (Each.Site != M.Site || Each.Variant != M.Variant)
        return false;
      OrReason<Changes> One = R.apply(F, M), Two = R.apply(Other, Each);
      return One && Two && *One == *Two;
    });
  };
  std::vector<Match> Common;
  for (Match &M : Found.Matches) {
    if (Same(M)) {
      Common.push_back(std::move(M));
      continue;
    }
    auto Not = llvm::find_if(There.Refusals, [&](const Refusal &Each) {
      return Each.Site == M.Site;
    });
    Found.Refusals.push_back(
        {"", M.Site, M.Line,
         Not == There.Refusals.end() ? Reason(InstancesDiffer) : Not->Why});
  }
  Found.Matches = std::move(Common);
}

RewriteSet::RewriteSet(const RewriteInput &Input)
    : Hidden(std::make_unique<Impl>(Input)) {
  std::vector<Offer> Offers;
  for (const std::unique_ptr<const Rewrite> &R : rewriteCatalogue()) {
    Places Found = R->prepare(Hidden->Known);
    for (const std::unique_ptr<const Facts> &Other : Hidden->Others)
      keepCommon(Found, Hidden->Known, *Other, *R);
    addJoined(Found.Matches);
    for (Match &M : Found.Matches) {
      M.Rewrite = R->name().str();
      Offers.push_back({R.get(), std::move(M)});
    }
    for (Refusal &Not : Found.Refusals) {
      Not.Rewrite = R->name().str();
      Hidden->Refusals.push_back(std::move(Not));
    }
  }
  // What nobody can mend in the file says least.
  llvm::stable_sort(Hidden->Refusals, [](const Refusal &A, const Refusal &B) {
    return !A.Why.is(why::ByWorkload) && B.Why.is(why::ByWorkload);
  });
  llvm::stable_sort(Offers, [](const Offer &A, const Offer &B) {
    return A.Offered.Promise > B.Offered.Promise;
  });
  for (Offer &Each : Offers) {
    Hidden->Makers.push_back(Each.By);
    Hidden->Matches.push_back(std::move(Each.Offered));
  }
}

RewriteSet::~RewriteSet() = default;

const std::vector<Match> &RewriteSet::matches() const {
  return Hidden->Matches;
}

const std::vector<Refusal> &RewriteSet::refusals() const {
  return Hidden->Refusals;
}

/// The changes of \p M, at each of its places.
static OrReason<Changes> changesOf(const Facts &F, const Rewrite &R,
                                   const Match &M) {
  if (M.Places.empty())
    return R.apply(F, M);
  Changes Together;
  for (const std::string &Place : M.Places) {
    Match One = M;
    One.Site = Place;
    OrReason<Changes> Some = R.apply(F, One);
    if (!Some)
      return Some;
    Together.add(*Some);
  }
  return Together;
}

llvm::Expected<std::string> RewriteSet::apply(llvm::StringRef Key) const {
  const Facts &F = Hidden->Known;
  std::vector<std::string> Known;
  for (size_t I = 0; I < Hidden->Matches.size(); ++I) {
    Known.push_back(Hidden->Matches[I].key());
    if (Known.back() != Key)
      continue;
    OrReason<Changes> Made =
        changesOf(F, *Hidden->Makers[I], Hidden->Matches[I]);
    if (!Made)
      return failed(Made.why().str());
    return Made->applyTo(F.text(), F.In.Source->path());
  }
  for (const Refusal &Not : Hidden->Refusals)
    if (Key == Not.Rewrite + "@" + Not.Site)
      return failed("'" + Key + "' does not apply: " + Not.Why.str());
  return usageError("no rewrite '" + Key + "' applies" +
                    didYouMean(Key, Known));
}

std::string stark::describeRewrites(const RewriteInput &Input) {
  RewriteSet Set(Input);
  std::string Text;
  for (const Match &M : Set.matches())
    Text += "- `" + M.Site + "` (line " + std::to_string(M.Line) +
            "): " + M.Title + "\n";
  if (Text.empty())
    return Text;
  return "# Rewrites that would apply\n\nA mechanical check of the latest "
         "attempt found that these changes keep what it computes. They are "
         "hints, not orders:\n\n" +
         Text;
}
