//===- SuiteFigures.cpp - What a run came to, and many --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

using namespace stark;

/// Whether the compiler was asked about a candidate and took it. What the
/// search itself turned down before is no compiled candidate.
bool stark::compiledVerdict(VerdictKind K) {
  switch (K) {
  case VerdictKind::Crashed:
  case VerdictKind::TimedOut:
  case VerdictKind::Wrong:
  case VerdictKind::Unstable:
  case VerdictKind::Correct:
    return true;
  case VerdictKind::NotCompiled:
  case VerdictKind::ContractBroken:
  case VerdictKind::Forbidden:
  case VerdictKind::Ungrounded:
  case VerdictKind::Unsupported:
  case VerdictKind::NoCandidate:
    return false;
  }
  return false;
}

static void takeSpeed(const Verdict &V, CellFigures &F) {
  F.Speedup = V.speedup();
  F.MedianUs = std::isfinite(V.scoreUs()) ? V.scoreUs() : 0;
  // A run may go on where another GPU judges.
  if (!V.Device.empty())
    F.Device = V.Device;
}

CellFigures stark::figuresOf(const RecordedRun &Run) {
  CellFigures F;
  F.Seed = Run.Identity.Options.Seed;
  F.Device = Run.Identity.Device;
  for (unsigned I = 0; I < Run.Nodes.size(); ++I) {
    const Verdict &V = Run.Nodes.node(I).Found;
    F.Modelled |= V.Modelled;
    if (I == 0)
      continue;
    ++F.Attempts;
    F.Compiled += compiledVerdict(V.Kind);
    F.Correct += V.correct();
    // The source's own tokens are no kernel that an agent made.
    if (Run.Nodes.node(I).SameAs == 0)
      continue;
    if (V.RightAsShipped)
      F.SuccessAsShipped = true;
    if (!V.correct())
      continue;
    F.Success = true;
    if (V.speedup() > F.Speedup)
      takeSpeed(V, F);
  }
  if (!Run.End || Run.End->Winner < 0)
    return F;
  unsigned Winner = unsigned(Run.End->Winner);
  takeSpeed(Run.Nodes.node(Winner).Found, F);
  for (const VerdictEvent &E : Run.Confirmations)
    if (E.Node == Winner)
      takeSpeed(E.Found, F);
  F.Delivered = F.Speedup;
  return F;
}

void stark::compareWith(const SuiteTask &Of,
                        const std::vector<torch::BaselineTime> &Times,
                        CellFigures &F) {
  if (F.Modelled)
    return;
  double CopyGBs = 0;
  for (const torch::BaselineTime &T : Times) {
    if (T.Gpu != F.Device)
      continue;
    if (T.CopyGBs > 0)
      CopyGBs = T.CopyGBs;
    if (!Of.Digest.empty() && T.Digest == Of.Digest)
      F.BaselineUs[T.Variant] = T.MedianUs;
  }
  if (!F.BaselineUs.empty())
    F.BaselineUs[FastestBaseline] =
        std::ranges::min(std::views::values(F.BaselineUs));
  if (F.Success && CopyGBs > 0 && F.MedianUs > 0)
    F.FloorShare = double(Of.Bytes) / (CopyGBs * 1e3) / F.MedianUs;
}

std::vector<CellFigures>
stark::overBaseline(const std::string &Variant,
                    const std::vector<CellFigures> &Cells) {
  std::vector<CellFigures> Over;
  for (const CellFigures &C : Cells) {
    auto Known = C.BaselineUs.find(Variant);
    if (Known == C.BaselineUs.end())
      continue;
    CellFigures F = C;
    F.Speedup = F.Success && F.MedianUs > 0 ? Known->second / F.MedianUs : 0;
    Over.push_back(std::move(F));
  }
  return Over;
}

std::vector<std::string>
stark::baselinesOf(const std::vector<CellFigures> &Cells) {
  std::set<std::string> Seen;
  for (const CellFigures &C : Cells)
    for (const auto &[Variant, Us] : C.BaselineUs)
      Seen.insert(Variant);
  std::vector<std::string> Order;
  for (const char *First : {"eager", "compile", "max-autotune"})
    if (Seen.erase(First))
      Order.push_back(First);
  bool Fastest = Seen.erase(FastestBaseline);
  Order.insert(Order.end(), Seen.begin(), Seen.end());
  if (Fastest)
    Order.push_back(FastestBaseline);
  return Order;
}

PresetFigures stark::summarize(llvm::StringRef Preset,
                               const std::vector<CellFigures> &Cells) {
  PresetFigures F;
  F.Preset = Preset.str();
  std::vector<double> Speeds, Kept, Floors;
  std::map<std::string, std::vector<double>> ByTask;
  for (const CellFigures &C : Cells) {
    if (C.Preset != Preset)
      continue;
    ++F.Cells;
    F.Attempts += C.Attempts;
    F.Compiled += C.Compiled;
    F.Correct += C.Correct;
    Kept.push_back(C.Delivered);
    F.ToldAsShipped += C.SuccessAsShipped.has_value();
    F.SuccessesAsShipped += C.SuccessAsShipped.value_or(C.Success);
    if (!C.Success || C.Speedup <= 0)
      continue;
    ++F.Successes;
    F.Fast1 += C.Speedup >= 1;
    Speeds.push_back(C.Speedup);
    if (C.FloorShare > 0)
      Floors.push_back(C.FloorShare);
    ByTask[C.Task].push_back(C.Speedup);
  }
  std::vector<std::vector<double>> Groups;
  for (auto &[Task, Values] : ByTask)
    Groups.push_back(std::move(Values));
  F.Mean = mean(Speeds);
  F.Median = median(Speeds);
  F.GeometricMean = geometricMean(Speeds);
  F.Spread = bootstrapGeometricMean(Groups);
  F.Delivered = geometricMean(Kept);
  F.FloorShare = median(Floors);
  return F;
}
