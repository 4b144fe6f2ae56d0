//===- Site.cpp - Places in a source where a change could go -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Site.h"
#include "SiteDraft.h"
#include "stark/AST/Parse.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

llvm::StringRef stark::siteKindName(SiteKind Kind) {
  switch (Kind) {
  case SiteKind::Kernel:
    return "kernel";
  case SiteKind::Device:
    return "device";
  case SiteKind::Host:
    return "host";
  case SiteKind::Launch:
    return "launch";
  case SiteKind::Loop:
    return "loop";
  case SiteKind::Branch:
    return "branch";
  case SiteKind::Access:
    return "access";
  case SiteKind::Declaration:
    return "declaration";
  case SiteKind::Barrier:
    return "barrier";
  case SiteKind::Statement:
    return "statement";
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
    if (S.Kind == SiteKind::Launch && !S.Name.empty())
      OS << " of " << S.Name;
    else if (S.Kind > SiteKind::Launch && !S.Name.empty())
      OS << " of " << S.Name;
    OS << ", line " << S.Line;
    if (S.EndLine != S.Line)
      OS << "-" << S.EndLine;
    if (!S.Detail.empty())
      OS << ", " << S.Detail;
    if (!S.Editable)
      OS << "; cannot be edited: " << S.Reason;
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
    J["editable"] = S.Editable;
    if (!S.Editable)
      J["reason"] = S.Reason;
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

/// Why a site with an error of Clang's in it is left alone, or "".
static std::string errorWithin(const SiteDraft &D, const ParsedSource &Source) {
  for (const SourceError &E : Source.errors()) {
    if (!E.Line || E.Offset < D.Bytes.Begin || E.Offset >= D.Bytes.End)
      continue;
    if (D.isFunction() &&
        isBalanced(Source.text().slice(D.Bytes.Begin, D.Bytes.End)))
      return "";
    return "Clang reports an error in it, line " + std::to_string(E.Line) +
           ": " + E.Message;
  }
  return "";
}

/// Outer before inner, in source order; each once.
static void sortDrafts(std::vector<SiteDraft> &All) {
  llvm::stable_sort(All, [](const SiteDraft &L, const SiteDraft &R) {
    if (L.Bytes.Begin != R.Bytes.Begin)
      return L.Bytes.Begin < R.Bytes.Begin;
    if (L.Bytes.End != R.Bytes.End)
      return L.Bytes.End > R.Bytes.End;
    return L.isFunction() && !R.isFunction();
  });
  // A macro that uses its argument twice makes two nodes of one text.
  All.erase(std::unique(All.begin(), All.end(),
                        [](const SiteDraft &L, const SiteDraft &R) {
                          return L.Kind == R.Kind && L.Bytes == R.Bytes &&
                                 L.Stem == R.Stem && L.Name == R.Name;
                        }),
            All.end());
}

Sites stark::findSites(const ParsedSource &Source) {
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
      if (Found.All[I].Kind <= SiteKind::Host)
        Function = I;
    Site S;
    S.Kind = D.Kind;
    S.Name = D.Name;
    S.Bytes = D.Bytes;
    S.Line = D.Line;
    S.EndLine = D.EndLine;
    S.Parent = Open.empty() ? -1 : Open.back();
    S.Detail = D.Detail;
    S.Reason = D.Reason.empty() ? errorWithin(D, Source) : D.Reason;
    S.Editable = S.Reason.empty();
    if (D.isFunction()) {
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
