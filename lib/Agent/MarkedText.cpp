//===- MarkedText.cpp - The anchors, and what others are at ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   base + anchors -> the marked text; of the source, which a request holds
/// already, the anchors' surroundings alone
///
//===----------------------------------------------------------------------===//

#include "TextForms.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// Lines around an anchor that are shown of the source once more, and of its
/// own text at either end.
static constexpr size_t LinesAround = 3, LinesOfAnchor = 8;

namespace {
/// A line of the marked text.
struct Line {
  llvm::StringRef Text;
  size_t Number = 0; ///< in the unmarked text
  bool IsMark = false, Shown = false;
};
} // namespace

static std::vector<Line> linesOf(llvm::StringRef Marked) {
  std::vector<Line> Lines;
  size_t Number = 0;
  while (!Marked.empty()) {
    auto [Text, Rest] = Marked.split('\n');
    Line L{Text, Number, Text.contains("<<<IMPROVE "), false};
    // A mark within a line leaves the line its number.
    bool Alone = L.IsMark && stripMarks(Text.str() + "\n").empty();
    L.Number = Alone ? Number : ++Number;
    Lines.push_back(L);
    Marked = Rest;
  }
  return Lines;
}

/// Marks as shown what lies around each mark line: a little of what is outside,
/// more of the anchor.
static void showAround(std::vector<Line> &Lines) {
  for (size_t I = 0; I < Lines.size(); ++I) {
    if (!Lines[I].IsMark)
      continue;
    Lines[I].Shown = true;
    bool Begins = Lines[I].Text.contains("<<<IMPROVE BEGIN>>>");
    bool Ends = Lines[I].Text.contains("<<<IMPROVE END>>>");
    size_t Before = Begins ? LinesAround : LinesOfAnchor;
    size_t After = Ends ? LinesAround : LinesOfAnchor;
    for (size_t J = I; J > 0 && Before > 0 && !Lines[J - 1].IsMark; --Before)
      Lines[--J].Shown = true;
    for (size_t J = I + 1; J < Lines.size() && After > 0 && !Lines[J].IsMark;
         ++J, --After)
      Lines[J].Shown = true;
  }
  // A gap that a line could fill is none.
  for (size_t I = 1; I + 1 < Lines.size(); ++I)
    if (Lines[I - 1].Shown && Lines[I + 1].Shown)
      Lines[I].Shown = true;
}

static std::string excerpt(const std::vector<Line> &Lines) {
  std::string Out;
  for (size_t I = 0; I < Lines.size();) {
    if (Lines[I].Shown) {
      Out += (Lines[I++].Text + "\n").str();
      continue;
    }
    size_t End = I;
    while (End < Lines.size() && !Lines[End].Shown)
      ++End;
    Out += "[lines " + std::to_string(Lines[I].Number) + " to " +
           std::to_string(Lines[End - 1].Number) + " " + AsAbove.str() + "\n";
    I = End;
  }
  return Out;
}

std::string stark::describeMarked(const AgentInput &In) {
  std::string Base = cleanText(In.Base->text());
  std::string Marked =
      cleanText(markAnchors(In.Base->text(), In.Given->Anchors));
  std::string Source = cleanText(In.Of->SourceText);
  if (Base != Source)
    return fenced("cuda", withoutSharedHead(Marked, Source));
  std::vector<Line> Lines = linesOf(Marked);
  showAround(Lines);
  size_t Shown = llvm::count_if(Lines, [](const Line &L) { return L.Shown; });
  if (Shown * 4 >= Lines.size() * 3)
    return fenced("cuda", Marked);
  return "It is the source as it stands above. Here are its anchors with the "
         "lines around them; a line in brackets stands for lines that are as "
         "above, and does not belong into an answer:\n\n" +
         fenced("cuda", excerpt(Lines));
}

std::string stark::describeBeside(const AgentInput &In) {
  if (In.Beside.empty())
    return "";
  unsigned Unknown = 0;
  std::string Out = "# Others at work\n\nOther planners are asked at the same "
                    "time, and none sees what the others answer. Their plans, "
                    "as far as they are known:\n\n";
  // Those in flight have no number yet: attempts that were judged have.
  for (const PlanInFlight &P : In.Beside) {
    Out += "- for " +
           (P.Node ? "attempt " + std::to_string(P.Node)
                   : std::string("the source")) +
           ": " + (P.Title.empty() ? "not known yet" : cleanText(P.Title)) +
           "\n";
    Unknown += P.Title.empty() && P.Node == In.Selected->Node;
  }
  Out += "\nPropose a change that differs in kind from these.";
  if (Unknown)
    Out += " Of those that are not known, " + std::to_string(Unknown) +
           " began from the same text as you, and may take what comes to mind "
           "first. Rank the changes of different kinds that you see. Where the "
           "first " +
           std::to_string(Unknown + 1) +
           " promise about as much, take the last of these; where one promises "
           "far more than the others, take it all the same, in a form that "
           "others will hardly choose.";
  return Out + "\n\n";
}
