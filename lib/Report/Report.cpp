//===- Report.cpp - What a run found, as text and Markdown ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Report.h"
#include "Figures.h"
#include "ReportJson.h"
#include "stark/Report/Table.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

static std::string plural(uint64_t Count, llvm::StringRef What) {
  return std::to_string(Count) + " " + What.str() + (Count == 1 ? "" : "s");
}

static void printHeading(const RecordedRun &Run, const Figures &F,
                         bool Markdown, llvm::raw_ostream &OS) {
  const RunIdentity &I = Run.Identity;
  OS << (Markdown ? "# " : "") << I.TaskName << ": a search for a faster "
     << I.Entry << "\n\n";
  OS << "Provider " << I.Provider;
  if (!F.Models.empty())
    OS << " (" << llvm::join(F.Models, ", ") << ")";
  OS << ", evaluator " << I.Evaluator << ", " << I.Arch << ", seed "
     << I.Options.Seed << ", grounding " << groundingName(I.Options.Strictness)
     << ".\n";
  if (Run.Nodes.size())
    OS << "Times are " << howTaken(Run.Nodes.node(0).Found) << ".\n";
  if (!Run.Note.empty())
    OS << "Note: " << Run.Note << ".\n";
  OS << "\n";
}

static void printAttempts(const RecordedRun &Run, bool Markdown,
                          llvm::raw_ostream &OS) {
  Table Rows({"node", "parent", "by", "verdict", "us", "speed-up", "95 %",
              "instruction"},
             {4, 5});
  bool Single = Run.Identity.Options.Agents == AgentsKind::Single;
  for (unsigned Number = 0; Number < Run.Nodes.size(); ++Number) {
    const Node &N = Run.Nodes.node(Number);
    bool Timed = N.Found.correct() && !N.Found.Timings.empty();
    std::string What = N.Given.Title;
    if (N.SameAs >= 0)
      What += " (same tokens as " + std::to_string(N.SameAs) + ")";
    Rows.add({std::to_string(Number),
              N.Parent < 0 ? "-" : std::to_string(N.Parent),
              Number == 0   ? "source"
              : N.FromDebug ? "debug"
              : Single      ? "single"
                            : "plan",
              verdictName(N.Found.Kind).str(), fixed(N.scoreUs(), 2),
              Timed ? fixed(N.Found.speedup(), 3) : "-",
              Timed ? "from " + fixed(N.Found.speedupLow(), 3) : "-", What});
  }
  Rows.print(Markdown, OS);
  OS << "\n";
}

static void printBranch(const RecordedRun &Run, const Figures &F,
                        unsigned Number, unsigned Depth,
                        llvm::raw_ostream &OS) {
  const Node &N = Run.Nodes.node(Number);
  OS.indent(2 * Depth) << Number << " " << verdictName(N.Found.Kind);
  if (!N.hasBug())
    OS << " " << fixed(N.scoreUs(), 2) << " us";
  if (int(Number) == F.Winner)
    OS << " (winner)";
  OS << "\n";
  for (unsigned Child : N.Children)
    printBranch(Run, F, Child, Depth + 1, OS);
}

static void printSizes(const RecordedRun &Run, const Figures &F, bool Markdown,
                       llvm::raw_ostream &OS) {
  if (!F.WinnerFound)
    return;
  Table Rows({"size", "source us", "spread", "winner us", "spread", "samples",
              "speed-up", "95 %"},
             {1, 2, 3, 4, 5, 6});
  for (const job::Timing &T : F.WinnerFound->Timings)
    Rows.add({T.Label, fixed(T.SourceMedianUs, 2), fixed(T.SourceIqrUs, 2),
              fixed(T.MedianUs, 2), fixed(T.IqrUs, 2),
              std::to_string(T.Samples), fixed(T.Speedup, 3),
              fixed(T.SpeedupLow, 3) + " to " + fixed(T.SpeedupHigh, 3)});
  OS << "Source and winner, medians in microseconds, "
     << howTaken(*F.WinnerFound) << "; spread is the quartile distance.\n\n";
  Rows.print(Markdown, OS);
  OS << "\n";
}

static void printCalls(const CallFigures &C, llvm::raw_ostream &OS) {
  OS << plural(C.Calls, "model call");
  if (C.WithoutUsage < C.Calls) {
    OS << ": " << C.Input << " tokens in";
    if (C.Cached)
      OS << " (" << C.Cached << " from the cache)";
    OS << ", " << C.Output << " out";
  }
  if (C.WithoutUsage)
    OS << "; " << C.WithoutUsage << " did not say their tokens";
  if (const DiscardedAnswers &D = C.Discarded; D.Answers)
    OS << "; " << plural(D.Answers, "discarded answer") << ": "
       << (D.Estimated ? "about " : "") << D.Input << " tokens in, " << D.Output
       << " out";
  if (C.CostKnown && (C.Calls || C.Discarded.Answers))
    OS << "; cost " << fixed(double(C.CostMicroUsd) * 1e-6, 4) << " USD";
  OS << ".\n";
}

static void printCounts(const RecordedRun &Run, const Figures &F,
                        llvm::raw_ostream &OS) {
  OS << plural(Run.Nodes.size() ? Run.Nodes.size() - 1 : 0, "attempt") << ":";
  for (size_t I = 0; I < F.Counts.size(); ++I)
    OS << (I ? ", " : " ") << F.Counts[I].second << " "
       << verdictName(F.Counts[I].first);
  OS << (F.Counts.empty() ? " none yet.\n" : ".\n");
  printCalls(F.Calls, OS);
  for (const auto &[Role, Calls] : F.Roles)
    if (Calls.WithoutUsage < Calls.Calls || Calls.Discarded.Answers ||
        (Calls.CostKnown && Calls.Calls)) {
      OS << "  " << Role << ": ";
      printCalls(Calls, OS);
    }
}

static void printResult(const RecordedRun &Run, const Figures &F, bool Markdown,
                        llvm::raw_ostream &OS) {
  printSizes(Run, F, Markdown, OS);
  printCounts(Run, F, OS);
  if (F.Winner >= 0)
    OS << "Instruction: " << Run.Nodes.node(unsigned(F.Winner)).Given.Title
       << "\n";
  std::string End = describeEnd(Run, F);
  End[0] = llvm::toUpper(End[0]);
  OS << End << ".\n";
}

void stark::printReport(const RecordedRun &Run, ReportFormat Format,
                        llvm::raw_ostream &OS) {
  if (Format == ReportFormat::Json)
    return printReportJson(Run, OS);
  bool Markdown = Format == ReportFormat::Markdown;
  Figures F = countFigures(Run);
  printHeading(Run, F, Markdown, OS);
  if (Markdown)
    OS << "## Attempts\n\n";
  printAttempts(Run, Markdown, OS);
  if (Run.Nodes.size()) {
    OS << (Markdown ? "## Tree\n\n```\n" : "tree\n");
    printBranch(Run, F, 0, Markdown ? 0 : 1, OS);
    OS << (Markdown ? "```\n\n## Result\n\n" : "\n");
  }
  printResult(Run, F, Markdown, OS);
}

void stark::printSummary(const RecordedRun &Run, ReportFormat Format,
                         llvm::raw_ostream &OS) {
  if (Format == ReportFormat::Json)
    return printReportJson(Run, OS);
  printResult(Run, countFigures(Run), Format == ReportFormat::Markdown, OS);
}
