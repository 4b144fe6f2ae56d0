//===- Progress.cpp - A search as it goes on, a line a step ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Progress.h"
#include "Figures.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

static std::string ofAttempt(unsigned Attempt) {
  return "attempt " + std::to_string(Attempt) + ": ";
}

/// "root, 2 siblings": how the nodes shown are related to the selected one.
static std::string describeShown(const Tree &T, unsigned Selected,
                                 const ShownTo &Shown) {
  unsigned Children = 0, Siblings = 0, Cousins = 0, Others = 0;
  std::vector<unsigned> Beside = T.siblings(Selected);
  bool Plans =
      Shown.Role == WindowRole::Plan || Shown.Role == WindowRole::Single;
  for (unsigned N : Shown.Nodes) {
    if (N == 0 || N == Selected)
      continue;
    if (T.node(N).Parent == int(Selected))
      ++Children;
    else if (Shown.Role != WindowRole::Plan && llvm::is_contained(Beside, N))
      ++Siblings;
    else if (Plans)
      ++Others;
    else
      ++Cousins;
  }
  std::string Text = "root";
  auto Say = [&](unsigned Count, const char *One, const char *Many) {
    if (Count)
      Text += ", " + std::to_string(Count) + " " + (Count == 1 ? One : Many);
  };
  Say(Children, "child", "children");
  Say(Siblings, "sibling", "siblings");
  Say(Cousins, "child of siblings", "children of siblings");
  Say(Others, "leader", "leaders");
  return Text;
}

std::string stark::selectionLine(unsigned Attempt, const Selection &S,
                                 const Tree &T,
                                 const std::vector<ShownTo> &Shown) {
  std::string Line = ofAttempt(Attempt) + "node " + std::to_string(S.Node) +
                     " (" + S.Reason + ")";
  if (!Shown.empty())
    Line += "; shown";
  for (const ShownTo &Part : Shown)
    Line += std::string(&Part == &Shown.front() ? " to " : "; to ") +
            nameOf(Part.Role) + ": " + describeShown(T, S.Node, Part);
  return Line;
}

std::string stark::stepLine(unsigned Attempt, const SearchStep &Step) {
  std::string Node = "node " + std::to_string(Step.Node);
  switch (Step.Does) {
  case SearchStep::Kind::Ask:
    return ofAttempt(Attempt) + "asking for " + Step.Request;
  case SearchStep::Kind::Judge:
    return ofAttempt(Attempt) + "judging " + Node;
  case SearchStep::Kind::Profile:
    return ofAttempt(Attempt) + "profiling " + Node;
  case SearchStep::Kind::Queue:
    return ofAttempt(Attempt) + "waiting for the judge";
  case SearchStep::Kind::Confirm:
    break;
  }
  return "confirming " + Node;
}

std::string stark::whyNot(const Verdict &V) {
  static constexpr size_t MostColumns = 100;
  if (V.correct())
    return "";
  // What a run says, it says of a candidate that compiled.
  for (llvm::StringRef Text :
       {llvm::StringRef(V.Run), llvm::StringRef(V.Compiler)})
    if (llvm::StringRef Line = Text.ltrim().split('\n').first.rtrim();
        !Line.empty())
      return fitLine(visibleLine(Line), MostColumns);
  return "";
}

std::string stark::nodeLine(unsigned Attempt, const Node &N, bool Recorded) {
  std::string Line = ofAttempt(Attempt) + verdictName(N.Found.Kind).str();
  if (N.Found.correct() && !N.Found.Timings.empty())
    Line += ", " + fixed(N.scoreUs(), 2) + " us, " +
            fixed(N.Found.speedup(), 3) + " times the source's speed";
  constexpr size_t MostOfTitle = 80; // columns
  if (!N.Given.Title.empty())
    Line += " [" + fitLine(visibleLine(N.Given.Title), MostOfTitle) + "]";
  if (std::string Why = whyNot(N.Found); !Why.empty())
    Line += ": " + Why;
  return Line + (Recorded ? " (from the journal)" : "");
}
