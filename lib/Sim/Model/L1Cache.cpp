//===- L1Cache.cpp - The L1 cache of an SM --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/L1Cache.h"
#include "Model/Units.h"
#include <algorithm>

using namespace stark::sim;

namespace {
/// Of a set. NVIDIA publishes no number; few make hits depend little on it.
constexpr unsigned Ways = 4;
/// What shared memory never takes of L1, in bytes (fit).
constexpr double LeastL1Bytes = 16.0 * 1024;
/// Folds high bits of a line's number into its set, so that arrays whose sizes
/// are powers of two do not collide.
constexpr unsigned FoldShift = 12;
} // namespace

double stark::sim::l1ShareOf(const GpuDescription &Gpu, unsigned BlocksPerSm,
                             uint64_t SharedBytes) {
  double Left = Gpu.L1Bytes -
                double(BlocksPerSm) * double(SharedBytes + Gpu.SharedReserved);
  return std::max(Left, LeastL1Bytes) / std::max(1u, BlocksPerSm);
}

L1Cache::L1Cache(double Bytes)
    : Sets(std::max<uint64_t>(1, uint64_t(Bytes) / (LineBytes * Ways))) {
  clear();
}

void L1Cache::clear() {
  Tags.assign(Sets * Ways, ~0ull);
  Valid.assign(Sets * Ways, 0);
}

bool L1Cache::touch(uint64_t Sector) {
  uint64_t Line = Sector / LineSectors;
  uint8_t Bit = uint8_t(1u << (Sector % LineSectors));
  uint64_t Set = (Line ^ (Line >> FoldShift)) % Sets;
  uint64_t *SetTags = &Tags[Set * Ways];
  uint8_t *SetValid = &Valid[Set * Ways];
  unsigned Way = 0;
  while (Way < Ways && SetTags[Way] != Line)
    ++Way;
  bool Known = Way < Ways;
  if (!Known)
    Way = Ways - 1;
  uint8_t Holds = Known ? SetValid[Way] : 0;
  for (; Way > 0; --Way) {
    SetTags[Way] = SetTags[Way - 1];
    SetValid[Way] = SetValid[Way - 1];
  }
  SetTags[0] = Line;
  SetValid[0] = Holds | Bit;
  return Holds & Bit;
}
