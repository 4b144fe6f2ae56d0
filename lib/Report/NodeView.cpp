//===- NodeView.cpp - A run's tree, its nodes and what they changed -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/NodeView.h"
#include "Figures.h"
#include "stark/Agent/Quote.h"
#include "stark/Report/Progress.h"
#include "stark/Report/Table.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

llvm::Expected<unsigned> stark::findNode(const RecordedRun &Run,
                                         llvm::StringRef Name) {
  size_t Count = Run.Nodes.size();
  if (Count == 0)
    return usageError("the run has no node yet");
  Figures F = countFigures(Run);
  int Found = -1;
  unsigned Number = 0;
  if (Name == "source")
    Found = 0;
  else if (Name == "winner")
    Found = F.Winner;
  else if (Name == "best")
    Found = F.Best;
  else if (!Name.getAsInteger(10, Number) && Number < Count)
    Found = int(Number);
  if (Found >= 0)
    return unsigned(Found);
  if (Name == "winner" || Name == "best")
    return usageError("the run has no " + Name + ": " + describeEnd(Run, F));
  return usageError("got node '" + visibleLine(Name) + "', wanted 0 to " +
                    llvm::Twine(Count - 1) + ", source, best or winner");
}

/// The attempt that \p Number came of; null for the source.
static const RecordedAttempt *attemptBehind(const RecordedRun &Run,
                                            unsigned Number) {
  for (const RecordedAttempt &A : Run.Attempts)
    if (A.Node == Number)
      return &A;
  return nullptr;
}

/// "plan", "debug", "single"; "source" of node 0.
static llvm::StringRef madeBy(const RecordedRun &Run, const Node &N) {
  if (N.Number == 0)
    return "source";
  if (N.FromDebug)
    return "debug";
  return Run.Identity.Options.Agents == AgentsKind::Single ? "single" : "plan";
}

static std::string speedText(const Verdict &V) {
  if (!V.correct() || V.Timings.empty())
    return "";
  return fixed(V.scoreUs(), 2) + " us, " + fixed(V.speedup(), 3) + " (" +
         fixed(V.speedupLow(), 3) + " to " + fixed(V.speedupHigh(), 3) + ")";
}

namespace {
struct TreePrinter {
  const RecordedRun &Run;
  const Figures F;
  const bool Explain;
  llvm::raw_ostream &OS;

  void print(unsigned Number, const std::string &Lead,
             const std::string &Below);
};
} // namespace

/// \p Lead: before the node's line; \p Below: before those under it.
void TreePrinter::print(unsigned Number, const std::string &Lead,
                        const std::string &Below) {
  const Node &N = Run.Nodes.node(Number);
  OS << Lead << Number << " " << madeBy(Run, N) << ": "
     << verdictName(N.Found.Kind);
  if (std::string Speed = speedText(N.Found); Number && !Speed.empty())
    OS << ", " << Speed;
  else if (!Speed.empty())
    OS << ", " << fixed(N.scoreUs(), 2) << " us";
  if (N.SameAs >= 0)
    OS << ", the same tokens as " << N.SameAs;
  if (!N.Given.Title.empty())
    OS << " [" << visibleLine(N.Given.Title) << "]";
  if (int(Number) == F.Winner)
    OS << " <- winner";
  OS << "\n";
  const RecordedAttempt *A = attemptBehind(Run, Number);
  std::string Under = Below + (N.Children.empty() ? "   " : "|  ");
  if (Explain && A && A->Select) {
    OS << Under
       << selectionLine(A->Select->Attempt, A->Select->Chosen, Run.Nodes,
                        A->Select->Shown)
       << "\n";
    if (std::string Why = whyNot(N.Found); !Why.empty())
      OS << Under << Why << "\n";
  }
  for (unsigned Child : N.Children) {
    bool Last = Child == N.Children.back();
    print(Child, Below + (Last ? "`- " : "|- "),
          Below + (Last ? "   " : "|  "));
  }
}

void stark::printTree(const RecordedRun &Run, bool Explain,
                      llvm::raw_ostream &OS) {
  Figures F = countFigures(Run);
  if (Run.Nodes.size())
    TreePrinter{Run, F, Explain, OS}.print(0, "", "");
  OS << describeEnd(Run, F) << "\n";
}

static void printIndented(llvm::StringRef Heading, llvm::StringRef Text,
                          llvm::raw_ostream &OS) {
  if (Text.trim().empty())
    return;
  OS << Heading << ":\n";
  std::string Visible = visibleText(Text.rtrim());
  for (llvm::StringRef Rest = Visible; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    OS << llvm::StringRef("  " + Line.str()).rtrim() << "\n";
  }
}

static void printAnchors(const RecordedRun &Run, const Node &N,
                         llvm::raw_ostream &OS) {
  if (N.Given.Anchors.empty())
    return;
  // What it is anchored in may be another candidate.
  const std::string &Base = Run.Nodes.node(unsigned(N.Base)).Text;
  OS << "anchors, in node " << N.Base << ":\n";
  for (const Anchor &A : N.Given.Anchors) {
    OS << "  lines " << A.Line << " to " << A.EndLine;
    if (!A.SiteIds.empty())
      OS << " (" << visibleLine(llvm::join(A.SiteIds, ", ")) << ")";
    OS << "\n";
    if (A.Bytes.Begin <= A.Bytes.End && A.Bytes.End <= Base.size())
      printIndented(
          "   ", llvm::StringRef(Base).slice(A.Bytes.Begin, A.Bytes.End), OS);
  }
}

static void printTimes(const Verdict &V, llvm::raw_ostream &OS) {
  if (!V.correct() || V.Timings.empty())
    return;
  Table Rows({"size", "source us", "us", "samples", "speed-up", "95 %"},
             {1, 2, 3, 4});
  for (const job::Timing &T : V.Timings)
    Rows.add({T.Label, fixed(T.SourceMedianUs, 2), fixed(T.MedianUs, 2),
              std::to_string(T.Samples), fixed(T.Speedup, 3),
              fixed(T.SpeedupLow, 3) + " to " + fixed(T.SpeedupHigh, 3)});
  OS << "medians, " << visibleLine(howTaken(V)) << ":\n";
  Rows.print(/*Markdown=*/false, OS);
}

static void printReplies(const RecordedAttempt &A, llvm::raw_ostream &OS) {
  if (A.Replies.empty())
    return;
  Table Rows({"reply", "model", "tokens in", "out", "seconds", "file"},
             {2, 3, 4});
  for (const ReplyEvent &R : A.Replies) {
    auto Count = [](std::optional<uint64_t> N) {
      return N ? std::to_string(*N) : std::string("-");
    };
    Rows.add({R.Id, R.Reply.Model, Count(R.Reply.Tokens.Input),
              Count(R.Reply.Tokens.Output),
              fixed(double(R.Reply.WallMs) / 1000, 1), R.File});
  }
  OS << "replies:\n";
  Rows.print(/*Markdown=*/false, OS);
}

void stark::printNode(const RecordedRun &Run, unsigned Number,
                      llvm::raw_ostream &OS) {
  const Node &N = Run.Nodes.node(Number);
  Figures F = countFigures(Run);
  OS << "node " << Number << ", " << madeBy(Run, N);
  if (N.Parent >= 0)
    OS << " of node " << N.Parent;
  if (int(Number) == F.Winner)
    OS << ", the winner";
  OS << "\n";
  const RecordedAttempt *A = attemptBehind(Run, Number);
  if (A && A->Select)
    OS << selectionLine(A->Select->Attempt, A->Select->Chosen, Run.Nodes,
                        A->Select->Shown)
       << "\n";
  if (!N.Given.Title.empty())
    OS << "instruction: " << visibleLine(N.Given.Title) << "\n";
  printIndented("advice", N.Given.Advice, OS);
  printAnchors(Run, N, OS);
  OS << "verdict: " << verdictName(N.Found.Kind);
  if (N.SameAs >= 0)
    OS << ", the same tokens as node " << N.SameAs;
  if (std::string Speed = speedText(N.Found); !Speed.empty())
    OS << ", " << Speed;
  OS << "\n";
  printTimes(N.Found, OS);
  printIndented("compiler", N.Found.Compiler, OS);
  printIndented("run", N.Found.Run, OS);
  if (int(Number) == F.Winner && F.Confirmed)
    printIndented("confirmation", F.WinnerFound->Run, OS);
  if (A)
    printReplies(*A, OS);
  if (!N.Text.empty())
    OS << "text: " << candidateFile(Number) << "\n";
}

/// All of one text for all of another: what is no shorter as a diff.
static std::string wholeDiff(llvm::StringRef Old, llvm::StringRef New) {
  std::string Body;
  auto Add = [&](char Kind, llvm::StringRef Text) {
    size_t Lines = 0;
    for (; !Text.empty(); ++Lines) {
      auto [Line, Rest] = Text.split('\n');
      Body += Kind + Line.str() + "\n";
      Text = Rest;
    }
    return std::to_string(Lines);
  };
  std::string Removed = Add('-', Old), Added = Add('+', New);
  return "@@ -1," + Removed + " +1," + Added + " @@\n" + Body;
}

llvm::Expected<std::string> stark::nodeDiff(const RecordedRun &Run,
                                            unsigned From, unsigned Number) {
  const std::string &Old = Run.Nodes.node(From).Text,
                    &New = Run.Nodes.node(Number).Text;
  for (unsigned N : {From, Number})
    if (Run.Nodes.node(N).Text.empty())
      return usageError("node " + llvm::Twine(N) + " has no candidate");
  if (Old == New)
    return std::string();
  std::string File = visibleLine(Run.Identity.TaskName) + ".cu";
  std::string Text = "--- a/" + File + "\tnode " + std::to_string(From) +
                     "\n+++ b/" + File + "\tnode " + std::to_string(Number) +
                     "\n";
  std::optional<std::string> Hunks = unifiedDiff(Old, New);
  return Text + (Hunks ? *Hunks : wholeDiff(Old, New));
}
