//===- PolicyEvolutionary.cpp - Islands with elites -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Islands take turns. The k-th child of the source and what descends from
/// it live on island k modulo Islands; the source lives on all. A turn either
/// repairs a failing leaf of the island, or holds a tournament between two of
/// the island's elite, its best correct nodes. On every tenth turn the best
/// node of all visits. Mutation is what an agent does to the parent, and what
/// it is shown of other nodes is the only crossover; nothing dies, so the best
/// is never lost.
///
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"
#include <algorithm>

using namespace stark;

static constexpr unsigned Islands = 3, Elite = 4, VisitEvery = 10;
static constexpr double RepairShare = 0.25;

/// Of a node other than the source.
static unsigned islandOf(const Tree &T, unsigned Number) {
  while (T.node(Number).Parent > 0)
    Number = unsigned(T.node(Number).Parent);
  const std::vector<unsigned> &First = T.node(0).Children;
  return unsigned(std::find(First.begin(), First.end(), Number) -
                  First.begin()) %
         Islands;
}

namespace {
class Evolutionary : public Policy {
public:
  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &Draw) override {
    unsigned Turn = unsigned(T.size()) - 1 + inFlight(Pending);
    unsigned Island = Turn % Islands;
    std::string Where = "island " + std::to_string(Island + 1);
    std::vector<unsigned> Pool = {0}, Failing, Correct = {0};
    for (unsigned I = 1; I < T.size(); ++I) {
      if (!usable(T, I))
        continue;
      bool Here = islandOf(T, I) == Island;
      if (!T.node(I).hasBug())
        Correct.push_back(I);
      if (Here && !T.node(I).hasBug())
        Pool.push_back(I);
      else if (Here && T.node(I).Children.empty() && !inFlight(Pending, I))
        Failing.push_back(I);
    }
    if (Draw.uniform() < RepairShare && !Failing.empty())
      return Selection{Failing[size_t(Draw.below(Failing.size()))],
                       Where + ", repair"};
    std::stable_sort(Pool.begin(), Pool.end(), [&](unsigned A, unsigned B) {
      return T.node(A).scoreUs() < T.node(B).scoreUs();
    });
    Pool.resize(std::min<size_t>(Pool.size(), Elite));
    if (Turn % VisitEvery == VisitEvery - 1) {
      unsigned Guest = bestOf(T, {}, Correct);
      if (!llvm::is_contained(Pool, Guest))
        Pool.push_back(Guest);
    }
    std::vector<unsigned> Two;
    for (size_t I : Draw.sample(Pool.size(), std::min<size_t>(Pool.size(), 2)))
      Two.push_back(Pool[I]);
    std::sort(Two.begin(), Two.end());
    return Selection{bestOf(T, Pending, Two), Where + ", tournament among " +
                                                  std::to_string(Pool.size())};
  }
};
} // namespace

std::unique_ptr<Policy> stark::makeEvolutionary(const PolicyOptions &) {
  return std::make_unique<Evolutionary>();
}
