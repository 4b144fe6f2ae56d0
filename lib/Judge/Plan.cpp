//===- Plan.cpp - What is compared, in which order ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   job, what the runner can afford -> trials
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Fill.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <tuple>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

/// The bytes of all buffers of a size.
static uint64_t caseBytes(const Job &J, unsigned Case) {
  uint64_t Sum = 0;
  for (size_t L = 0; L < J.Leaves.size(); ++L)
    if (J.Leaves[L].Kind == LeafKind::Buffer)
      Sum += J.Cases[Case].Values[L].elements() * dtypeBytes(J.Leaves[L].Type);
  return Sum;
}

uint64_t judge::outputBytes(const Job &J, unsigned Case) {
  uint64_t Sum = 0;
  for (size_t L = 0; L < J.Leaves.size(); ++L)
    if (isOutput(J.Leaves[L]))
      Sum += J.Cases[Case].Values[L].elements() * dtypeBytes(J.Leaves[L].Type);
  return Sum;
}

/// The cases, those with the smallest buffers first: most wrong candidates end
/// there. Those with other values than the workload's come last, so that it is
/// known of a candidate that fails there that it is right as shipped.
static std::vector<unsigned> caseOrder(const Job &J,
                                       const std::vector<bool> &Drawn) {
  std::vector<unsigned> Order;
  for (unsigned I = 0; I < J.Cases.size(); ++I)
    if (!J.Cases[I].Drawn || Drawn[I])
      Order.push_back(I);
  auto Place = [&](unsigned I) {
    return std::tuple(J.Cases[I].Filling != Regime::Given, J.Cases[I].Drawn,
                      caseBytes(J, I));
  };
  std::stable_sort(Order.begin(), Order.end(),
                   [&](unsigned A, unsigned B) { return Place(A) < Place(B); });
  return Order;
}

/// By case: those of the drawn ones that a judge can afford, as many as the job
/// asks for.
static std::vector<bool> drawCases(const Job &J, const CompareRule &Rule) {
  std::vector<std::pair<uint64_t, unsigned>> Pool;
  for (unsigned I = 0; I < J.Cases.size(); ++I)
    if (J.Cases[I].Drawn && caseBytes(J, I) <= Rule.BriefMaxBytes)
      Pool.push_back({mix(Rule.DrawSeed + mix(I + 1)), I});
  std::sort(Pool.begin(), Pool.end());
  uint64_t Most =
      std::min(J.DrawnCases ? J.DrawnCases : UINT64_MAX, Rule.MostDrawn);
  if (Pool.size() > Most)
    Pool.resize(Most);
  std::vector<bool> Drawn(J.Cases.size());
  for (const auto &[Key, I] : Pool)
    Drawn[I] = true;
  return Drawn;
}

/// Sizes whose buffers hold more bytes are not compared.
static uint64_t mostBytes(const Job &J, const CompareRule &Rule) {
  uint64_t Least = UINT64_MAX;
  for (unsigned I = 0; I < J.Cases.size(); ++I)
    if (!J.Cases[I].Brief)
      Least = std::min(Least, caseBytes(J, I));
  return Least <= Rule.OnlyMaxBytes ? std::max(Least, Rule.MaxBytes)
                                    : Rule.MaxBytes;
}

std::vector<Trial> judge::planTrials(const Job &J, const CompareRule &Rule) {
  std::vector<Trial> Trials;
  uint64_t MaxBytes = mostBytes(J, Rule);
  for (unsigned Case : caseOrder(J, drawCases(J, Rule))) {
    const job::Case &C = J.Cases[Case];
    uint64_t Bytes = caseBytes(J, Case);
    if (!Rule.Compares || Bytes > MaxBytes ||
        (C.Brief && Bytes > Rule.BriefMaxBytes))
      continue;
    size_t Seeds =
        C.Brief || Bytes > Rule.ManySeedsMaxBytes ? 1 : J.Seeds.size();
    // What is exact is the same each time.
    bool Once = C.Brief && C.Filling != Regime::Integers;
    for (size_t I = 0; I < std::min(Seeds, J.Seeds.size()); ++I)
      for (unsigned Round = 0; Round < (Once ? 1 : Rule.Rounds); ++Round)
        Trials.push_back({Trials.size(), Case, J.Seeds[I], Round, {}});
  }
  return Trials;
}

bool judge::isOutput(const Leaf &L) {
  return L.Kind == LeafKind::Buffer &&
         (L.Use == Role::Output || L.Use == Role::InOut);
}

std::string judge::describeInputs(const Job &J, unsigned Case, uint64_t Seed) {
  return "size '" + J.Cases[Case].Label + "', seed " + std::to_string(Seed);
}
