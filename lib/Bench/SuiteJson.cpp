//===- SuiteJson.cpp - tables.json ----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static json valueOf(double Value) {
  if (!std::isfinite(Value))
    return nullptr;
  return std::round(Value * 1e6) / 1e6;
}

/// 0 stands for what is not known.
static json knownOf(double Value) {
  return Value > 0 ? valueOf(Value) : json();
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
          {"delivered", valueOf(F.Delivered)},
          {"floor_share", valueOf(F.FloorShare)},
          {"successes_as_shipped",
           F.ToldAsShipped ? json(F.SuccessesAsShipped) : json()}};
}

/// The rows of \p Cells, each with one for every baseline.
static json rowsOf(const SuiteResult &R,
                   const std::vector<CellFigures> &Cells) {
  json Rows = json::array();
  for (const std::string &Preset : R.Presets) {
    json Row = rowOf(summarize(Preset, Cells));
    Row["over"] = json::object();
    for (const std::string &Variant : baselinesOf(Cells)) {
      PresetFigures F = summarize(Preset, overBaseline(Variant, Cells));
      Row["over"][Variant] = {{"runs", F.Cells},
                              {"successes", F.Successes},
                              {"fast1", F.Fast1},
                              {"mean", valueOf(F.Mean)},
                              {"median", valueOf(F.Median)},
                              {"geometric_mean", valueOf(F.GeometricMean)},
                              {"low", valueOf(F.Spread.Low)},
                              {"high", valueOf(F.Spread.High)}};
    }
    Rows.push_back(std::move(Row));
  }
  return Rows;
}

static json runOf(const CellFigures &C) {
  json Baselines = json::object();
  for (const auto &[Variant, Us] : C.BaselineUs)
    Baselines[Variant] = valueOf(Us);
  return {{"task", C.Task},
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
          {"device", C.Device},
          {"median_us", knownOf(C.MedianUs)},
          {"floor_share", knownOf(C.FloorShare)},
          {"baselines_us", std::move(Baselines)},
          {"success_as_shipped",
           C.SuccessAsShipped ? json(*C.SuccessAsShipped) : json()}};
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
    J["runs"].push_back(runOf(C));
  J["groups"] = json::array();
  for (const std::string &Group : groupsOf(R))
    J["groups"].push_back(
        {{"group", Group}, {"presets", rowsOf(R, cellsOf(R, Group))}});
  J["all"] = rowsOf(R, R.Cells);
  return J.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}
