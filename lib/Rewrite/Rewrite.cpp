//===- Rewrite.cpp - Changes that need no model ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Rewrite/Rewrite.h"
#include "Catalogue.h"
#include "Facts.h"
#include "stark/Support/Error.h"
#include "stark/Support/Nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace stark;

std::string Match::key() const {
  return Rewrite + (Variant.empty() ? "" : "=" + Variant) + "@" + Site;
}

void Findings::offer(Match M, MakeEdits Make) {
  Matches.push_back(std::move(M));
  Makers.push_back(std::move(Make));
}

void Findings::offer(Match M, std::vector<Edit> Edits) {
  offer(std::move(M),
        MakeEdits([Edits = std::move(Edits)]()
                      -> llvm::Expected<std::vector<Edit>> { return Edits; }));
}

void Findings::refuse(llvm::StringRef Site, unsigned Line,
                      const llvm::Twine &Reason) {
  Refusals.push_back({"", Site.str(), Line, Reason.str()});
}

const std::vector<std::unique_ptr<const Rewrite>> &stark::rewriteCatalogue() {
  static const auto All = [] {
    std::vector<std::unique_ptr<const Rewrite>> List;
    List.push_back(makeMatmulTiling());
    List.push_back(makeVectorAccess());
    List.push_back(makeFuseKernels());
    List.push_back(makeBlockReduce());
    List.push_back(makeBlockSize());
    List.push_back(makeRestrict());
    List.push_back(makeIndexSwap());
    List.push_back(makeLoopInterchange());
    List.push_back(makeSharedPadding());
    List.push_back(makeGridStride());
    List.push_back(makeHoistLoads());
    List.push_back(makeFastMath());
    List.push_back(makeReadOnly());
    List.push_back(makeLaunchBounds());
    List.push_back(makeUnroll());
    return List;
  }();
  return All;
}

struct RewriteSet::Impl {
  explicit Impl(const RewriteInput &In) : Known(In) {}
  Facts Known;
  std::vector<Match> Matches;
  std::vector<Findings::MakeEdits> Makers;
  std::vector<Refusal> Refusals;
};

static llvm::StringRef functionOf(llvm::StringRef Site) {
  // Ids of nested sites are FUNCTION:KINDn; a function may be qualified.
  size_t Colon = Site.rfind(':');
  if (Colon == llvm::StringRef::npos || Colon == 0 || Site[Colon - 1] == ':')
    return Site;
  return Site.take_front(Colon);
}

/// One match that makes the changes of several, for a search whose attempts
/// are few.
static void addJoined(Findings &Found) {
  std::vector<std::pair<std::string, std::vector<size_t>>> Groups;
  for (size_t I = 0; I < Found.Matches.size(); ++I) {
    const Match &M = Found.Matches[I];
    if (M.Alone || functionOf(M.Site) == M.Site)
      continue;
    std::string Name = M.Variant + "@" + functionOf(M.Site).str();
    auto At = llvm::find_if(Groups, [&](auto &G) { return G.first == Name; });
    if (At == Groups.end())
      Groups.push_back({Name, {I}});
    else
      At->second.push_back(I);
  }
  for (auto &[Name, Members] : Groups) {
    if (Members.size() < 2)
      continue;
    Match All = Found.Matches[Members.front()];
    All.Site = functionOf(All.Site).str();
    All.Sites = {All.Site};
    All.Promise = std::min(All.Promise + 5, 100u);
    All.Title += " (" + std::to_string(Members.size()) + " places)";
    All.Advice += "\n\nAt all of these places:";
    std::vector<Findings::MakeEdits> Makers;
    for (size_t I : Members) {
      All.Advice += " `" + Found.Matches[I].Site + "`";
      Makers.push_back(Found.Makers[I]);
      for (const std::string &Site : Found.Matches[I].Sites)
        if (!llvm::is_contained(All.Sites, Site) &&
            functionOf(Site) != All.Site)
          All.Sites.push_back(Site);
    }
    All.Advice += ".";
    Found.offer(All, [Makers]() -> llvm::Expected<std::vector<Edit>> {
      std::vector<Edit> Together;
      for (const Findings::MakeEdits &Make : Makers) {
        llvm::Expected<std::vector<Edit>> Some = Make();
        if (!Some)
          return Some.takeError();
        for (Edit &E : *Some)
          if (!llvm::is_contained(Together, E))
            Together.push_back(std::move(E));
      }
      return Together;
    });
  }
}

RewriteSet::RewriteSet(const RewriteInput &Input)
    : Hidden(std::make_unique<Impl>(Input)) {
  for (const std::unique_ptr<const Rewrite> &R : rewriteCatalogue()) {
    Findings Found;
    R->prepare(Hidden->Known, Found);
    addJoined(Found);
    for (size_t I = 0; I < Found.Matches.size(); ++I) {
      Found.Matches[I].Rewrite = R->name().str();
      Hidden->Matches.push_back(std::move(Found.Matches[I]));
      Hidden->Makers.push_back(std::move(Found.Makers[I]));
    }
    for (Refusal &Not : Found.Refusals) {
      Not.Rewrite = R->name().str();
      Hidden->Refusals.push_back(std::move(Not));
    }
  }
  std::vector<size_t> Order(Hidden->Matches.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  std::stable_sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
    return Hidden->Matches[A].Promise > Hidden->Matches[B].Promise;
  });
  std::vector<Match> Matches;
  std::vector<Findings::MakeEdits> Makers;
  for (size_t I : Order) {
    Matches.push_back(std::move(Hidden->Matches[I]));
    Makers.push_back(std::move(Hidden->Makers[I]));
  }
  Hidden->Matches = std::move(Matches);
  Hidden->Makers = std::move(Makers);
}

RewriteSet::~RewriteSet() = default;

const std::vector<Match> &RewriteSet::matches() const {
  return Hidden->Matches;
}

const std::vector<Refusal> &RewriteSet::refusals() const {
  return Hidden->Refusals;
}

llvm::Expected<std::string> RewriteSet::apply(llvm::StringRef Key) const {
  std::vector<std::string> Known;
  for (size_t I = 0; I < Hidden->Matches.size(); ++I) {
    Known.push_back(Hidden->Matches[I].key());
    if (Known.back() != Key)
      continue;
    llvm::Expected<std::vector<Edit>> Edits = Hidden->Makers[I]();
    if (!Edits)
      return Edits.takeError();
    return applyEdits(Hidden->Known.text(), std::move(*Edits));
  }
  for (const Refusal &Not : Hidden->Refusals)
    if (Key == Not.Rewrite + "@" + Not.Site)
      return failed("'" + Key + "' does not apply: " + Not.Reason);
  return usageError("no rewrite '" + Key + "' applies" +
                    didYouMean(Key, Known));
}

llvm::Expected<std::string> stark::applyEdits(llvm::StringRef Text,
                                              std::vector<Edit> Edits) {
  std::stable_sort(Edits.begin(), Edits.end(),
                   [](const Edit &A, const Edit &B) {
                     return A.Bytes.Begin < B.Bytes.Begin;
                   });
  bool CrLf = Text.count("\r\n") * 2 > Text.count('\n');
  std::string Out;
  size_t At = 0;
  for (const Edit &E : Edits) {
    if (E.Bytes.Begin < At || E.Bytes.End < E.Bytes.Begin ||
        E.Bytes.End > Text.size())
      return failed("two changes of the rewrite overlap");
    Out += Text.slice(At, E.Bytes.Begin);
    for (size_t I = 0; I < E.Text.size(); ++I) {
      // What was copied from the text has its line ends already.
      if (CrLf && E.Text[I] == '\n' && (I == 0 || E.Text[I - 1] != '\r'))
        Out += '\r';
      Out += E.Text[I];
    }
    At = E.Bytes.End;
  }
  Out += Text.drop_front(At);
  return Out;
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
