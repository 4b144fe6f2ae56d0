//===- StopRule.cpp - When a search has found enough ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/StopRule.h"
#include "stark/Task/Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stark;

namespace {
/// What the best has to become faster by to be worth a wait.
constexpr double WorthwhileGain = 1.05;
} // namespace

void Gains::add(double Speedup) {
  ++Since;
  if (Speedup < Awaited * WorthwhileGain)
    return;
  Last += Since;
  Since = 0;
  Awaited = Speedup;
}

std::optional<double> stark::leastFloorShare(const Workload &Load,
                                             const Verdict &V) {
  if (!V.correct() || V.Modelled || V.CopyGBs <= 0 || Load.Bytes.empty() ||
      V.Timings.empty())
    return std::nullopt;
  double Least = 1e9;
  for (const job::Timing &T : V.Timings) {
    auto Of = llvm::find_if(
        Load.Sizes, [&](const Size &S) { return S.label() == T.Label; });
    if (Of == Load.Sizes.end() || !(T.MedianUs > 0))
      return std::nullopt;
    llvm::Expected<double> Bytes = evaluateReal(Load.Bytes, Of->Names);
    if (!Bytes) {
      llvm::consumeError(Bytes.takeError());
      return std::nullopt;
    }
    Least = std::min(Least, *Bytes / V.CopyGBs * 1e-3 / T.MedianUs);
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
    std::optional<double> Share =
        Options.StopAt > 0 ? leastFloorShare(Load, V) : std::nullopt;
    if (Share && *Share >= Options.StopAt && V.speedup() >= Best)
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
