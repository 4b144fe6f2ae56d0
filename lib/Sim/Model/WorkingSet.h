//===- WorkingSet.h - What a block touches of global memory ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   requests of a sampled block -> granules that it touches, sectors that pass
/// L1, what it writes in part
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_WORKINGSET_H
#define STARK_LIB_SIM_MODEL_WORKINGSET_H

#include "Model/Coalescing.h"
#include <unordered_map>
#include <unordered_set>

namespace stark::sim {

/// Of one block, by probe.
struct WorkingSet {
  uint64_t X = 0, Y = 0, Z = 0;
  std::unordered_map<uint32_t, uint64_t> FirstAddress;
  std::unordered_map<uint32_t, uint64_t> Unique;  ///< granules
  std::unordered_map<uint32_t, uint64_t> First;   ///< of them new to the block
  std::unordered_map<uint32_t, uint64_t> Traffic; ///< sectors, to L2
  /// Of Unique, those that the first block touches with the same probe.
  std::unordered_map<uint32_t, uint64_t> OfFirst;
};

/// Fills the working set of one block after the other.
class WorkingSets {
public:
  void beginBlock(uint64_t X, uint64_t Y, uint64_t Z);
  /// Bytes that \p R, a store, leaves written in part.
  void store(const Request &R);
  /// \p Hit: L1 had the sector.
  void touch(const Request &R, bool Reads, uint64_t Sector, bool Hit);
  /// Of a request whose addresses begin at \p Address.
  void begin(const Request &R, uint64_t Address) {
    Blocks.back().FirstAddress.try_emplace(R.Probe, Address);
  }
  /// Calls \p Tell(probe) for each granule that the block has written in part
  /// and had not read: memory with error correction takes whole granules, so
  /// they have to be fetched.
  template <class Function> void endBlock(Function Tell) {
    std::unordered_set<uint64_t> Fetched;
    for (const auto &[Sector, Written] : Parts)
      if (Written.Bytes != ~0u &&
          Fetched.insert(Sector / GranuleSectors).second)
        Tell(Written.Probe);
  }
  const std::vector<WorkingSet> &blocks() const { return Blocks; }

private:
  struct Part {
    uint32_t Bytes = 0; ///< which of the sector were written
    uint32_t Probe = 0;
  };
  std::vector<WorkingSet> Blocks;
  using Granules = std::unordered_map<uint32_t, std::unordered_set<uint64_t>>;
  Granules Firsts; ///< of the first block
  // Of the block that runs.
  Granules Seen;
  std::unordered_set<uint64_t> Read, Written;
  std::unordered_map<uint64_t, Part> Parts; ///< by sector
};

} // namespace stark::sim

#endif
