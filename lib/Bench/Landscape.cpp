//===- Landscape.cpp - Search without a model -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Landscape.h"
#include <algorithm>
#include <cmath>

using namespace stark;

namespace {
/// Draws that are a function of a key: splitmix64.
class KeyedDraw {
public:
  explicit KeyedDraw(uint64_t Key) : State(Key) {}
  uint64_t next() {
    State += 0x9e3779b97f4a7c15;
    uint64_t Z = State;
    Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
    Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
    return Z ^ (Z >> 31);
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// As a sum of uniform draws, which no mathematics library changes.
  double normal() {
    double Sum = -6;
    for (int I = 0; I < 12; ++I)
      Sum += uniform();
    return Sum;
  }
  double exponential(double Mean) { return -Mean * std::log(1 - uniform()); }

private:
  uint64_t State;
};

/// What is not seen of a node.
struct Hidden {
  uint64_t Key = 0;
  double Speed = 0;   ///< that it has, or would have if it were repaired
  double Ceiling = 0; ///< that its approach can reach
  unsigned Depth = 0, FailedRepairs = 0;
};
} // namespace

static Hidden draw(const LandscapeOptions &O, const Hidden &Parent,
                   double FirstMean, KeyedDraw &Draw) {
  Hidden H;
  H.Depth = Parent.Depth + 1;
  if (Parent.Depth == 0) {
    H.Speed = FirstMean + O.FirstDeviation * Draw.normal();
    H.Ceiling = H.Speed + O.HeadroomMedian *
                              std::exp(O.HeadroomDeviation * Draw.normal());
    return H;
  }
  H.Ceiling = Parent.Ceiling;
  bool Slower = Draw.uniform() < O.Regress;
  double Loss = Draw.exponential(O.RegressMean), Share = Draw.uniform();
  bool Opens = Draw.uniform() < O.Breakthrough;
  double Opened = Draw.exponential(O.BreakthroughMean);
  if (Opens)
    H.Ceiling += Opened;
  H.Speed = Slower ? Parent.Speed - Loss
                   : Parent.Speed + Share * Share * (H.Ceiling - Parent.Speed);
  return H;
}

static Verdict verdictOf(VerdictKind Kind, double Speed) {
  Verdict V;
  V.Kind = Kind;
  if (Kind != VerdictKind::Correct)
    return V;
  job::Timing T;
  T.SourceMedianUs = 100;
  T.MedianUs = 100 / std::exp(Speed);
  T.Speedup = T.SpeedupLow = T.SpeedupHigh = std::exp(Speed);
  V.Timings.push_back(T);
  return V;
}

LandscapeRun stark::runLandscape(const LandscapeOptions &O, uint64_t TaskSeed,
                                 Policy &P, unsigned Attempts) {
  KeyedDraw OfTask(TaskSeed);
  double Odds =
      std::log(O.Correct / (1 - O.Correct)) + O.TaskDeviation * OfTask.normal();
  double Correct = 1 / (1 + std::exp(-Odds));
  double FirstMean = O.FirstMean + O.FirstTaskDeviation * OfTask.normal();
  double CompilesIfWrong = (O.Compiles - O.Correct) / (1 - O.Correct);

  LandscapeRun Run;
  std::vector<Hidden> Unseen(1);
  Unseen[0].Key = OfTask.next();
  Node Source;
  Source.Found = verdictOf(VerdictKind::Correct, 0);
  Run.T.add(std::move(Source));
  Random Draw(TaskSeed);
  double Best = 0;
  while (Run.BestSoFar.size() < Attempts) {
    std::optional<Selection> S = P.select(Run.T, {}, Draw);
    if (!S)
      break;
    const Node &Parent = Run.T.node(S->Node);
    const Hidden Above = Unseen[S->Node];
    KeyedDraw Luck(Above.Key + 0x632be59bd9b4e019 * Parent.Children.size());
    Hidden H;
    double Chance;
    if (Parent.hasBug()) {
      H = Above;
      Chance = O.Repairs * std::pow(O.RepairAgain, Above.FailedRepairs);
    } else {
      H = draw(O, Above, FirstMean, Luck);
      Chance = Correct * std::pow(O.Deeper, H.Depth - 1);
    }
    bool Right = Luck.uniform() < Chance;
    bool Compiles = Right || Luck.uniform() < CompilesIfWrong;
    H.FailedRepairs = Parent.hasBug() && !Right ? Above.FailedRepairs + 1 : 0;
    H.Key = Luck.next();
    Node N;
    N.Parent = int(S->Node);
    N.FromDebug = Parent.hasBug();
    N.Found = verdictOf(Right      ? VerdictKind::Correct
                        : Compiles ? VerdictKind::Wrong
                                   : VerdictKind::NotCompiled,
                        H.Speed);
    Run.Compiled += Compiles;
    Run.Correct += Right;
    if (Right)
      Best = std::max(Best, N.Found.speedup());
    Run.T.add(std::move(N));
    Unseen.push_back(H);
    Run.BestSoFar.push_back(Best);
  }
  return Run;
}

std::vector<LandscapeOptions> stark::standardLandscapes() {
  // Rates and speeds are fitted so that the default policy compiles and is
  // correct as often as the paper's table 2 says of STARK, that sampling is as
  // often as fast as the source as table 1 says, and that both end near its
  // speeds; docs/bench.md compares them.
  std::vector<LandscapeOptions> All(6);
  All[0].Name = "level-1";
  All[0].Compiles = 0.865;
  All[0].Correct = 0.57;
  All[0].FirstMean = -0.92;
  All[0].HeadroomMedian = 1.2;
  All[1].Name = "level-2";
  All[2].Name = "level-3";
  All[2].Compiles = 0.85;
  All[2].Correct = 0.365;
  All[2].FirstMean = -0.55;
  All[2].HeadroomMedian = 0.55;
  All[3].Name = "little-root-dominance";
  All[3].FirstMean = -0.1;
  All[4].Name = "little-headroom";
  All[4].HeadroomMedian = 0.2;
  All[5].Name = "poor-repairs";
  All[5].Repairs = 0.05;
  return All;
}
