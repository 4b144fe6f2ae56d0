//===- Chains.cpp - Blocks that wait for the ones before ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Chains.h"
#include <algorithm>
#include <utility>

using namespace stark::sim;

void ChainCounters::beginBlock() {
  Words += Now.Words;
  Polling += Now.Words > 0;
  Before = std::exchange(Now, {});
}

void ChainCounters::poll(const Request &R, const void *Warp) {
  SincePoll &Its = Now.Warps[Warp];
  if (Its.Word != R.Addresses[0])
    ++Now.Words;
  Its = {};
  Its.Word = R.Addresses[0];
  std::vector<uint64_t> Distinct(R.Addresses, R.Addresses + R.Count);
  std::sort(Distinct.begin(), Distinct.end());
  Distinct.erase(std::unique(Distinct.begin(), Distinct.end()), Distinct.end());
  AtOnce = std::max(AtOnce, double(Distinct.size()));
  // The first block has nobody to wait for.
  if (Before.Warps.empty())
    return;
  for (uint64_t Word : Distinct) {
    auto Found = Before.Written.find(Word);
    if (Found == Before.Written.end())
      continue;
    const std::optional<SincePoll> &Link = Found->second;
    ++(Link ? Links : Early);
    Loads += Link ? Link->Loads : 0;
    Fences += Link ? Link->Fences : 0;
  }
}

void ChainCounters::access(const Request &R, const Probe &Of,
                           const void *Warp) {
  if (Of.Polls)
    return poll(R, Warp);
  auto Its = Now.Warps.find(Warp);
  if (Of.Kind != ProbeKind::Load) {
    if (Its != Now.Warps.end() && !std::exchange(Its->second.Wrote, true)) {
      ++Steps;
      StepLoads += Its->second.Loads;
    }
    for (unsigned I = 0; I < R.Count; ++I)
      Now.Written.try_emplace(R.Addresses[I],
                              Its == Now.Warps.end()
                                  ? std::nullopt
                                  : std::optional<SincePoll>(Its->second));
  }
  if (Its != Now.Warps.end() &&
      (Of.Kind == ProbeKind::Load ||
       (Of.Kind == ProbeKind::Atomic && Of.Updates == Update::None)))
    ++Its->second.Loads;
}

void ChainCounters::fence(const void *Warp) {
  auto Its = Now.Warps.find(Warp);
  if (Its != Now.Warps.end())
    ++Its->second.Fences;
}

void ChainCounters::finish(LaunchProfile &P) const {
  double All = Polling + (Now.Words > 0);
  if (!(Links + Early > 0))
    return;
  BlocksWait &W = P.Waiting;
  if (Early > 0) {
    double Polled = (Words + Now.Words) / std::max(1.0, All);
    W.For = Polled > 1 ? BlocksWait::Tree : BlocksWait::LookBack;
    W.Loads = Steps > 0 ? StepLoads / Steps : 0;
    W.AtOnce = AtOnce;
  } else {
    W.For = BlocksWait::Chain;
    W.Loads = Loads / Links;
    W.Fences = Fences / Links;
  }
}
