//===- Load.h - What a launch asks of the parts of a GPU ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   counters of a launch -> what a mean block asks of each part
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_LOAD_H
#define STARK_LIB_SIM_MODEL_LOAD_H

#include "stark/Sim/Profile.h"

namespace stark::sim {

struct LaunchLoad {
  double Blocks = 0, WarpsPerBlock = 0;
  double BlocksPerSm = 1; ///< that an SM holds at once
  /// That it holds where most of their warps have ended.
  double MostBlocksPerSm = 1;
  double Sampled = 1; ///< blocks
  /// Of a mean block: warp instructions, and the cycles that they keep each
  /// unit of an SM busy.
  double WarpInstructions = 0;
  std::array<double, Units> UnitCycles{};
  /// Over the sampled blocks.
  double Lines = 0; ///< that L1 looks up
  double SharedCycles = 0, ConstantCycles = 0;
  double Atomics = 0;   ///< sectors of atomic requests, and lanes that wait
  double L2Writes = 0;  ///< lines
  double L2Sectors = 0; ///< of a mean block
  double DramBytes = 0; ///< of the launch
  /// Of the launch: as in LaunchProfile.
  double GlobalAtomics = 0, AtomicsOfGroup = 0, FloatAtomicsOfSector = 0;
  /// Of the warp of a block that has the longest way, which has an SM for
  /// itself: cycles through its instructions, in the mean and at most, and
  /// barriers of a warp.
  double WarpCycles = 0, MostWarpCycles = 0, WarpBarriers = 0;
  double MeanWarpCycles = 0; ///< likewise of a mean warp
  double WarpWaits = 0;      ///< of WarpCycles, for what it has loaded
  double ChainCycles = 0;    ///< of all blocks, each after the one before
};

LaunchLoad loadOf(const LaunchProfile &P, const Tables &T,
                  const GpuDescription &Gpu);

} // namespace stark::sim

#endif
