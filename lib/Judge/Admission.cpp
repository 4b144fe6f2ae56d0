//===- Admission.cpp - Is there anything to judge by? ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the source, called with two inputs -> portraits -> notes, or a refusal
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Judge.h"

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

/// Outputs of pointers are copied to the host for it: larger ones only where
/// nothing else was looked at.
static constexpr uint64_t LargeBytes = uint64_t(64) << 20;

static MaybeStop bringSource(Runner &R, const Trial &T) {
  if (SourceEnd Ended = R.source(T); Ended.What != SourceEnd::Done)
    return Stop{Outcome::Infrastructure, Ended.Text};
  return R.bring(Side::Source);
}

static MaybeStop portrayHere(const Job &J, Runner &R, const Trial &T,
                             const Trial &Other, Portraits &Found) {
  if (MaybeStop S = bringSource(R, Other))
    return S;
  std::vector<std::vector<char>> Others(J.Leaves.size());
  for (unsigned I = 0; I < J.Leaves.size(); ++I)
    if (const void *Data = isOutput(J.Leaves[I]) ? R.ofSource(T, I) : nullptr) {
      auto *At = static_cast<const char *>(Data);
      Others[I].assign(At, At + J.Cases[T.Case].Values[I].elements() *
                                    dtypeBytes(J.Leaves[I].Type));
    }
  if (MaybeStop S = bringSource(R, T))
    return S;
  Found.resize(J.Leaves.size());
  for (unsigned I = 0; I < J.Leaves.size(); ++I)
    if (const void *Data = isOutput(J.Leaves[I]) ? R.ofSource(T, I) : nullptr)
      Found[I] = portrait(J, T.Case, I, Data,
                          Others[I].empty() ? nullptr : Others[I].data(),
                          R.slack(T, I));
  return std::nullopt;
}

MaybeStop judge::admit(const Job &J, Runner &R,
                       const std::vector<bool> &LeftOut, std::string &Notes) {
  bool OfTensors = !J.Torch.empty(), Proves = false;
  unsigned Looked = 0;
  for (unsigned Case = 0; Case < J.Cases.size(); ++Case) {
    const job::Case &C = J.Cases[Case];
    if (LeftOut[Case] || J.Seeds.size() < 2 || C.Brief ||
        (C.Added && !OfTensors))
      continue;
    if (!OfTensors && Looked && outputBytes(J, Case) > LargeBytes)
      continue;
    // Two inputs, the same weights.
    Trial T{0, Case, J.Seeds[1], 0, J.Seeds[0]}, Other = T;
    Other.Seed = J.Seeds[0];
    Portraits Found;
    if (MaybeStop S = R.portray(T, Other, Found))
      return S;
    if (Found.empty())
      if (MaybeStop S = portrayHere(J, R, T, Other, Found))
        return S;
    ++Looked;
    Proves |= !provesNothing(J, Case, Found);
    Notes +=
        degeneracies(J, Case, Found, [&](unsigned L) { return R.slack(T, L); });
  }
  if (!Looked || Proves || J.MayBeDegenerate)
    return std::nullopt;
  return Stop{Outcome::Wrong,
              "this source is no task: a candidate that does not look at its "
              "inputs would be right at every size. " +
                  Notes +
                  "Have the workload give it other inputs, or say "
                  "\"degenerate\": true there\n"};
}
