//===- Review.cpp - A run as a pull request tells it
//-----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run -> result, times, resources, what was checked and what was not; then,
/// folded, the diff and the attempts
///
//===----------------------------------------------------------------------===//

#include "stark/Report/Review.h"
#include "ReportParts.h"
#include "stark/Agent/Quote.h"
#include "stark/Report/NodeView.h"
#include "stark/Report/SearchProgress.h"
#include "stark/Report/Table.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

std::string stark::quoteMarkdown(llvm::StringRef Text) {
  std::string Out;
  for (char C : visibleLine(Text)) {
    if (C == '&' || C == '<' || C == '>' || C == '@')
      Out += "&#" + std::to_string(int(C)) + ";";
    else if (llvm::StringRef("\\`*[]#").contains(C))
      Out += std::string("\\") + C;
    else
      Out += C;
  }
  return Out;
}

namespace {
/// Of one kernel, as lib/Eval/CompilerOutput.cpp puts it.
struct Resources {
  std::string Registers, Shared, Spills;
};
} // namespace

/// By kernel: "softmax_kernel: 20 registers, 1024 bytes of static shared
/// memory, no spills".
static std::map<std::string, Resources> resourcesIn(llvm::StringRef Compiler) {
  std::map<std::string, Resources> Found;
  while (!Compiler.empty()) {
    auto [Line, Rest] = Compiler.split('\n');
    Compiler = Rest;
    auto [Kernel, Used] = Line.split(": ");
    auto [Registers, More] = Used.split(" registers, ");
    auto [Shared, Spills] = More.split(" bytes of static shared memory, ");
    unsigned Number = 0;
    if (Registers.getAsInteger(10, Number) || Shared.getAsInteger(10, Number) ||
        Spills.empty())
      continue;
    Found[Kernel.str()] = {Registers.str(), Shared.str(), Spills.str()};
  }
  return Found;
}

static void printResources(const Verdict &Before, const Verdict &After,
                           llvm::raw_ostream &OS) {
  std::map<std::string, Resources> Old = resourcesIn(Before.Compiler),
                                   New = resourcesIn(After.Compiler);
  std::set<std::string> Kernels;
  for (const auto *All : {&Old, &New})
    for (const auto &[Kernel, Uses] : *All)
      Kernels.insert(Kernel);
  if (Kernels.empty())
    return;
  Table Rows({"kernel", "registers", "after", "shared bytes", "after", "spills",
              "after"},
             {1, 2, 3, 4});
  for (const std::string &Kernel : Kernels) {
    auto Of = [&](std::map<std::string, Resources> &All) {
      auto Found = All.find(Kernel);
      return Found == All.end() ? Resources{"-", "-", "-"} : Found->second;
    };
    Resources Was = Of(Old), Is = Of(New);
    Rows.add({quoteMarkdown(Kernel), Was.Registers, Is.Registers, Was.Shared,
              Is.Shared, Was.Spills, Is.Spills});
  }
  OS << "Registers a thread, static shared memory a block, and spills, in the "
        "source and after; `-` where there is no such kernel.\n\n";
  Rows.print(/*Markdown=*/true, OS);
  OS << "\n";
}

static std::string sizesOf(const Verdict &V) {
  std::vector<std::string> Labels;
  for (const job::Timing &T : V.Timings)
    Labels.push_back("`" + visibleLine(T.Label) + "`");
  return llvm::join(Labels, ", ");
}

static void printChecked(const RecordedRun &Run, const Figures &F,
                         llvm::raw_ostream &OS) {
  const Verdict &V = *F.WinnerFound;
  const RunIdentity &I = Run.Identity;
  OS << "**Checked:**\n\n"
     << "* Its outputs are those of the source, within the workload's "
        "tolerances, for every size of the workload that is not named below, "
        "on "
        "random inputs that it could not know";
  OS << (F.Confirmed ? "; judged twice, the second time on inputs that no "
                       "attempt saw.\n"
                     : ". It was judged once.\n");
  OS << "* Called twice with the same inputs, it gives the same.\n"
     << "* Signature, linkage and symbols are those of the source, and it "
        "keeps "
        "no state between calls.\n";
  if (I.Options.Strictness != Grounding::Off)
    OS << "* It changes only what its plan named (grounding "
       << groundingName(I.Options.Strictness) << ").\n";
  OS << "\n**Not checked:**\n\n"
     << "* Other sizes, types and values than the workload's; it was timed for "
     << sizesOf(V) << ".\n";
  if (V.Modelled)
    OS << "* How fast it is: times are modelled for " << quoteMarkdown(V.Device)
       << " and were not measured.\n";
  else
    OS << "* Other GPUs than " << quoteMarkdown(V.Device) << " ("
       << quoteMarkdown(I.Arch) << "), other compilers and drivers.\n"
       << "* Races and accesses out of bounds that these inputs do not bring "
          "to light (`stark-tool simulate` looks for them).\n";
  // What the judge says that it left out.
  for (llvm::StringRef Rest = V.Run; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    if (Line.starts_with("size '"))
      OS << "* " << quoteMarkdown(Line) << ".\n";
  }
  if (I.Options.Strictness == Grounding::Off)
    OS << "* Whether it changes only what was planned: grounding was off.\n";
  OS << "\n";
}

static void printFolded(llvm::StringRef Title, llvm::StringRef Body,
                        llvm::raw_ostream &OS) {
  OS << "<details>\n<summary>" << Title << "</summary>\n\n"
     << Body << "\n</details>\n\n";
}

static void printWinner(const RecordedRun &Run, const Figures &F,
                        llvm::raw_ostream &OS) {
  const Verdict &V = *F.WinnerFound;
  const Node &N = Run.Nodes.node(unsigned(F.Winner));
  OS << "**" << fixed(V.speedup(), 3)
     << " times as fast** as the source (95 %: " << fixed(V.speedupLow(), 3)
     << " to " << fixed(V.speedupHigh(), 3) << "), "
     << quoteMarkdown(howTaken(V));
  if (std::optional<double> Share = floorShare(V))
    OS << "; moving the data alone would take " << fixed(*Share * 100, 0)
       << " % of its time";
  OS << ".\n\n";
  if (!N.Given.Title.empty())
    OS << "What was changed: " << quoteMarkdown(N.Given.Title) << " (node "
       << N.Number << ").\n\n";
  printSizes(F, /*Markdown=*/true, OS);
  printResources(Run.Nodes.node(0).Found, V, OS);
  printChecked(Run, F, OS);
  llvm::Expected<std::string> Diff = nodeDiff(Run, 0, N.Number);
  if (Diff)
    printFolded("The change", fenced("diff", visibleText(*Diff)), OS);
  else
    llvm::consumeError(Diff.takeError());
}

void stark::printReview(const RecordedRun &Run, llvm::raw_ostream &OS) {
  Figures F = countFigures(Run);
  OS << "# " << quoteMarkdown(Run.Identity.TaskName)
     << ": a search for a faster " << quoteMarkdown(Run.Identity.Entry)
     << "\n\n";
  if (F.Winner >= 0)
    printWinner(Run, F, OS);
  std::string Attempts;
  llvm::raw_string_ostream Inner(Attempts);
  printOrigin(Run, F, /*Markdown=*/true, Inner);
  printAttempts(Run, /*Markdown=*/true, Inner);
  std::string Tree;
  llvm::raw_string_ostream Branches(Tree);
  printBranches(Run, F, 0, Branches);
  Inner << "\n" << fenced("text", Tree) << "\n";
  printCounts(Run, F, Inner);
  printFolded("The search", Attempts, OS);
  std::string End = describeEnd(Run, F);
  End[0] = llvm::toUpper(End[0]);
  OS << quoteMarkdown(End) << ".\n";
}
