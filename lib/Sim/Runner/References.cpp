//===- References.cpp - How far a source is off its own reference ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "References.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <cstdio>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;

/// A candidate may be as far off the reference as the source, and the source
/// could have been further off with other inputs.
static constexpr double OwnErrors = 2;

void References::add(const Job &J, unsigned Case, const std::string &How,
                     const Inputs &Reference, const Inputs &Own) {
  Computed[Case] = How;
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    if (L.Kind != LeafKind::Buffer ||
        (L.Use != Role::Output && L.Use != Role::InOut))
      continue;
    judge::Comparison Found = judge::compareLeaf(
        J, Case, I, Own.data(I), Reference.data(I), 1, /*Round=*/0);
    double &Times = Slack.try_emplace({Case, I}, 1).first->second;
    Times = std::max(Times, OwnErrors * Found.WorstError);
  }
}

double References::slack(unsigned Case, unsigned Leaf) const {
  auto Known = Slack.find({Case, Leaf});
  return Known == Slack.end() ? 1 : Known->second;
}

std::string References::notes(const Job &J) const {
  // Most cases have the same to say.
  std::map<std::string, std::string> Cases;
  for (const auto &[Case, How] : Computed)
    Cases[How] +=
        (Cases[How].empty() ? "'" : ", '") + J.Cases[Case].Label + "'";
  std::string Text;
  for (const auto &[How, Labels] : Cases)
    Text += "compared with the source computed " + How +
            (Cases.size() > 1 ? " (" + Labels + ")" : "") + "\n";
  for (const auto &[Place, Times] : Slack)
    if (Times > 1) {
      char Allowed[32];
      std::snprintf(Allowed, sizeof(Allowed), "%.2g",
                    Times * J.Leaves[Place.second].Tolerance);
      Text += "output '" + J.Leaves[Place.second].Name + "' of '" +
              J.Cases[Place.first].Label + "' may be off by " + Allowed +
              ": twice what the source is off itself\n";
    }
  return Text;
}
