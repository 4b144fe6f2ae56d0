//===- SourceText.cpp - The source, kernels and launches first ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   task -> its source, in the order in which somebody reads it
/// What is extracted of headers has a library's helpers before the kernel that
/// uses them, often ten times as long. Each line is shown once; who answers
/// with the whole file is told the file's order.
///
//===----------------------------------------------------------------------===//

#include "CandidateText.h"
#include "TextForms.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"

using namespace stark;

/// Lines before the first kernel that are not in the way, and lines between two
/// parts that are shown with them.
static constexpr unsigned MostBefore = 80, LinesBetween = 6;

namespace {
struct Lines {
  size_t First = 0, Last = 0; ///< 1-based, both included
};
} // namespace

/// Kernels, and host functions that launch them or are the entry.
static std::vector<Lines> findFirst(const Task &Of, const Sites &All) {
  std::vector<bool> Launches(All.All.size());
  for (const Site &S : All.All)
    if (S.Kind == SiteKind::Launch)
      for (int P = S.Parent; P >= 0; P = All.All[size_t(P)].Parent)
        Launches[size_t(P)] = true;
  std::vector<Lines> Found;
  for (size_t I = 0; I < All.All.size(); ++I) {
    const Site &S = All.All[I];
    bool Host = S.Kind == SiteKind::Host &&
                (Launches[I] || S.Id == plainName(Of.Load.Entry));
    if (S.Kind != SiteKind::Kernel && !Host)
      continue;
    if (!Found.empty() && S.Line <= Found.back().Last + LinesBetween)
      Found.back().Last = std::max<size_t>(Found.back().Last, S.EndLine);
    else
      Found.push_back({S.Line, S.EndLine});
  }
  return Found;
}

/// The lines of \p All for which \p Parts says \p Inside; a line in brackets
/// for the rest.
static std::string partOf(llvm::ArrayRef<llvm::StringRef> All,
                          llvm::ArrayRef<Lines> Parts, bool Inside,
                          llvm::StringRef Rest) {
  auto IsIn = [&](size_t Line) {
    return llvm::any_of(Parts, [&](const Lines &P) {
             return P.First <= Line && Line <= P.Last;
           }) == Inside;
  };
  std::string Out;
  for (size_t Line = 1; Line <= All.size();) {
    if (IsIn(Line)) {
      Out += (All[Line++ - 1] + "\n").str();
      continue;
    }
    size_t End = Line;
    while (End <= All.size() && !IsIn(End))
      ++End;
    Out += "[lines " + std::to_string(Line) + " to " + std::to_string(End - 1) +
           " " + Rest.str() + "\n";
    Line = End;
  }
  return Out;
}

std::string stark::describeSource(const Task &Of) {
  std::vector<Lines> First;
  if (Of.Parsed)
    First = findFirst(Of, findSites(*Of.Parsed));
  if (First.empty() || First.front().First <= MostBefore)
    return fenced("cuda", Of.SourceText);
  std::string Text = cleanText(Of.SourceText);
  llvm::SmallVector<llvm::StringRef> All;
  llvm::StringRef(Text).split(All, '\n');
  if (All.back().empty())
    All.pop_back();
  return "Its kernels and what launches them are shown first. Each line is "
         "shown "
         "once; one in brackets stands for lines that are shown elsewhere, and "
         "belongs into no answer. An answer with the whole file has its lines "
         "in "
         "the order of their numbers.\n\n" +
         fenced("cuda", partOf(All, First, /*Inside=*/true, StandBelow)) +
         "\nThe rest of the file:\n\n" +
         fenced("cuda", partOf(All, First, /*Inside=*/false, StandAbove));
}

std::string stark::withoutSharedHead(llvm::StringRef Text,
                                     llvm::StringRef Source) {
  size_t Shared = 0;
  llvm::StringRef Rest = Text;
  while (!Rest.empty()) {
    auto [Line, After] = Rest.split('\n');
    auto [SourceLine, SourceAfter] = Source.split('\n');
    if (Source.empty() || Line != SourceLine)
      break;
    ++Shared;
    Rest = After;
    Source = SourceAfter;
  }
  if (Shared <= MostBefore)
    return Text.str();
  // A little of it says where one is.
  Shared -= LinesBetween;
  Rest = Text;
  for (size_t I = 0; I < Shared; ++I)
    Rest = Rest.split('\n').second;
  return "[lines 1 to " + std::to_string(Shared) + " " + AsAbove.str() + "\n" +
         Rest.str();
}
