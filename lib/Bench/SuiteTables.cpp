//===- SuiteTables.cpp - The paper's tables 1 to 3 ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include "stark/Report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <set>

using namespace stark;

static std::string number(double Value, const char *Form = "%.3f") {
  if (!std::isfinite(Value))
    return "-";
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Form, Value);
  return Text;
}

static std::string share(uint64_t Of, uint64_t All) {
  return All ? number(100.0 * double(Of) / double(All), "%.1f %%") : "-";
}

std::vector<std::string> stark::groupsOf(const SuiteResult &R) {
  std::vector<std::string> Groups;
  for (const CellFigures &C : R.Cells)
    if (!llvm::is_contained(Groups, C.Group))
      Groups.push_back(C.Group);
  return Groups;
}

std::vector<CellFigures> stark::cellsOf(const SuiteResult &R,
                                        llvm::StringRef Group) {
  std::vector<CellFigures> Cells;
  for (const CellFigures &C : R.Cells)
    if (C.Group == Group)
      Cells.push_back(C);
  return Cells;
}

/// Those of \p Wanted that were run, in its order.
static std::vector<std::string>
presetsOf(const SuiteResult &R, std::initializer_list<const char *> Wanted) {
  std::vector<std::string> Presets;
  for (const char *Name : Wanted)
    if (llvm::is_contained(R.Presets, Name))
      Presets.push_back(Name);
  return Presets;
}

static std::vector<std::string> comparedAgents(const SuiteResult &R) {
  return presetsOf(R, {"sampling", "reflexion", "stark", "stark+"});
}
static std::vector<std::string> ablatedAgents(const SuiteResult &R) {
  return presetsOf(R,
                   {"sampling", "search-agent", "ma-only", "stark", "stark+"});
}

static std::string between(const Interval &I) {
  return std::isfinite(I.Low) ? number(I.Low) + " to " + number(I.High) : "-";
}

/// The last columns are there where something is known for them.
static void printSpeeds(const std::vector<std::string> &Presets,
                        const std::vector<CellFigures> &Cells,
                        llvm::raw_ostream &OS) {
  bool Floors = llvm::any_of(
      Cells, [](const CellFigures &C) { return C.FloorShare > 0; });
  bool AsShipped = llvm::any_of(
      Cells, [](const CellFigures &C) { return C.SuccessAsShipped; });
  std::vector<std::string> Heads = {"preset",         "runs", "success",
                                    "Fast1",          "mean", "median",
                                    "geometric mean", "95 %", "delivered"};
  std::set<size_t> Numbers = {1, 2, 3, 4, 5, 6, 8};
  for (auto [Known, Head] :
       {std::pair(Floors, "of floor"), {AsShipped, "success as shipped"}})
    if (Known) {
      Numbers.insert(Heads.size());
      Heads.push_back(Head);
    }
  Table Rows(Heads, Numbers);
  for (const std::string &Preset : Presets) {
    PresetFigures F = summarize(Preset, Cells);
    std::vector<std::string> Row = {Preset,
                                    std::to_string(F.Cells),
                                    share(F.Successes, F.Cells),
                                    share(F.Fast1, F.Cells),
                                    number(F.Mean),
                                    number(F.Median),
                                    number(F.GeometricMean),
                                    between(F.Spread),
                                    number(F.Delivered)};
    if (Floors)
      Row.push_back(number(100 * F.FloorShare, "%.1f %%"));
    if (AsShipped)
      Row.push_back(share(F.SuccessesAsShipped, F.Cells));
    Rows.add(std::move(Row));
  }
  Rows.print(/*Markdown=*/true, OS);
}

/// The paper's own baselines.
static void printOverBaselines(const SuiteResult &R,
                               const std::vector<CellFigures> &Cells,
                               llvm::raw_ostream &OS) {
  Table Rows({"preset", "over", "runs", "success", "Fast1", "mean", "median",
              "geometric mean", "95 %"},
             {2, 3, 4, 5, 6, 7});
  for (const std::string &Preset : R.Presets)
    for (const std::string &Variant : baselinesOf(Cells)) {
      PresetFigures F = summarize(Preset, overBaseline(Variant, Cells));
      Rows.add({Preset, Variant, std::to_string(F.Cells),
                share(F.Successes, F.Cells), share(F.Fast1, F.Cells),
                number(F.Mean), number(F.Median), number(F.GeometricMean),
                between(F.Spread)});
    }
  Rows.print(/*Markdown=*/true, OS);
}

static void printAllOverBaselines(const SuiteResult &R, llvm::raw_ostream &OS) {
  if (baselinesOf(R.Cells).empty())
    return;
  OS << "\n## Table 4: over PyTorch\n\nPyTorch's median over the candidate's, "
        "by the same method on the same GPU, but not in the same minute. Runs: "
        "of tasks\nwith that baseline.\n";
  std::vector<std::string> Groups = groupsOf(R);
  for (const std::string &Group : Groups) {
    OS << "\n### " << Group << "\n\n";
    printOverBaselines(R, cellsOf(R, Group), OS);
  }
  if (Groups.size() > 1) {
    OS << "\n### all\n\n";
    printOverBaselines(R, R.Cells, OS);
  }
}

static std::string howMeasured(const SuiteResult &R) {
  std::vector<std::string> Devices;
  bool Modelled = false;
  for (const CellFigures &C : R.Cells) {
    Modelled |= C.Modelled;
    if (!C.Device.empty() && !llvm::is_contained(Devices, C.Device))
      Devices.push_back(C.Device);
  }
  return (Modelled ? "modelled for " : "measured on ") +
         (Devices.empty() ? "a device that was not named"
                          : llvm::join(Devices, ", "));
}

void stark::printSuite(const SuiteResult &R, llvm::raw_ostream &OS) {
  OS << "# " << R.Suite << "\n\n"
     << R.Cells.size() << (R.Cells.size() == 1 ? " run of " : " runs of ")
     << R.Attempts << (R.Attempts == 1 ? " attempt, " : " attempts, ")
     << R.Seeds << (R.Seeds == 1 ? " seed" : " seeds")
     << " a task and preset. Speed-ups are over the source, " << howMeasured(R)
     << ".\nSuccess: a correct candidate. Fast1: one at least as fast as the "
        "source. Mean, median and geometric mean are of the\nruns with one; "
        "95 %: bootstrap over tasks. Delivered: geometric mean over all runs "
        "of what is kept, the confirmed\nwinner or the source.\n";
  for (const MissingRun &M : R.Missing)
    OS << "\n**Missing:** " << M.Why << "\n";
  std::vector<std::string> Compared = comparedAgents(R),
                           Ablated = ablatedAgents(R);
  if (!Compared.empty()) {
    OS << "\n## Table 1: performance\n";
    for (const std::string &Group : groupsOf(R)) {
      OS << "\n### " << Group << "\n\n";
      printSpeeds(Compared, cellsOf(R, Group), OS);
    }
  }
  OS << "\n## Table 2: compiled and correct candidates\n";
  for (const std::string &Group : groupsOf(R)) {
    OS << "\n### " << Group << "\n\n";
    Table Rows({"preset", "attempts", "compiled", "correct"}, {1, 2, 3});
    for (const std::string &Preset : R.Presets) {
      PresetFigures F = summarize(Preset, cellsOf(R, Group));
      Rows.add({Preset, std::to_string(F.Attempts),
                share(F.Compiled, F.Attempts), share(F.Correct, F.Attempts)});
    }
    Rows.print(/*Markdown=*/true, OS);
  }
  if (!Ablated.empty()) {
    OS << "\n## Table 3: ablation, all tasks\n\n";
    printSpeeds(Ablated, R.Cells, OS);
  }
  printAllOverBaselines(R, OS);
}
