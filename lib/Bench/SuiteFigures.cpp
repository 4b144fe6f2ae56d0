//===- SuiteFigures.cpp - What a run came to, and many --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include <algorithm>
#include <map>

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
    if (!V.correct() || Run.Nodes.node(I).SameAs == 0)
      continue;
    F.Success = true;
    F.Speedup = std::max(F.Speedup, V.speedup());
  }
  if (!Run.End || Run.End->Winner < 0)
    return F;
  unsigned Winner = unsigned(Run.End->Winner);
  F.Speedup = Run.Nodes.node(Winner).Found.speedup();
  for (const VerdictEvent &E : Run.Confirmations)
    if (E.Node == Winner)
      F.Speedup = E.Found.speedup();
  F.Delivered = F.Speedup;
  return F;
}

PresetFigures stark::summarize(llvm::StringRef Preset,
                               const std::vector<CellFigures> &Cells) {
  PresetFigures F;
  F.Preset = Preset.str();
  std::vector<double> Speeds, Kept;
  std::map<std::string, std::vector<double>> ByTask;
  for (const CellFigures &C : Cells) {
    if (C.Preset != Preset)
      continue;
    ++F.Cells;
    F.Attempts += C.Attempts;
    F.Compiled += C.Compiled;
    F.Correct += C.Correct;
    Kept.push_back(C.Delivered);
    if (!C.Success || C.Speedup <= 0)
      continue;
    ++F.Successes;
    F.Fast1 += C.Speedup >= 1;
    Speeds.push_back(C.Speedup);
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
  return F;
}
