//===- L1Cache.h - The L1 cache of an SM ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   sectors that loads ask for -> which of them miss and go to L2
/// Each simulated block has the share of L1 that its neighbours on the SM leave
/// it, empty at first.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_L1CACHE_H
#define STARK_LIB_SIM_MODEL_L1CACHE_H

#include "stark/Sim/Gpu.h"
#include <cstdint>
#include <vector>

namespace stark::sim {

/// Bytes of L1 that one of \p BlocksPerSm blocks has for itself, when each has
/// \p SharedBytes of shared memory, which is cut from the same array.
double l1ShareOf(const GpuDescription &Gpu, unsigned BlocksPerSm,
                 uint64_t SharedBytes);

/// Four ways, least recently used out first, filled by the sector.
class L1Cache {
public:
  explicit L1Cache(double Bytes);
  void clear();
  /// Whether the sector (an address / 32) is there; it is afterwards.
  bool touch(uint64_t Sector);

private:
  uint64_t Sets;
  std::vector<uint64_t> Tags; ///< lines, most recent first in each set
  std::vector<uint8_t> Valid; ///< of the line, a bit a sector
};

} // namespace stark::sim

#endif
