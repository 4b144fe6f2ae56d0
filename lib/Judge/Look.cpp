//===- Look.cpp - Outputs of source and candidate, looked at --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a case says of its outputs -> element by element, then as a whole
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Judge.h"
#include <cstdio>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

double judge::shareOfWhole(const Job &J) { return J.Torch.empty() ? 0 : 0.1; }

/// How many times its tolerance output \p Leaf may be off: \p Slack, or not at
/// all where its values have to be exact.
static double slackFor(const Job &J, unsigned Case, unsigned Leaf,
                       const void *Wanted, double Slack) {
  const job::Leaf &L = J.Leaves[Leaf];
  if (J.Cases[Case].Filling != Regime::Integers || isWhole(L.Type))
    return Slack;
  return isExact(L.Type, extremes(L.Type, Wanted,
                                  J.Cases[Case].Values[Leaf].elements()))
             ? 0
             : Slack;
}

Comparison judge::compareLeaf(const Job &J, unsigned Case, unsigned Leaf,
                              const void *Got, const void *Wanted, double Slack,
                              unsigned Round, double Scale) {
  const job::Leaf &L = J.Leaves[Leaf];
  const LeafValue &V = J.Cases[Case].Values[Leaf];
  double Share = shareOfWhole(J);
  double LeastRms =
      Share > 0 ? Share * rootMeanSquare(L.Type, Wanted, V.elements()) : 0;
  return compare(L.Type, Got, Wanted, V.Shape, L.Tolerance * Slack,
                 unwrittenPattern(L.Type, Round), {LeastRms, Scale});
}

/// A column or a tile that is wrong, in an output whose elements are right.
static std::optional<std::string>
compareWhole(const Job &J, const Trial &T, const std::string &Name,
             unsigned Leaf, const void *Got, const void *Wanted, double Slack) {
  const job::Leaf &L = J.Leaves[Leaf];
  // What a tensor's own reference is off hides in it, too.
  if (!J.Torch.empty())
    return std::nullopt;
  std::optional<BadBlock> Bad =
      compareBlocks(L.Type, Got, Wanted, J.Cases[T.Case].Values[Leaf].Shape,
                    L.Tolerance * Slack);
  if (!Bad)
    return std::nullopt;
  char Sizes[96];
  std::snprintf(Sizes, sizeof(Sizes),
                "%.3g in the root mean square, allowed is %.3g", Bad->Error,
                Bad->Allowed);
  return "output '" + L.Name + "' is wrong (" + Name + " with " +
         describeInputs(J, T.Case, T.Seed) +
         ").\nEach element is within its "
         "row's tolerance, but " +
         Bad->Where + " as a whole: off by " + Sizes + ".\n";
}

MaybeStop judge::compareOutputs(const Job &J, const Trial &T,
                                const std::string &Name,
                                const std::vector<bool> &Agreed,
                                const OutputOf &OfCandidate,
                                const OutputOf &OfSource, const SlackOf &Slack,
                                Outcome IfBad) {
  const Case &C = J.Cases[T.Case];
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    Leaf L = J.Leaves[I];
    bool Known = I < Agreed.size() && Agreed[I];
    const void *Wanted = isOutput(L) && !Known ? OfSource(I) : nullptr;
    if (!Wanted)
      continue;
    double Times = slackFor(J, T.Case, I, Wanted, Slack(I));
    L.Tolerance *= Times;
    Comparison Found = compareLeaf(J, T.Case, I, OfCandidate(I), Wanted, Times,
                                   T.Round, T.Scale);
    if (!Found.ok())
      return Stop{IfBad, describeMismatch(L, C.Values[I], Found,
                                          Name + " with " +
                                              describeInputs(J, T.Case, T.Seed),
                                          T.Scale)};
    if (auto Bad = compareWhole(J, T, Name, I, OfCandidate(I), Wanted, Times))
      return Stop{IfBad, *Bad};
  }
  return std::nullopt;
}

SourceLook judge::lookHere(const Job &J, const Trial &T, Runner &R) {
  SourceLook Seen;
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    const void *Data = isOutput(L) ? R.ofSource(T, I) : nullptr;
    if (!Data)
      continue;
    uint64_t Count = J.Cases[T.Case].Values[I].elements();
    Seen.AllFinite &= extremes(L.Type, Data, Count).AllFinite;
    // A byte of the pattern is too likely as a value.
    Seen.HasGaps |=
        L.Use == Role::Output && dtypeBytes(L.Type) > 1 &&
        countPoison(L.Type, Data, Count, unwrittenPattern(L.Type, T.Round));
  }
  return Seen;
}
