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
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

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

/// In the order of the suite.
static std::vector<std::string> groupsOf(const SuiteResult &R) {
  std::vector<std::string> Groups;
  for (const CellFigures &C : R.Cells)
    if (!llvm::is_contained(Groups, C.Group))
      Groups.push_back(C.Group);
  return Groups;
}

static std::vector<CellFigures> cellsOf(const SuiteResult &R,
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

static void printSpeeds(const std::vector<std::string> &Presets,
                        const std::vector<CellFigures> &Cells,
                        llvm::raw_ostream &OS) {
  Table Rows({"preset", "runs", "success", "Fast1", "mean", "median",
              "geometric mean", "95 %", "delivered"},
             {1, 2, 3, 4, 5, 6, 8});
  for (const std::string &Preset : Presets) {
    PresetFigures F = summarize(Preset, Cells);
    Rows.add({Preset, std::to_string(F.Cells), share(F.Successes, F.Cells),
              share(F.Fast1, F.Cells), number(F.Mean), number(F.Median),
              number(F.GeometricMean),
              std::isfinite(F.Spread.Low)
                  ? number(F.Spread.Low) + " to " + number(F.Spread.High)
                  : "-",
              number(F.Delivered)});
  }
  Rows.print(/*Markdown=*/true, OS);
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
}

static json valueOf(double Value) {
  if (!std::isfinite(Value))
    return nullptr;
  return std::round(Value * 1e6) / 1e6;
}

static json rowOf(const PresetFigures &F) {
  return {{"preset", F.Preset},
          {"runs", F.Cells},
          {"successes", F.Successes},
          {"fast1", F.Fast1},
          {"attempts", F.Attempts},
          {"compiled", F.Compiled},
          {"correct", F.Correct},
          {"mean", valueOf(F.Mean)},
          {"median", valueOf(F.Median)},
          {"geometric_mean", valueOf(F.GeometricMean)},
          {"low", valueOf(F.Spread.Low)},
          {"high", valueOf(F.Spread.High)},
          {"delivered", valueOf(F.Delivered)}};
}

std::string stark::suiteJson(const SuiteResult &R) {
  json J;
  J["version"] = 1;
  J["suite"] = R.Suite;
  J["attempts"] = R.Attempts;
  J["seeds"] = R.Seeds;
  J["presets"] = R.Presets;
  J["missing"] = json::array();
  for (const MissingRun &M : R.Missing)
    J["missing"].push_back(M.Why);
  J["runs"] = json::array();
  for (const CellFigures &C : R.Cells)
    J["runs"].push_back({{"task", C.Task},
                         {"group", C.Group},
                         {"preset", C.Preset},
                         {"seed", C.Seed},
                         {"attempts", C.Attempts},
                         {"compiled", C.Compiled},
                         {"correct", C.Correct},
                         {"success", C.Success},
                         {"speedup", C.Success ? valueOf(C.Speedup) : json()},
                         {"delivered", valueOf(C.Delivered)},
                         {"modelled", C.Modelled},
                         {"device", C.Device}});
  J["groups"] = json::array();
  for (const std::string &Group : groupsOf(R)) {
    json Rows = json::array();
    for (const std::string &Preset : R.Presets)
      Rows.push_back(rowOf(summarize(Preset, cellsOf(R, Group))));
    J["groups"].push_back({{"group", Group}, {"presets", std::move(Rows)}});
  }
  J["all"] = json::array();
  for (const std::string &Preset : R.Presets)
    J["all"].push_back(rowOf(summarize(Preset, R.Cells)));
  return J.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}
