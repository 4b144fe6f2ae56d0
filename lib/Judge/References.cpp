//===- References.cpp - How far a source is off its own reference ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/References.h"
#include <algorithm>
#include <cstdio>

using namespace stark;
using namespace stark::judge;
using namespace stark::job;

/// Times what the source is off.
static constexpr double OwnErrors = 2;

void References::compare(const Job &J, const Trial &T, const OutputOf &Own,
                         const OutputOf &OfReference) {
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    if (!isOutput(J.Leaves[I]))
      continue;
    add(T.Case, I,
        compareLeaf(J, T.Case, I, Own(I), OfReference(I), 1, T.Round)
            .WorstError);
  }
}

void References::add(unsigned Case, unsigned Leaf, double WorstError) {
  double &Times = Slack.try_emplace({Case, Leaf}, 1).first->second;
  Times = std::max(Times, OwnErrors * WorstError);
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
  struct Widened {
    unsigned Cases = 0, Worst = 0;
    double Times = 0;
  };
  std::map<unsigned, Widened> Outputs;
  for (const auto &[Place, Times] : Slack) {
    // What pointers are allowed more is told where it matters.
    if (Times <= (Computed.empty() ? 2 : 1))
      continue;
    Widened &Of = Outputs[Place.second];
    ++Of.Cases;
    if (Times > Of.Times) {
      Of.Times = Times;
      Of.Worst = Place.first;
    }
  }
  for (const auto &[Leaf, Of] : Outputs) {
    char Allowed[32];
    std::snprintf(Allowed, sizeof(Allowed), "%.2g",
                  Of.Times * J.Leaves[Leaf].Tolerance);
    Text += "the tolerance of output '" + J.Leaves[Leaf].Name +
            "' is widened to " + Allowed + " for '" + J.Cases[Of.Worst].Label +
            "'" +
            (Of.Cases > 1
                 ? ", and to less for " + std::to_string(Of.Cases - 1) + " more"
                 : "") +
            (Computed.empty() ? ": twice what the source moves by when its "
                                "inputs move in their last place\n"
                              : ": twice what the source is off itself\n");
  }
  return Text;
}
