//===- PolicyBeam.cpp - Level by level, the best few ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Each of the best Width correct nodes of a level gets PerNode children;
/// then the next level has its turn. Failing nodes fall out of the beam. When
/// no node of the next level is correct, this level goes on.
///
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"
#include <algorithm>

using namespace stark;

static constexpr size_t Width = 3, PerNode = 3;

namespace {
class Beam : public Policy {
public:
  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &) override {
    std::vector<std::vector<unsigned>> Levels;
    std::vector<unsigned> Depth(T.size());
    for (unsigned I = 0; I < T.size(); ++I) {
      const Node &N = T.node(I);
      if (N.Parent >= 0)
        Depth[I] = Depth[size_t(N.Parent)] + 1;
      Levels.resize(std::max<size_t>(Levels.size(), Depth[I] + 1));
      if (!N.hasBug())
        Levels[Depth[I]].push_back(I);
    }
    auto Tried = [&](unsigned I) {
      return T.node(I).Children.size() + inFlight(Pending, I);
    };
    for (size_t Level = 0;; ++Level) {
      std::vector<unsigned> &Members = Levels[Level];
      std::stable_sort(Members.begin(), Members.end(),
                       [&](unsigned A, unsigned B) {
                         return T.node(A).scoreUs() < T.node(B).scoreUs();
                       });
      Members.resize(std::min(Members.size(), Width));
      unsigned Next = *std::min_element(
          Members.begin(), Members.end(),
          [&](unsigned A, unsigned B) { return Tried(A) < Tried(B); });
      bool Deeper = Level + 1 < Levels.size() && !Levels[Level + 1].empty();
      if (Tried(Next) < PerNode || !Deeper)
        return Selection{Next, "beam of " + std::to_string(Members.size()) +
                                   " at depth " + std::to_string(Level)};
    }
  }
};
} // namespace

std::unique_ptr<Policy> stark::makeBeam(const PolicyOptions &) {
  return std::make_unique<Beam>();
}
