//===- Sanitized.cpp - Which calls sanitizers look at --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Judge.h"
#include <algorithm>
#include <cmath>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Sizes, of which none has buffers of more bytes: under racecheck a call takes
/// some hundred times as long.
constexpr size_t MostSizes = 4, MostOwn = 2;
constexpr uint64_t MostBytes = uint64_t(8) << 20;

uint64_t bytesOf(const Job &J, const Case &C) {
  uint64_t Bytes = 0;
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (J.Leaves[I].Kind == LeafKind::Buffer)
      Bytes += C.Values[I].elements() * dtypeBytes(J.Leaves[I].Type);
  return Bytes;
}
} // namespace

bool judge::isAboutToWin(const Job &J, const std::vector<Timing> &Timings) {
  if (J.SanitizeAbove < 0 || J.CandidateDigest == J.SourceDigest)
    return false;
  if (J.SanitizeAbove == 0)
    return true;
  double Logs = 0;
  for (const Timing &T : Timings)
    Logs += std::log(T.Speedup);
  return !Timings.empty() &&
         std::exp(Logs / double(Timings.size())) > J.SanitizeAbove;
}

std::vector<unsigned> judge::sanitizedCases(const Job &J,
                                            const std::vector<bool> &Compared) {
  std::vector<std::pair<uint64_t, unsigned>> Small;
  for (unsigned I = 0; I < J.Cases.size(); ++I) {
    const Case &C = J.Cases[I];
    uint64_t Bytes = bytesOf(J, C);
    if (Compared[I] && C.Filling == Regime::Given && Bytes <= MostBytes)
      Small.push_back({Bytes, I});
  }
  std::sort(Small.begin(), Small.end());
  std::vector<unsigned> Cases;
  // Those that the tool added are odd, where what reads too far is seen; they
  // may be tiny, and then the workload's own are what tells.
  for (bool Added : {false, true})
    for (const auto &[Bytes, I] : Small)
      if (J.Cases[I].Added == Added &&
          Cases.size() < (Added ? MostSizes : MostOwn))
        Cases.push_back(I);
  return Cases;
}
