//===- PolicyMcts.cpp - UCT over the tree ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   From the root down (Kocsis and Szepesvari, 2006): a node that has room
/// for another child is taken; otherwise its child with the largest
///
///     mean reward of the child's subtree + c sqrt(ln visits / child's visits)
///
/// is gone to. The reward of a correct node is best score / its score, so that
/// it lies in (0, 1] whatever the task; of a failing one 0. The visits of a
/// node are the nodes of its subtree and what is in flight there, which counts
/// as failing until it is known. A refinement is never the same twice, so a
/// node never has all of its children: it has room for 1 + floor(sqrt(visits)),
/// as in progressive widening (Coulom, 2007).
///
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace stark;

static constexpr double Exploration = 1.4142135623730951;

namespace {
class Mcts : public Policy {
public:
  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &) override {
    std::vector<double> Visits(T.size()), Reward(T.size());
    double Best = std::numeric_limits<double>::infinity();
    for (unsigned I = 0; I < T.size(); ++I)
      Best = std::min(Best, T.node(I).scoreUs());
    // Children are younger than their parents.
    for (unsigned I = unsigned(T.size()); I-- > 0;) {
      const Node &N = T.node(I);
      Visits[I] += 1 + inFlight(Pending, I);
      if (!N.hasBug())
        Reward[I] += Best / N.scoreUs();
      if (N.Parent >= 0) {
        Visits[size_t(N.Parent)] += Visits[I];
        Reward[size_t(N.Parent)] += Reward[I];
      }
    }
    unsigned Here = 0, Depth = 0;
    while (true) {
      const Node &N = T.node(Here);
      double Room = 1 + std::floor(std::sqrt(Visits[Here]));
      if (double(N.Children.size() + inFlight(Pending, Here)) < Room)
        break;
      int Next = -1;
      double Most = -1;
      for (unsigned C : N.Children) {
        if (!usable(T, C))
          continue;
        double Value =
            Reward[C] / Visits[C] +
            Exploration * std::sqrt(std::log(Visits[Here]) / Visits[C]);
        if (Value > Most) {
          Most = Value;
          Next = int(C);
        }
      }
      // No child can be gone on from: another one, then.
      if (Next < 0)
        break;
      Here = unsigned(Next);
      ++Depth;
    }
    std::string Reason;
    llvm::raw_string_ostream(Reason)
        << "uct, depth " << Depth << ", "
        << llvm::format("%.0f visits, mean reward %.2f", Visits[Here],
                        Reward[Here] / Visits[Here]);
    return Selection{Here, Reason};
  }
};
} // namespace

std::unique_ptr<Policy> stark::makeMcts(const PolicyOptions &) {
  return std::make_unique<Mcts>();
}
