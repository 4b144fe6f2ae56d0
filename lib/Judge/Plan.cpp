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

#include "stark/Judge/Judge.h"
#include <algorithm>
#include <numeric>

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

/// The cases, those with the smallest buffers first: most wrong candidates end
/// there. Hardened ones come last, so that it is known of a candidate that
/// fails there that it is right as shipped.
static std::vector<unsigned> caseOrder(const Job &J) {
  std::vector<unsigned> Order(J.Cases.size());
  std::iota(Order.begin(), Order.end(), 0u);
  std::stable_sort(Order.begin(), Order.end(), [&](unsigned A, unsigned B) {
    return std::pair(J.Cases[A].Hardened, caseBytes(J, A)) <
           std::pair(J.Cases[B].Hardened, caseBytes(J, B));
  });
  return Order;
}

std::vector<Trial> judge::planTrials(const Job &J, const CompareRule &Rule) {
  std::vector<Trial> Trials;
  for (unsigned Case : caseOrder(J)) {
    uint64_t Bytes = caseBytes(J, Case);
    if (!Rule.Compares || Bytes > Rule.MaxBytes)
      continue;
    size_t Seeds = Bytes > Rule.ManySeedsMaxBytes ? 1 : J.Seeds.size();
    for (size_t I = 0; I < std::min(Seeds, J.Seeds.size()); ++I)
      for (unsigned Round = 0; Round < Rule.Rounds; ++Round)
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
