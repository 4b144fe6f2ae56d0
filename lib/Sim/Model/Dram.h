//===- Dram.h - What a launch moves through L2 and DRAM -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   working sets of the sampled blocks -> those of a wave and of the grid
///     -> bytes that DRAM moves
/// How far apart the working sets of two neighbouring blocks begin is taken for
/// the step along that axis; when a block further on does not lie where the
/// steps say, the probe's addresses depend on data.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_DRAM_H
#define STARK_LIB_SIM_MODEL_DRAM_H

#include "Model/Atomics.h"
#include "Model/WorkingSet.h"
#include "stark/Sim/Profile.h"

namespace stark::sim {

struct GridExtent {
  uint64_t X = 1, Y = 1, Z = 1;
  double blocks() const { return double(X) * double(Y) * double(Z); }
};

/// Begin and end of each array of device memory.
using ArrayBounds = std::vector<std::pair<uint64_t, uint64_t>>;

/// What was sampled, and what it is a sample of.
struct SampledLaunch {
  const Tables &T;
  const GpuDescription &Gpu;
  const std::vector<WorkingSet> &Blocks;
  const std::vector<ProbeCounters> &Probes;
  GridExtent Grid;
  unsigned BlocksPerSm = 1;
  ArrayBounds Arrays;
};

struct DramTraffic {
  double L2Sectors = 0; ///< of a mean block
  double Bytes = 0;     ///< of the launch
  double FillBytes = 0; ///< of them, to complete what is written in part
  AtomicSpreads Atomics;
};

DramTraffic estimateDram(const SampledLaunch &L);

} // namespace stark::sim

#endif
