//===- ReportJson.cpp - A report as JSON ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportJson.h"
#include "Figures.h"
#include "RunFloors.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static json printTimings(const RecordedRun &Run, const Verdict &V) {
  std::vector<std::optional<Floor>> Floors = runFloors(Run, V);
  json All = json::array();
  for (size_t I = 0; I < V.Timings.size(); ++I) {
    const job::Timing &T = V.Timings[I];
    All.push_back({{"size", T.Label},
                   {"samples", T.Samples},
                   {"source_us", T.SourceMedianUs},
                   {"source_iqr_us", T.SourceIqrUs},
                   {"median_us", T.MedianUs},
                   {"iqr_us", T.IqrUs},
                   {"speedup", T.Speedup},
                   {"speedup_low", T.SpeedupLow},
                   {"speedup_high", T.SpeedupHigh}});
    if (!Floors.empty() && Floors[I]) {
      All.back()["floor_us"] = Floors[I]->Us;
      All.back()["floor_of"] = nameOf(Floors[I]->Of);
    }
  }
  return All;
}

/// What is not known is left out.
static void printCalls(const CallFigures &C, json &J) {
  J["calls"] = C.Calls;
  if (C.WithoutUsage == 0) {
    J["input_tokens"] = C.Input;
    J["cached_tokens"] = C.Cached;
    J["output_tokens"] = C.Output;
  }
  if (const DiscardedAnswers &D = C.Discarded; D.Answers)
    J["discarded"] = {{"answers", D.Answers},
                      {"input_tokens", D.Input},
                      {"output_tokens", D.Output},
                      {"estimated", D.Estimated}};
  if (C.CostKnown && (C.Calls || C.Discarded.Answers))
    J["cost_micro_usd"] = C.CostMicroUsd;
}

void stark::printReportJson(const RecordedRun &Run, llvm::raw_ostream &OS) {
  Figures F = countFigures(Run);
  json J;
  J["version"] = 1;
  J["task"] = Run.Identity.TaskName;
  J["entry"] = Run.Identity.Entry;
  J["provider"] = Run.Identity.Provider;
  J["models"] = F.Models;
  J["evaluator"] = Run.Identity.Evaluator;
  J["arch"] = Run.Identity.Arch;
  J["device"] = devicesOf(Run);
  J["ended"] = Run.End ? json(Run.End->Ended.Why) : json(nullptr);
  J["winner"] = F.Winner < 0 ? json(nullptr) : json(F.Winner);
  printCalls(F.Calls, J);
  J["roles"] = json::object();
  for (const auto &[Role, Calls] : F.Roles)
    printCalls(Calls, J["roles"][Role]);
  J["verdicts"] = json::object();
  for (const auto &[Kind, Count] : F.Counts)
    J["verdicts"][verdictName(Kind).str()] = Count;
  J["nodes"] = json::array();
  for (unsigned I = 0; I < Run.Nodes.size(); ++I) {
    const Node &N = Run.Nodes.node(I);
    json Row = {{"node", I},
                {"parent", N.Parent},
                {"from_debug", N.FromDebug},
                {"same_as", N.SameAs},
                {"verdict", verdictName(N.Found.Kind).str()},
                {"title", N.Given.Title}};
    if (N.Tuned)
      Row["tuned"] = true;
    if (N.Found.Counted && !N.Found.Counted->Text.empty())
      Row["profile"] = N.Found.Counted->Text;
    if (std::isfinite(N.scoreUs())) {
      Row["score_us"] = N.scoreUs();
      Row["speedup"] = N.Found.speedup();
      Row["speedup_low"] = N.Found.speedupLow();
    }
    J["nodes"].push_back(std::move(Row));
  }
  if (F.WinnerFound) {
    J["confirmed"] = F.Confirmed;
    J["modelled"] = F.WinnerFound->Modelled;
    J["speedup"] = F.WinnerFound->speedup();
    J["speedup_low"] = F.WinnerFound->speedupLow();
    J["timings"] = printTimings(Run, *F.WinnerFound);
  }
  OS << J.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
}
