//===- PolicyEpsilonGreedy.cpp - The best, or now and then another --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The paper's adapted rule (section 4.2): with probability Epsilon a leaf,
/// drawn uniformly from the eligible nodes without children, failing or not;
/// otherwise the eligible node with the lowest score, the source included. When
/// every eligible node fails, all score +infinity: then the one with the fewest
/// children is taken. Ties go to the older node.
///   The canonical rule: with probability Epsilon any node, else the best.
///
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

static std::string withEpsilon(llvm::StringRef What, double Epsilon) {
  std::string Reason;
  llvm::raw_string_ostream OS(Reason);
  OS << What << ", eps " << llvm::format("%.2f", Epsilon);
  return OS.str();
}

namespace {
class EpsilonGreedy : public Policy {
public:
  explicit EpsilonGreedy(const PolicyOptions &Options) : Options(Options) {}

  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &Draw) override {
    std::vector<unsigned> Eligible, Leaves;
    for (unsigned I = 0; I < T.size(); ++I)
      if (unsigned Flying = inFlight(Pending, I);
          eligible(T, I, Options, nullptr, Flying)) {
        Eligible.push_back(I);
        if (T.node(I).Children.empty() && !Flying)
          Leaves.push_back(I);
      }
    if (Eligible.empty())
      return std::nullopt;
    // One draw decides, whatever the tree is, so that the sequence of draws
    // is easy to follow in a journal.
    bool Explore = Draw.uniform() < Options.Epsilon;
    if (Explore && !Leaves.empty())
      return Selection{Leaves[size_t(Draw.below(Leaves.size()))],
                       withEpsilon("random leaf", Options.Epsilon)};
    unsigned Node = bestOf(T, Pending, Eligible);
    std::string Reason =
        "best of " + std::to_string(Eligible.size()) + " eligible";
    if (T.node(Node).hasBug())
      Reason += ", none correct";
    return Selection{Node, Reason};
  }

private:
  PolicyOptions Options;
};

/// No throttle, no pruning, no leaf bias: what the paper adapted.
class PlainEpsilonGreedy : public Policy {
public:
  explicit PlainEpsilonGreedy(double Epsilon) : Epsilon(Epsilon) {}

  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &Draw) override {
    std::vector<unsigned> Usable = usableNodes(T);
    if (Draw.uniform() < Epsilon)
      return Selection{Usable[size_t(Draw.below(Usable.size()))],
                       withEpsilon("random node", Epsilon)};
    return Selection{bestOf(T, Pending, Usable),
                     "best of " + std::to_string(Usable.size())};
  }

private:
  double Epsilon;
};
} // namespace

std::unique_ptr<Policy> stark::makeEpsilonGreedy(const PolicyOptions &Options) {
  return std::make_unique<EpsilonGreedy>(Options);
}

std::unique_ptr<Policy>
stark::makePlainEpsilonGreedy(const PolicyOptions &Options) {
  return std::make_unique<PlainEpsilonGreedy>(Options.Epsilon);
}
