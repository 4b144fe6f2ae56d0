//===- NodeView.cpp - A run's tree, its nodes and what they changed -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/NodeView.h"
#include "Figures.h"
#include "RunFloors.h"
#include "stark/Agent/Quote.h"
#include "stark/Report/Progress.h"
#include "stark/Report/Table.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/STLExtras.h"
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

/// "plan", "debug", "single", "tune"; "source" of node 0.
static llvm::StringRef madeBy(const RecordedRun &Run, const Node &N) {
  if (N.Number == 0)
    return "source";
  if (N.FromDebug)
    return "debug";
  if (N.Tuned)
    return "tune";
  return Run.Identity.Options.Agents == AgentsKind::Single ? "single" : "plan";
}

static std::string speedText(const Verdict &V) {
  if (!V.correct() || V.Timings.empty())
    return "";
  return fixed(V.scoreUs(), 2) + " us, " + fixed(V.speedup(), 3) + " (" +
         fixed(V.speedupLow(), 3) + " to " + fixed(V.speedupHigh(), 3) + ")";
}

namespace {
/// A node that is still to be printed.
struct Waiting {
  unsigned Number;
  unsigned Depth;
  std::string Lead, Below; ///< before its line, and before those under it
};
class TreePrinter {
public:
  TreePrinter(const RecordedRun &Run, bool Explain, llvm::raw_ostream &OS)
      : Run(Run), F(countFigures(Run)), Explain(Explain), OS(OS) {}
  void print();

private:
  void printLine(const Waiting &W);

  const RecordedRun &Run;
  const Figures F;
  const bool Explain;
  llvm::raw_ostream &OS;
  /// Beyond it a line is no further to the right, and names its parent.
  static constexpr unsigned Deepest = 16;
};
} // namespace

void TreePrinter::printLine(const Waiting &W) {
  const Node &N = Run.Nodes.node(W.Number);
  OS << W.Lead << W.Number;
  if (W.Depth > Deepest)
    OS << " (of " << N.Parent << ")";
  OS << " " << madeBy(Run, N) << ": " << verdictName(N.Found.Kind);
  if (std::string Speed = speedText(N.Found); W.Number && !Speed.empty())
    OS << ", " << Speed;
  else if (!Speed.empty())
    OS << ", " << fixed(N.scoreUs(), 2) << " us";
  if (N.SameAs >= 0)
    OS << ", the same tokens as " << N.SameAs;
  if (!N.Given.Title.empty())
    OS << " [" << visibleLine(N.Given.Title) << "]";
  if (int(W.Number) == F.Winner)
    OS << " <- winner";
  OS << "\n";
  const RecordedAttempt *A = attemptBehind(Run, W.Number);
  if (!Explain || !A || !A->Select)
    return;
  std::string Under = W.Below + (N.Children.empty() ? "   " : "|  ");
  OS << Under
     << visibleLine(selectionLine(A->Select->Attempt, A->Select->Chosen,
                                  Run.Nodes, A->Select->Shown))
     << "\n";
  if (std::string Why = whyNot(N.Found); !Why.empty())
    OS << Under << Why << "\n";
}

void TreePrinter::print() {
  // A record may hold a chain of any length: no recursion.
  std::vector<Waiting> Stack = {{0, 0, "", ""}};
  while (!Stack.empty()) {
    Waiting W = std::move(Stack.back());
    Stack.pop_back();
    printLine(W);
    const std::vector<unsigned> &Children = Run.Nodes.node(W.Number).Children;
    for (unsigned Child : llvm::reverse(Children)) {
      bool Last = Child == Children.back();
      Stack.push_back(
          {Child, W.Depth + 1, W.Below + (Last ? "`- " : "|- "),
           W.Depth < Deepest ? W.Below + (Last ? "   " : "|  ") : W.Below});
    }
  }
}

void stark::printTree(const RecordedRun &Run, bool Explain,
                      llvm::raw_ostream &OS) {
  if (Run.Nodes.size())
    TreePrinter(Run, Explain, OS).print();
  OS << describeEnd(Run, countFigures(Run)) << "\n" << nearestRewrites(Run);
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
  if (N.Given.Anchors.empty() || N.Base < 0)
    return;
  // What it is anchored in may be another candidate.
  const std::string &Base = Run.Nodes.node(unsigned(N.Base)).Text;
  OS << "anchors, in node " << N.Base << ":\n";
  for (const Anchor &A : N.Given.Anchors) {
    OS << "  " << lineRange(A.Line, A.EndLine);
    if (!A.SiteIds.empty())
      OS << " (" << visibleLine(llvm::join(A.SiteIds, ", ")) << ")";
    OS << "\n";
    if (A.Bytes.Begin <= A.Bytes.End && A.Bytes.End <= Base.size())
      printIndented(
          "   ", llvm::StringRef(Base).slice(A.Bytes.Begin, A.Bytes.End), OS);
  }
}

static void printTimes(const RecordedRun &Run, const Verdict &V,
                       llvm::raw_ostream &OS) {
  if (!V.correct() || V.Timings.empty())
    return;
  std::vector<std::optional<Floor>> Floors = runFloors(Run, V);
  std::vector<std::string> Heads = {"size",    "source us", "us",
                                    "samples", "speed-up",  "95 %"};
  if (!Floors.empty())
    Heads.push_back("of floor");
  Table Rows(Heads, {1, 2, 3, 4});
  for (size_t I = 0; I < V.Timings.size(); ++I) {
    const job::Timing &T = V.Timings[I];
    std::vector<std::string> Row = {T.Label,
                                    fixed(T.SourceMedianUs, 2),
                                    fixed(T.MedianUs, 2),
                                    std::to_string(T.Samples),
                                    fixed(T.Speedup, 3),
                                    fixed(T.SpeedupLow, 3) + " to " +
                                        fixed(T.SpeedupHigh, 3)};
    if (!Floors.empty())
      Row.push_back(floorText(Floors[I], T.MedianUs));
    Rows.add(Row);
  }
  OS << "medians, " << visibleLine(howTaken(V)) << ":\n";
  Rows.print(/*Markdown=*/false, OS);
}

static void printCounters(const RecordedAttempt &A, llvm::raw_ostream &OS) {
  if (!A.Found)
    return;
  const CountersEvent &E = *A.Found;
  printIndented("counters of node " + std::to_string(E.Node) +
                    ", which this was planned for, of a simulated GPU (" +
                    visibleLine(E.Found.Device) + ")",
                E.Found.Text.empty() ? E.Found.Problem : E.Found.Text, OS);
}

static void printProfile(const Verdict &V, llvm::raw_ostream &OS) {
  if (V.Counted)
    printIndented(
        "counters of the GPU (" + visibleLine(V.Device) + ")",
        V.Counted->Text.empty() ? V.Counted->Problem : V.Counted->Text, OS);
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
    OS << visibleLine(selectionLine(A->Select->Attempt, A->Select->Chosen,
                                    Run.Nodes, A->Select->Shown))
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
  printTimes(Run, N.Found, OS);
  printIndented("compiler", N.Found.Compiler, OS);
  printIndented("run", N.Found.Run, OS);
  printProfile(N.Found, OS);
  if (int(Number) == F.Winner && F.Confirmed)
    printIndented("confirmation", F.WinnerFound->Run, OS);
  if (A) {
    printCounters(*A, OS);
    printReplies(*A, OS);
  }
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

std::string stark::hunksOf(llvm::StringRef Old, llvm::StringRef New) {
  auto Hunks = [](llvm::StringRef Before, llvm::StringRef After) {
    std::optional<std::string> Short = unifiedDiff(Before, After);
    return Short ? *Short : wholeDiff(Before, After);
  };
  if (Old.ends_with("\n") && New.ends_with("\n"))
    return Hunks(Old, New);
  // A last line without an end is another line than the same with one.
  std::string Mark = "\x01";
  while (Old.contains(Mark) || New.contains(Mark))
    Mark += '\x01';
  auto Marked = [&](llvm::StringRef Text) {
    return Text.ends_with("\n") ? Text.str() : Text.str() + Mark + "\n";
  };
  std::string Text = Hunks(Marked(Old), Marked(New));
  for (size_t At = 0; (At = Text.find(Mark, At)) != std::string::npos;)
    Text.replace(At, Mark.size(), "\n\\ No newline at end of file");
  return Text;
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
  return "--- a/" + File + "\tnode " + std::to_string(From) + "\n+++ b/" +
         File + "\tnode " + std::to_string(Number) + "\n" + hunksOf(Old, New);
}
