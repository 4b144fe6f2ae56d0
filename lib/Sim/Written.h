//===- Written.h - What profiled blocks left in the arguments ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A profile runs a few blocks. What they write is what a whole run would
/// leave there as long as it follows from the inputs and from themselves alone:
/// nothing that another block or launch would have made is read, nothing is
/// shared by atomics, and no launch comes after. Otherwise nothing is known.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_WRITTEN_H
#define STARK_LIB_SIM_WRITTEN_H

#include "Cell.h"
#include "stark/Sim/Profile.h"
#include "stark/Sim/Tables.h"
#include <unordered_set>
#include <vector>

namespace stark::sim {

class WrittenInProfile {
public:
  /// Asked for; else nothing is noted.
  bool Wanted = false;
  /// What launches before have written, this one may write again.
  void beginLaunch();
  /// Its blocks meet, or wait for others.
  void spoil() { Spoilt = true; }
  /// The host takes values of the device, and may go by them.
  void hostTakes() { HostTook |= Launched; }
  /// The host copies or sets values there.
  void hostPuts() { Words.clear(); }

  /// Cluster \p I is run, perhaps not for the first time.
  void beginCluster(uint64_t I);
  void endCluster();
  bool isOpen() const { return Open; }
  /// An access of the cluster that is open, in bounds.
  void note(const Allocation &A, uint64_t Offset, uint32_t Bytes,
            const Probe &P, ProbeKind Kind);

  /// In the order of arguments and places, each once.
  std::vector<WrittenWord> take();

private:
  struct Stored {
    const Allocation *Of;
    uint64_t Word; ///< by number
    uint8_t Bytes; ///< a bit each
  };
  void noteLoad(const Allocation &A, uint64_t First, uint64_t Last);
  bool isUpdated(const Allocation &A) const;

  bool Launched = false, Follows = false; ///< another launch
  bool HostTook = false, Spoilt = false, Open = false;
  std::unordered_set<uint64_t> Ran;        ///< clusters of the launch
  std::unordered_set<uint64_t> Own;        ///< addresses that the cluster wrote
  std::vector<const Allocation *> Updated; ///< by atomics of the launch
  std::vector<Stored> Stores;              ///< of the cluster
  std::vector<WrittenWord> Words;
};

} // namespace stark::sim

#endif
