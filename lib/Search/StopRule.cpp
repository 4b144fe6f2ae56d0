//===- StopRule.cpp - When a search has found enough ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/StopRule.h"
#include "stark/Eval/Floor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stark;

namespace {
/// What the best has to become faster by to be worth a wait.
constexpr double WorthwhileGain = 1.05;
/// Of a GPU that nothing is known of: no smaller than that of any today.
constexpr double LargestL2 = double(1 << 27);
} // namespace

void Gains::add(double Speedup) {
  ++Since;
  if (Speedup < Awaited * WorthwhileGain)
    return;
  Last += Since;
  Since = 0;
  Awaited = Speedup;
}

/// What is written may stay in L2, and then moves at no copy rate.
static bool mayStayInL2(const Workload &Load, const job::Timing &T,
                        const FloorRates &Rates) {
  std::optional<double> Bytes = bytesToMove(Load, T);
  return Bytes && *Bytes < 2 * (Rates.L2Bytes > 0 ? Rates.L2Bytes : LargestL2);
}

std::optional<double> stark::leastFloorShare(const Workload &Load,
                                             const Verdict &V,
                                             llvm::StringRef SourceText) {
  if (!V.correct() || V.Modelled || V.Timings.empty())
    return std::nullopt;
  const FloorRates Rates = floorRates(V);
  bool Plain = isPlainArithmetic(SourceText);
  std::optional<double> Least;
  for (const job::Timing &T : V.Timings) {
    FloorRates OfSize = Rates;
    if (mayStayInL2(Load, T, Rates))
      OfSize.CopyGBs = 0;
    std::optional<Floor> Of = floorOf(Load, T, OfSize, Plain);
    if (!Of || !(T.MedianUs > 0))
      return std::nullopt;
    Least = std::min(Least.value_or(1e9), Of->Us / T.MedianUs);
  }
  return Least;
}

std::optional<std::string> stark::whyEnough(const Tree &Nodes,
                                            const Workload &Load,
                                            const SearchOptions &Options) {
  double Best = 1;
  Gains Found;
  for (unsigned I = 1; I < Nodes.size(); ++I) {
    const Verdict &V = Nodes.node(I).Found;
    Found.add(V.speedup());
    Best = std::max(Best, V.speedup());
    if (Options.StopAt <= 0 || V.speedup() < Best)
      continue;
    std::optional<double> Share = leastFloorShare(Load, V, Nodes.node(0).Text);
    if (Share && *Share >= Options.StopAt)
      return llvm::formatv("attempt {0} is at {1:f0} % of its floor", I,
                           100 * *Share)
          .str();
  }
  if (Found.enough(Options.Patience))
    return llvm::formatv("the last {0} attempts gained less than {1:f0} %",
                         Found.since(), 100 * (WorthwhileGain - 1))
        .str();
  return std::nullopt;
}
