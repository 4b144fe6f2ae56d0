//===- Report.cpp - What a run found, as text and Markdown ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Report.h"
#include "Figures.h"
#include "ReportJson.h"
#include "ReportParts.h"
#include "RunFloors.h"
#include "stark/Report/Review.h"
#include "stark/Report/Table.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

static std::string plural(uint64_t Count, llvm::StringRef What) {
  return std::to_string(Count) + " " + What.str() + (Count == 1 ? "" : "s");
}

static void printHeading(const RecordedRun &Run, const Figures &F,
                         llvm::raw_ostream &OS) {
  const RunIdentity &I = Run.Identity;
  OS << visibleLine(I.TaskName) << ": a search for a faster "
     << visibleLine(I.Entry) << "\n\n";
  printOrigin(Run, F, /*Markdown=*/false, OS);
}

void stark::printOrigin(const RecordedRun &Run, const Figures &F, bool Markdown,
                        llvm::raw_ostream &OS) {
  const RunIdentity &I = Run.Identity;
  auto Print = [&](const std::string &Line) {
    OS << (Markdown ? quoteMarkdown(Line) : visibleLine(Line)) << "\n";
  };
  std::string Models = llvm::join(F.Models, ", ");
  Print("Provider " + I.Provider + (Models.empty() ? "" : " (" + Models + ")") +
        ", evaluator " + I.Evaluator + ", " + I.Arch + ", seed " +
        std::to_string(I.Options.Seed) + ", grounding " +
        groundingName(I.Options.Strictness).str() + ".");
  if (Run.Nodes.size())
    Print("Times are " + howTaken(Run) + ".");
  if (!Run.Note.empty())
    Print("Note: " + Run.Note + ".");
  OS << "\n";
}

void stark::printAttempts(const RecordedRun &Run, bool Markdown,
                          llvm::raw_ostream &OS) {
  Table Rows({"node", "parent", "by", "verdict", "us", "speed-up", "95 %",
              "instruction"},
             {4, 5});
  bool Single = Run.Identity.Options.Agents == AgentsKind::Single;
  for (unsigned Number = 0; Number < Run.Nodes.size(); ++Number) {
    const Node &N = Run.Nodes.node(Number);
    bool Timed = N.Found.correct() && !N.Found.Timings.empty();
    std::string What = N.Given.Title;
    if (Markdown)
      What = quoteMarkdown(shortenUtf8(What, 120));
    if (N.SameAs >= 0)
      What += " (same tokens as " + std::to_string(N.SameAs) + ")";
    Rows.add({std::to_string(Number),
              N.Parent < 0 ? "-" : std::to_string(N.Parent),
              Number == 0   ? "source"
              : N.FromDebug ? "debug"
              : N.Tuned     ? "tune"
              : Single      ? "single"
                            : "plan",
              verdictName(N.Found.Kind).str(), fixed(N.scoreUs(), 2),
              Timed ? fixed(N.Found.speedup(), 3) : "-",
              Timed ? "from " + fixed(N.Found.speedupLow(), 3) : "-", What});
  }
  Rows.print(Markdown, OS);
  OS << "\n";
}

void stark::printSizes(const RecordedRun &Run, const Figures &F, bool Markdown,
                       llvm::raw_ostream &OS) {
  if (!F.WinnerFound)
    return;
  const Verdict &V = *F.WinnerFound;
  std::vector<std::optional<Floor>> Floors = runFloors(Run, V);
  std::vector<std::string> Heads = {"size",      "source us", "spread",
                                    "winner us", "spread",    "samples",
                                    "speed-up",  "95 %"};
  if (!Floors.empty())
    Heads.push_back("of floor");
  Table Rows(Heads, {1, 2, 3, 4, 5, 6});
  for (size_t I = 0; I < V.Timings.size(); ++I) {
    const job::Timing &T = V.Timings[I];
    std::vector<std::string> Row = {Markdown ? quoteMarkdown(T.Label) : T.Label,
                                    fixed(T.SourceMedianUs, 2),
                                    fixed(T.SourceIqrUs, 2),
                                    fixed(T.MedianUs, 2),
                                    fixed(T.IqrUs, 2),
                                    std::to_string(T.Samples),
                                    fixed(T.Speedup, 3),
                                    fixed(T.SpeedupLow, 3) + " to " +
                                        fixed(T.SpeedupHigh, 3)};
    if (!Floors.empty())
      Row.push_back(floorText(Floors[I], T.MedianUs));
    Rows.add(Row);
  }
  OS << "Source and winner, medians in microseconds, "
     << (Markdown ? quoteMarkdown(howTaken(V)) : howTaken(V))
     << "; spread is the quartile distance"
     << (Floors.empty() ? ""
                        : "; the floor is the largest of what is known of "
                          "a launch, of bytes and of operations")
     << ".\n\n";
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

void stark::printCounts(const RecordedRun &Run, const Figures &F,
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

static void printResult(const RecordedRun &Run, const Figures &F,
                        llvm::raw_ostream &OS) {
  printSizes(Run, F, /*Markdown=*/false, OS);
  printCounts(Run, F, OS);
  if (F.Winner >= 0)
    OS << "Instruction: "
       << visibleLine(Run.Nodes.node(unsigned(F.Winner)).Given.Title) << "\n";
  std::string End = describeEnd(Run, F);
  End[0] = llvm::toUpper(End[0]);
  OS << End << ".\n" << nearestRewrites(Run);
}

void stark::printBranches(const RecordedRun &Run, const Figures &F,
                          llvm::raw_ostream &OS) {
  constexpr unsigned Deepest = 40;
  // A record may hold a chain of any length: no recursion.
  std::vector<std::pair<unsigned, unsigned>> Waiting;
  if (Run.Nodes.size())
    Waiting.emplace_back(0, 1);
  while (!Waiting.empty()) {
    auto [Number, Depth] = Waiting.back();
    Waiting.pop_back();
    const Node &N = Run.Nodes.node(Number);
    OS.indent(2 * std::min(Depth, Deepest)) << Number;
    if (Depth > Deepest)
      OS << " (of " << N.Parent << ")";
    OS << " " << verdictName(N.Found.Kind);
    if (!N.hasBug())
      OS << " " << fixed(N.scoreUs(), 2) << " us";
    if (int(Number) == F.Winner)
      OS << " (winner)";
    OS << "\n";
    for (unsigned Child : llvm::reverse(N.Children))
      Waiting.emplace_back(Child, Depth + 1);
  }
}

llvm::Error stark::printReport(const RecordedRun &Run, ReportFormat Format,
                               llvm::raw_ostream &OS) {
  switch (Format) {
  case ReportFormat::Text: {
    Figures F = countFigures(Run);
    printHeading(Run, F, OS);
    printAttempts(Run, /*Markdown=*/false, OS);
    if (Run.Nodes.size()) {
      OS << "tree\n";
      printBranches(Run, F, OS);
      OS << "\n";
    }
    printResult(Run, F, OS);
    break;
  }
  case ReportFormat::Markdown:
    printReview(Run, OS);
    break;
  case ReportFormat::Json:
    printReportJson(Run, OS);
    break;
  case ReportFormat::Sarif:
    printSarif(Run, OS);
    break;
  case ReportFormat::Remarks:
    return printRemarks(Run, OS);
  }
  return llvm::Error::success();
}

void stark::printSummary(const RecordedRun &Run, llvm::raw_ostream &OS) {
  printResult(Run, countFigures(Run), OS);
}
