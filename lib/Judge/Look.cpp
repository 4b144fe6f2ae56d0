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

#include "stark/Job/Records.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <cstdio>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

double judge::shareOfWhole(const Job &J) { return J.Torch.empty() ? 0 : 0.1; }

namespace {
/// An output, or a column of one of records.
struct Part {
  Leaf L;
  LeafValue V;
  uint32_t Pattern = 0; ///< what a call leaves alone holds
  const void *Got = nullptr, *Wanted = nullptr;
  std::vector<char> Copies[2];
};
} // namespace

/// Output \p I as it is compared: records field by field. \p Got may be null.
static std::vector<Part> partsOf(const Job &J, unsigned Case, unsigned I,
                                 const void *Got, const void *Wanted,
                                 unsigned Round) {
  const Leaf &L = J.Leaves[I];
  const LeafValue &V = J.Cases[Case].Values[I];
  uint32_t Pattern = unwrittenPattern(L.Type, Round);
  std::vector<Part> Parts;
  if (L.Fields.empty()) {
    Parts.push_back({L, V, Pattern, Got, Wanted, {}});
    return Parts;
  }
  Parts.resize(L.Fields.size());
  for (size_t F = 0; F < L.Fields.size(); ++F) {
    Part &P = Parts[F];
    P.L = columnOf(L, F);
    P.V = columnOf(L, V, F);
    P.Pattern = Pattern;
    P.Copies[1] = gatherColumn(L, V, F, Wanted);
    P.Wanted = P.Copies[1].data();
    if (!Got)
      continue;
    P.Copies[0] = gatherColumn(L, V, F, Got);
    P.Got = P.Copies[0].data();
  }
  return Parts;
}

/// How many times its tolerance \p P may be off: \p Slack, or not at all where
/// its values have to be exact.
static double slackFor(const Job &J, unsigned Case, const Part &P,
                       double Slack) {
  if (J.Cases[Case].Filling != Regime::Integers || isWhole(P.L.Type))
    return Slack;
  return isExact(P.L.Type, extremes(P.L.Type, P.Wanted, P.V.elements()))
             ? 0
             : Slack;
}

static Comparison comparePart(const Job &J, const Part &P, double Slack,
                              double Scale) {
  double Share = shareOfWhole(J);
  double LeastRms =
      Share > 0 ? Share * rootMeanSquare(P.L.Type, P.Wanted, P.V.elements())
                : 0;
  return compare(P.L.Type, P.Got, P.Wanted, P.V.Shape, P.L.Tolerance * Slack,
                 P.Pattern, {LeastRms, Scale});
}

Comparison judge::compareLeaf(const Job &J, unsigned Case, unsigned Leaf,
                              const void *Got, const void *Wanted, double Slack,
                              unsigned Round, double Scale) {
  Comparison Sum;
  for (const Part &P : partsOf(J, Case, Leaf, Got, Wanted, Round)) {
    Comparison C = comparePart(J, P, Slack, Scale);
    if (J.Leaves[Leaf].Fields.empty())
      return C;
    Sum.Count += C.Count;
    Sum.Mismatches += C.Mismatches;
    Sum.Unwritten += C.Unwritten;
    Sum.WorstError = std::max(Sum.WorstError, C.WorstError);
  }
  return Sum;
}

/// A column or a tile that is wrong, in an output whose elements are right.
static std::optional<std::string> compareWhole(const Job &J, const Trial &T,
                                               const std::string &Name,
                                               const Part &P, double Slack) {
  // What a tensor's own reference is off hides in it, too.
  if (!J.Torch.empty())
    return std::nullopt;
  std::optional<BadBlock> Bad = compareBlocks(P.L.Type, P.Got, P.Wanted,
                                              P.V.Shape, P.L.Tolerance * Slack);
  if (!Bad)
    return std::nullopt;
  char Sizes[96];
  std::snprintf(Sizes, sizeof(Sizes),
                "%.3g in the root mean square, allowed is %.3g", Bad->Error,
                Bad->Allowed);
  return "output '" + P.L.Name + "' is wrong (" + Name + " with " +
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
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    bool Known = I < Agreed.size() && Agreed[I];
    const void *Wanted =
        isOutput(J.Leaves[I]) && !Known ? OfSource(I) : nullptr;
    if (!Wanted)
      continue;
    for (Part &P : partsOf(J, T.Case, I, OfCandidate(I), Wanted, T.Round)) {
      double Times = slackFor(J, T.Case, P, Slack(I));
      Comparison Found = comparePart(J, P, Times, T.Scale);
      if (Found.ok()) {
        if (auto Bad = compareWhole(J, T, Name, P, Times))
          return Stop{IfBad, *Bad};
        continue;
      }
      P.L.Tolerance *= Times;
      return Stop{IfBad, describeMismatch(P.L, P.V, Found,
                                          Name + " with " +
                                              describeInputs(J, T.Case, T.Seed),
                                          T.Scale)};
    }
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
    for (const Part &P : partsOf(J, T.Case, I, nullptr, Data, T.Round)) {
      uint64_t Count = P.V.elements();
      Seen.AllFinite &= extremes(P.L.Type, P.Wanted, Count).AllFinite;
      // A byte of the pattern is too likely as a value.
      Seen.HasGaps |= L.Use == Role::Output && dtypeBytes(P.L.Type) > 1 &&
                      countPoison(P.L.Type, P.Wanted, Count, P.Pattern);
    }
  }
  return Seen;
}
