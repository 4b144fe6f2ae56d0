//===- Degenerate.cpp - Cases that prove little ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the source's outputs for two inputs -> what a wrong candidate would pass
/// with
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Compare.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <cmath>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

/// What PyTorch's allclose() lets any element be off in KernelBench's check.
static constexpr double TinyOutput = 1e-4;
/// Of an output's own size: more than that in rounding, and it says little.
static constexpr double MuchRounding = 0.05;

static std::string number(double Value) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.3g", Value);
  return Text;
}

Portrait judge::portrait(const Job &J, unsigned Case, unsigned Leaf,
                         const void *Data, const void *Other, double Slack) {
  uint64_t Count = J.Cases[Case].Values[Leaf].elements();
  return {extremes(J.Leaves[Leaf].Type, Data, Count),
          Other && compareLeaf(J, Case, Leaf, Other, Data, Slack, 0).ok()};
}

static bool areZeros(const Extremes &E) {
  return E.AllFinite && E.Least == 0 && E.Greatest == 0;
}

bool judge::provesNothing(const Job &J, unsigned Case, const Portraits &Of) {
  for (unsigned I = 0; I < J.Leaves.size(); ++I)
    if (isOutput(J.Leaves[I]) && J.Cases[Case].Values[I].elements() &&
        (!Of[I] || !(Of[I]->AnothersPasses || areZeros(Of[I]->Values))))
      return false;
  return true;
}

std::string judge::degeneracies(const Job &J, unsigned CaseIndex,
                                const Portraits &Of, const SlackOf &Slack) {
  const Case &C = J.Cases[CaseIndex];
  std::string Text;
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    // What is only changed, as a count of calls, need not follow the input.
    const Leaf &L = J.Leaves[I];
    uint64_t Count = C.Values[I].elements();
    if (!isOutput(L) || L.Use != Role::Output || !Of[I] || Count == 0)
      continue;
    auto Say = [&](const std::string &What) {
      Text += "degenerate (" + C.Label + "): output '" + L.Name + "' " + What +
              "\n";
    };
    const Extremes &E = Of[I]->Values;
    double Size = std::max(std::fabs(E.Least), std::fabs(E.Greatest));
    if (Count > 1 && E.Greatest - E.Least <= 2 * L.Tolerance * Size)
      Say("is constant: every element is about " + number(E.Greatest));
    else if (!isWhole(L.Type) && Size <= TinyOutput)
      Say("is nowhere above " + number(Size) +
          ": zeros would pass an absolute tolerance of 1e-4");
    double Rounding = L.Tolerance * Slack(I);
    if (Rounding > MuchRounding)
      Say("is mostly rounding: the source is off its reference by " +
          (Rounding > 2 ? "more than the output's size"
                        : number(50 * Rounding) + " % of the output's size"));
    if (Of[I]->AnothersPasses)
      Say("does not depend on the input: that of another input would pass");
  }
  return Text;
}
