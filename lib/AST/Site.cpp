//===- Site.cpp - Places in a source where a change could go -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Site.h"
#include "SiteDraft.h"
#include "stark/AST/Parse.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

namespace {
/// All that is known of a kind but for how its sites are found.
struct KindFacts {
  SiteKind Kind;
  llvm::StringLiteral Name;
  bool Function = false, Detail = false;
};
} // namespace

static constexpr KindFacts Kinds[] = {
    {SiteKind::Kernel, "kernel", /*Function=*/true},
    {SiteKind::Device, "device", /*Function=*/true},
    {SiteKind::Host, "host", /*Function=*/true},
    {SiteKind::Launch, "launch"},
    {SiteKind::Loop, "loop"},
    {SiteKind::Branch, "branch"},
    {SiteKind::Access, "access", false, /*Detail=*/true},
    {SiteKind::Declaration, "declaration"},
    {SiteKind::Barrier, "barrier"},
    {SiteKind::Statement, "statement", false, /*Detail=*/true},
};

static const KindFacts &factsOf(SiteKind Kind) {
  const KindFacts &Facts = Kinds[size_t(Kind)];
  assert(Facts.Kind == Kind && "kinds stand in the table in their order");
  return Facts;
}

llvm::StringRef stark::siteKindName(SiteKind Kind) {
  return factsOf(Kind).Name;
}
bool stark::isDetail(SiteKind Kind) { return factsOf(Kind).Detail; }

/// It is a function: its id is its name, and other ids begin with it.
static bool isFunction(SiteKind Kind) { return factsOf(Kind).Function; }

std::string Obstacle::str() const {
  switch (Kind) {
  case None:
    return "";
  case MacroExpansion:
    return Text.empty() ? "inside a macro expansion"
                        : "inside the expansion of macro " + Text;
  case MacroDefinition:
    return "in the definition of macro " + Text;
  case Skipped:
    return "in text that the preprocessor skips";
  case DeclarationOnly:
    return "a declaration only; the definition is elsewhere";
  case Instantiation:
    return "an explicit instantiation of its template";
  case Error:
    return "Clang reports an error in it, line " + std::to_string(Line) + ": " +
           Text;
  case Unread:
    if (Line)
      return "Clang could not read it: line " + std::to_string(Line) + ": " +
             Text;
    return Text.empty() ? "not part of any declaration that Clang knows"
                        : "Clang could not read it; its first error: " + Text;
  }
  return "";
}

const Site *Sites::find(llvm::StringRef Id) const {
  auto Found = llvm::find_if(All, [&](const Site &S) { return S.Id == Id; });
  return Found == All.end() ? nullptr : &*Found;
}

void Sites::print(llvm::raw_ostream &OS) const {
  for (const Site &S : All) {
    unsigned Depth = 0;
    for (int P = S.Parent; P >= 0; P = All[P].Parent)
      ++Depth;
    OS.indent(2 * Depth) << S.Id << ": " << siteKindName(S.Kind);
    if (!isFunction(S.Kind) && !S.Name.empty())
      OS << " of " << S.Name;
    OS << ", line " << S.Line;
    if (S.EndLine != S.Line)
      OS << "-" << S.EndLine;
    if (!S.Detail.empty())
      OS << ", " << S.Detail;
    if (!S.editable())
      OS << "; cannot be edited: " << S.Against.str();
    OS << "\n";
  }
}

std::string Sites::toJson(const ParsedSource &Source) const {
  ordered_json Root;
  Root["version"] = 1;
  Root["file"] = Source.path();
  ordered_json &List = Root["sites"] = ordered_json::array();
  for (const Site &S : All) {
    ordered_json J;
    J["id"] = S.Id;
    J["kind"] = siteKindName(S.Kind).str();
    J["name"] = S.Name;
    J["begin"] = S.Bytes.Begin;
    J["end"] = S.Bytes.End;
    J["line"] = S.Line;
    J["end_line"] = S.EndLine;
    J["parent"] =
        S.Parent < 0 ? ordered_json() : ordered_json(All[S.Parent].Id);
    J["editable"] = S.editable();
    if (!S.editable())
      J["reason"] = S.Against.str();
    if (!S.Detail.empty())
      J["detail"] = S.Detail;
    List.push_back(std::move(J));
  }
  ordered_json &Errors = Root["errors"] = ordered_json::array();
  for (const SourceError &E : Source.errors())
    Errors.push_back(
        {{"line", E.Line}, {"column", E.Column}, {"message", E.Message}});
  return Root.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Braces of a function's text pair up, so its range can be trusted whatever
/// Clang made of what lies inside.
static bool isBalanced(llvm::StringRef Text) {
  return Text.count('{') == Text.count('}') && Text.rtrim().ends_with("}");
}

/// A site with an error of Clang's in it is left alone.
static Obstacle errorWithin(const SiteDraft &D, const ParsedSource &Source) {
  for (const SourceError &E : Source.errors()) {
    if (!E.Line || E.Offset < D.Bytes.Begin || E.Offset >= D.Bytes.End)
      continue;
    if (isFunction(D.Kind) &&
        isBalanced(Source.text().slice(D.Bytes.Begin, D.Bytes.End)))
      return {};
    return {Obstacle::Error, E.Message, E.Line};
  }
  return {};
}

/// Outer before inner, in source order; each once.
static void sortDrafts(std::vector<SiteDraft> &All) {
  llvm::stable_sort(All, [](const SiteDraft &L, const SiteDraft &R) {
    if (L.Bytes.Begin != R.Bytes.Begin)
      return L.Bytes.Begin < R.Bytes.Begin;
    if (L.Bytes.End != R.Bytes.End)
      return L.Bytes.End > R.Bytes.End;
    return isFunction(L.Kind) && !isFunction(R.Kind);
  });
  // A macro that uses its argument twice makes two nodes of one text, a
  // template as many as it has instances; a statement that is a barrier has two
  // of each.
  std::vector<SiteDraft> Once;
  for (SiteDraft &D : All) {
    bool Known = false;
    for (size_t I = Once.size(); I-- > 0 && Once[I].Bytes == D.Bytes && !Known;)
      Known = Once[I].Kind == D.Kind && Once[I].Stem == D.Stem &&
              Once[I].Name == D.Name;
    if (!Known)
      Once.push_back(std::move(D));
  }
  All = std::move(Once);
}

Sites stark::findSites(const ParsedSource &Source) {
  TraceScope Traced("sites");
  SiteDrafts Drafts;
  draftFromAst(Source, Drafts);
  draftFromTokens(Source, Drafts);
  sortDrafts(Drafts.All);

  Sites Found;
  std::map<std::string, unsigned> Functions;
  std::map<std::pair<int, std::string>, unsigned> Counts;
  std::vector<int> Open; // sites that hold the place reached, outermost first
  for (SiteDraft &D : Drafts.All) {
    while (!Open.empty() && !Found.All[Open.back()].Bytes.contains(D.Bytes))
      Open.pop_back();
    int Function = -1;
    for (int I : Open)
      if (isFunction(Found.All[I].Kind))
        Function = I;
    Site S;
    S.Kind = D.Kind;
    S.Name = D.Name;
    S.Bytes = D.Bytes;
    S.Line = D.Line;
    S.EndLine = D.EndLine;
    S.Parent = Open.empty() ? -1 : Open.back();
    S.Detail = D.Detail;
    S.Against = D.Against ? D.Against : errorWithin(D, Source);
    if (isFunction(D.Kind)) {
      unsigned Count = ++Functions[D.Stem];
      S.Id = D.Stem + (Count > 1 ? "#" + std::to_string(Count) : "");
    } else {
      std::string Prefix =
          Function < 0 ? std::string("file") : Found.All[Function].Id;
      S.Id =
          Prefix + ":" + D.Stem + std::to_string(++Counts[{Function, D.Stem}]);
    }
    Found.All.push_back(std::move(S));
    Open.push_back(int(Found.All.size()) - 1);
  }
  return Found;
}
