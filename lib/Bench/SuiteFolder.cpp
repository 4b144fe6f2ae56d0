//===- SuiteFolder.cpp - tables.json, read back; CSV ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/SuitePage.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static constexpr char TablesFile[] = "/tables.json";

static bool isFolderName(llvm::StringRef Name) {
  return !Name.empty() && Name.size() <= 100 && !Name.starts_with(".") &&
         llvm::all_of(Name, [](char C) {
           return llvm::isAlnum(C) || llvm::StringRef("_-.+").contains(C);
         });
}

namespace stark {
/// What SuiteJson.cpp writes of a run; what is not known is left out by now.
template <class IO> static void fields(IO &F, CellFigures &C) {
  F.required("task", C.Task);
  F.required("preset", C.Preset);
  F.required("seed", C.Seed);
  F.optional("group", C.Group);
  F.optional("attempts", C.Attempts);
  F.optional("compiled", C.Compiled);
  F.optional("correct", C.Correct);
  F.optional("success", C.Success);
  F.optional("speedup", C.Speedup);
  F.optional("delivered", C.Delivered);
  F.optional("modelled", C.Modelled);
  F.optional("device", C.Device);
  F.optional("median_us", C.MedianUs);
  F.optional("floor_share", C.FloorShare);
  F.optional("baselines_us", C.BaselineUs);
  F.optional("success_as_shipped", C.SuccessAsShipped);
  F.check(isFolderName(C.Task), "task", "letters, digits, '_', '.' and '-'");
  F.check(isFolderName(C.Preset), "preset",
          "letters, digits, '_', '.', '-' and '+'");
}

template <class IO> static void fields(IO &F, SuiteResult &R) {
  std::vector<std::string> Missing;
  F.format("version", 1);
  F.required("suite", R.Suite);
  F.required("attempts", R.Attempts);
  F.required("seeds", R.Seeds);
  F.required("presets", R.Presets);
  F.optional("missing", Missing);
  F.required("runs", R.Cells);
  for (std::string &Why : Missing)
    R.Missing.push_back({std::move(Why), /*Suspended=*/false});
}
} // namespace stark

/// What is null is not known, and is left out.
static void dropNulls(json &J) {
  if (J.is_object())
    for (auto I = J.begin(); I != J.end();)
      I = I->is_null() ? J.erase(I) : std::next(I);
  if (J.is_structured())
    for (json &Each : J)
      dropNulls(Each);
}

bool stark::isSuiteFolder(llvm::StringRef Folder) {
  return llvm::sys::fs::exists(Folder + TablesFile);
}

llvm::Expected<SuiteResult> stark::readSuiteFolder(llvm::StringRef Folder) {
  std::string File = (Folder + TablesFile).str();
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  json J = json::parse(*Text, nullptr, false);
  if (J.is_discarded())
    return failed("'" + File + "' is no JSON; wanted what `bench` writes");
  SuiteResult R;
  if (J.is_object()) {
    // The tables are made of the runs again.
    J.erase("groups");
    J.erase("all");
  }
  dropNulls(J);
  if (std::string Problem = readKnownFields(J, File, "", R); !Problem.empty())
    return failed(Problem);
  return R;
}

std::string stark::runPathOf(const CellFigures &C) {
  return C.Task + "/" + C.Preset + "/seed-" + std::to_string(C.Seed);
}

/// In quotes where it has to be. A cell that a spreadsheet would take for a
/// formula begins with an apostrophe.
static std::string csvCell(llvm::StringRef Text) {
  std::string Cell = Text.str();
  if (!Text.empty() && llvm::StringRef("=+-@\t\r").contains(Text.front()))
    Cell.insert(0, "'");
  if (Cell.find_first_of(",\"\r\n") == std::string::npos)
    return Cell;
  std::string Quoted = "\"";
  for (char C : Cell)
    Quoted += C == '"' ? std::string("\"\"") : std::string(1, C);
  return Quoted + "\"";
}

static std::string csvNumber(double Value, bool Known) {
  if (!Known || !std::isfinite(Value))
    return "";
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.6g", Value);
  return Text;
}

void stark::printSuiteCsv(const SuiteResult &R, llvm::raw_ostream &OS) {
  std::vector<std::string> Baselines = baselinesOf(R.Cells);
  OS << "task,group,preset,seed,attempts,compiled,correct,success,speedup,"
        "delivered,median_us,floor_share,modelled,device";
  for (const std::string &B : Baselines)
    OS << "," << csvCell(B + "_us");
  OS << "\r\n";
  for (const CellFigures &C : R.Cells) {
    OS << csvCell(C.Task) << "," << csvCell(C.Group) << "," << csvCell(C.Preset)
       << "," << C.Seed << "," << C.Attempts << "," << C.Compiled << ","
       << C.Correct << "," << (C.Success ? 1 : 0) << ","
       << csvNumber(C.Speedup, C.Success) << "," << csvNumber(C.Delivered, true)
       << "," << csvNumber(C.MedianUs, C.MedianUs > 0) << ","
       << csvNumber(C.FloorShare, C.FloorShare > 0) << ","
       << (C.Modelled ? 1 : 0) << "," << csvCell(C.Device);
    for (const std::string &B : Baselines) {
      auto Known = C.BaselineUs.find(B);
      OS << ","
         << (Known == C.BaselineUs.end() ? "" : csvNumber(Known->second, true));
    }
    OS << "\r\n";
  }
}
