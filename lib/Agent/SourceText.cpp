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
/// with the whole file is told the file's order. Of many specializations of a
/// class template one is shown, and the others to those who write code.
///
//===----------------------------------------------------------------------===//

#include "CandidateText.h"
#include "TextForms.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"
#include "stark/AST/Specializations.h"

using namespace stark;

/// Lines before the first kernel that are not in the way, and lines between two
/// parts that are shown with them.
static constexpr unsigned MostBefore = 80, LinesBetween = 6;
/// Lines that are left out at least, if any are.
static constexpr unsigned FewestLeftOut = 20;

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
                          llvm::StringRef Rest,
                          llvm::ArrayRef<RepeatedLines> LeftOut = {}) {
  auto IsIn = [&](size_t Line) {
    return llvm::any_of(Parts, [&](const Lines &P) {
             return P.First <= Line && Line <= P.Last;
           }) == Inside;
  };
  auto Bracket = [](size_t First, size_t Last, llvm::StringRef What) {
    return ("[lines " + llvm::Twine(First) + " to " + llvm::Twine(Last) + " " +
            What + "\n")
        .str();
  };
  std::string Out;
  for (size_t Line = 1; Line <= All.size();) {
    if (!LeftOut.empty() && LeftOut.front().First == Line) {
      const RepeatedLines &L = LeftOut.front();
      Out += Bracket(L.First, L.Last,
                     "are further specializations of " + L.Template + ", " +
                         LikeShown.str());
      Line = L.Last + 1;
      LeftOut = LeftOut.drop_front();
      continue;
    }
    if (IsIn(Line)) {
      Out += (All[Line++ - 1] + "\n").str();
      continue;
    }
    size_t End = Line;
    while (End <= All.size() && !IsIn(End))
      ++End;
    Out += Bracket(Line, End - 1, Rest);
    Line = End;
  }
  return Out;
}

/// What of the rest is left out: not worth it where it is little.
static std::vector<RepeatedLines> leftOutOf(const ParsedSource &Source,
                                            llvm::ArrayRef<Lines> First) {
  std::vector<RepeatedLines> LeftOut = findRepeatedLines(Source);
  llvm::erase_if(LeftOut, [&](const RepeatedLines &L) {
    return llvm::any_of(First, [&](const Lines &P) {
      return P.First <= L.Last && L.First <= P.Last;
    });
  });
  unsigned Sum = 0;
  for (const RepeatedLines &L : LeftOut)
    Sum += L.Last - L.First + 1;
  if (Sum < FewestLeftOut)
    LeftOut.clear();
  return LeftOut;
}

/// The lines of \p All that are left out.
static std::string describeLeftOut(llvm::ArrayRef<llvm::StringRef> All,
                                   llvm::ArrayRef<RepeatedLines> LeftOut) {
  std::string Text;
  for (const RepeatedLines &L : LeftOut) {
    std::string Part;
    for (size_t Line = L.First; Line <= L.Last; ++Line)
      Part += (All[Line - 1] + "\n").str();
    Text += (Text.empty() ? "Lines " : "\nLines ") + std::to_string(L.First) +
            " to " + std::to_string(L.Last) + ":\n\n" + fenced("cuda", Part);
  }
  return Text.empty() ? ""
                      : "# Lines of the source that are left out above\n\n" +
                            Text + "\n";
}

SourceDescription stark::describeSource(const Task &Of) {
  std::vector<Lines> First;
  if (Of.Parsed)
    First = findFirst(Of, findSites(*Of.Parsed));
  if (First.empty() || First.front().First <= MostBefore)
    return {fenced("cuda", Of.SourceText), ""};
  std::string Text = cleanText(Of.SourceText);
  llvm::SmallVector<llvm::StringRef> All;
  llvm::StringRef(Text).split(All, '\n');
  if (All.back().empty())
    All.pop_back();
  std::vector<RepeatedLines> LeftOut = leftOutOf(*Of.Parsed, First);
  return {"Its kernels and what launches them are shown first. Each line is "
          "shown once; one in brackets stands for lines that are shown "
          "elsewhere" +
              std::string(LeftOut.empty() ? "" : " or are like others") +
              ", and belongs into no answer. An answer with the whole file has "
              "its lines in the order of their numbers.\n\n" +
              fenced("cuda", partOf(All, First, /*Inside=*/true, StandBelow)) +
              "\nThe rest of the file:\n\n" +
              fenced("cuda",
                     partOf(All, First, /*Inside=*/false, StandAbove, LeftOut)),
          describeLeftOut(All, LeftOut)};
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
