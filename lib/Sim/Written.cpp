//===- Written.cpp - What profiled blocks left in the arguments ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Written.h"
#include <algorithm>
#include <cstring>

using namespace stark::sim;

/// Addresses that are kept of what a cluster wrote.
static constexpr size_t MostKept = size_t(1) << 18;

static uint64_t addressOf(const Allocation &A, uint64_t Word) {
  return reinterpret_cast<uint64_t>(A.Begin) + Word * 4;
}

void WrittenInProfile::beginLaunch() {
  Follows = Launched;
  Launched = true;
  Spoilt = HostTook || !Wanted;
  Open = false;
  Ran.clear();
  Updated.clear();
  Words.clear();
}

/// A second run of a block begins with what the first has left.
void WrittenInProfile::beginCluster(uint64_t I) {
  Open = !Spoilt && Words.size() < MostWrittenWords && Ran.insert(I).second;
  Own.clear();
  Stores.clear();
}

bool WrittenInProfile::isUpdated(const Allocation &A) const {
  return std::find(Updated.begin(), Updated.end(), &A) != Updated.end();
}

void WrittenInProfile::noteLoad(const Allocation &A, uint64_t First,
                                uint64_t Last) {
  if (A.Constant)
    return;
  Spoilt |= isUpdated(A);
  if (A.Given && !Follows)
    return;
  for (uint64_t W = First; W <= Last; ++W)
    Spoilt |= !Own.count(addressOf(A, W));
}

void WrittenInProfile::note(const Allocation &A, uint64_t Offset,
                            uint32_t Bytes, const Probe &P, ProbeKind Kind) {
  uint64_t First = Offset / 4, Last = (Offset + Bytes - 1) / 4;
  switch (Kind) {
  case ProbeKind::Load:
    noteLoad(A, First, Last);
    break;
  case ProbeKind::Atomic:
    // What it gives is what other blocks have left.
    Spoilt |= P.Updates == Update::None;
    if (!isUpdated(A))
      Updated.push_back(&A);
    break;
  default:
    for (uint64_t W = First; (!A.Given || Follows) && W <= Last; ++W)
      Own.insert(addressOf(A, W));
    Spoilt |= Own.size() > MostKept;
    for (uint64_t W = First; A.Argument >= 0 && W <= Last; ++W) {
      uint64_t From = std::max(Offset, W * 4) - W * 4,
               To = std::min(Offset + Bytes, W * 4 + 4) - W * 4;
      Stores.push_back({&A, W, uint8_t((1u << To) - (1u << From))});
    }
    break;
  }
  if (Spoilt || Stores.size() > 4 * MostWrittenWords)
    Open = false;
}

void WrittenInProfile::endCluster() {
  Open = false;
  for (const Stored &S : Stores) {
    if (Words.size() >= MostWrittenWords)
      break;
    WrittenWord W;
    W.Buffer = uint32_t(S.Of->Argument);
    W.Bytes = S.Bytes;
    W.Offset = S.Word * 4;
    uint64_t Left = uint64_t(S.Of->End - S.Of->Begin) - W.Offset;
    std::memcpy(&W.Value, S.Of->Begin + W.Offset, std::min<uint64_t>(4, Left));
    Words.push_back(W);
  }
  Stores.clear();
}

/// Bytes of \p Word that its mask names.
static uint32_t maskOf(uint32_t Bytes) {
  uint32_t Mask = 0;
  for (unsigned B = 0; B < 4; ++B)
    if (Bytes & 1u << B)
      Mask |= 0xffu << 8 * B;
  return Mask;
}

std::vector<WrittenWord> WrittenInProfile::take() {
  if (Spoilt)
    return {};
  std::erase_if(Words, [this](const WrittenWord &W) {
    return std::any_of(
        Updated.begin(), Updated.end(),
        [&](const Allocation *A) { return A->Argument == int(W.Buffer); });
  });
  std::stable_sort(Words.begin(), Words.end(),
                   [](const WrittenWord &A, const WrittenWord &B) {
                     return A.Buffer != B.Buffer ? A.Buffer < B.Buffer
                                                 : A.Offset < B.Offset;
                   });
  std::vector<WrittenWord> Once;
  for (const WrittenWord &W : Words) {
    if (Once.empty() || Once.back().Buffer != W.Buffer ||
        Once.back().Offset != W.Offset) {
      Once.push_back(W);
      continue;
    }
    WrittenWord &Had = Once.back();
    uint32_t New = maskOf(W.Bytes);
    Had.Value = (Had.Value & ~New) | (W.Value & New);
    Had.Bytes |= W.Bytes;
  }
  return Once;
}
