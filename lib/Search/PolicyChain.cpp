//===- PolicyChain.cpp - Independent samples, and one chain ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What the paper's section 4.2 compares tree search with: best-of-K, which
/// begins anew each time, and iterative refinement, which goes on from the
/// newest attempt.
///
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"

using namespace stark;

namespace {
class BestOfK : public Policy {
public:
  explicit BestOfK(unsigned Repairs) : Repairs(Repairs) {}

  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &) override {
    for (unsigned I = 1; I < T.size(); ++I)
      if (T.node(I).hasBug() && usable(T, I) && T.node(I).Children.empty() &&
          !inFlight(Pending, I))
        if (unsigned Made = repairsBefore(T, I); Made < Repairs)
          return Selection{I, "repair " + std::to_string(Made + 1) + " of " +
                                  std::to_string(Repairs)};
    return Selection{0, "a sample from the source"};
  }

private:
  static unsigned repairsBefore(const Tree &T, unsigned Number) {
    unsigned Made = 0;
    for (int I = T.node(Number).Parent; I > 0; I = T.node(unsigned(I)).Parent)
      ++Made;
    return Made;
  }

  unsigned Repairs;
};

/// A chain has one end: while that grows, there is nothing to select.
class Iterative : public Policy {
public:
  explicit Iterative(bool FromCorrect) : FromCorrect(FromCorrect) {}

  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &) override {
    if (!Pending.empty())
      return std::nullopt;
    for (unsigned I = unsigned(T.size()); I-- > 1;)
      if (FromCorrect ? !T.node(I).hasBug() : usable(T, I))
        return Selection{I, FromCorrect ? "newest correct" : "newest"};
    return Selection{0, "the source"};
  }

private:
  bool FromCorrect;
};
} // namespace

std::unique_ptr<Policy> stark::makeBestOfK(const PolicyOptions &Options) {
  return std::make_unique<BestOfK>(Options.Repairs);
}

std::unique_ptr<Policy> stark::makeIterative(const PolicyOptions &) {
  return std::make_unique<Iterative>(/*FromCorrect=*/false);
}

std::unique_ptr<Policy> stark::makeIterativeCorrect(const PolicyOptions &) {
  return std::make_unique<Iterative>(/*FromCorrect=*/true);
}
