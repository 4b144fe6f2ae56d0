//===- Gpu.h - The GPU that is simulated ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A GPU as a JSON file describes it (lib/Sim/gpus); each figure there names
/// its source. Rates are of one SM and cycle.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_GPU_H
#define STARK_SIM_GPU_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stark::sim {

struct GpuDescription {
  std::string Name; ///< "NVIDIA H200"
  std::string Arch; ///< "sm_90"
  /// Architectures whose GPU this one is taken for where none is named.
  std::vector<std::string> StandsFor;
  unsigned Sms = 0;
  double ClockGHz = 0;
  double DramGBs = 0; ///< of a copy, read + written
  double L2GBs = 0;
  double L2Bytes = 0;
  double L1Bytes = 0; ///< of one SM, shared memory included
  // Limits.
  unsigned MaxThreadsPerBlock = 1024, MaxThreadsPerSm = 2048,
           MaxBlocksPerSm = 32, RegistersPerSm = 65536;
  uint64_t SharedPerSm = 0, SharedPerBlock = 0, SharedReserved = 1024;
  // Thread instructions a cycle.
  double IntegerRate = 64, FloatRate = 128, DoubleRate = 64, HalfRate = 128,
         SpecialRate = 16;
  // Cycles.
  double L1Latency = 33, L2Latency = 270, DramLatency = 600, SharedLatency = 23,
         BarrierLatency = 30, AtomicCycles = 2;
  /// From when a thread sets a word to when a thread of another block that
  /// polls it has seen it, and what a fence between data and word adds.
  double HopLatency = 710, FenceLatency = 440;
  double BlocksPerUs = 1650; ///< that the whole GPU begins
  /// Cycles from when a block leaves an SM to the first instruction of the one
  /// that takes its place, and what each of its warps adds.
  double BlockLatency = 260, WarpStartCycles = 8;
  double L2WritesPerNs = 64; ///< each of up to four sectors of one line
  /// Of the whole L2, and of one line of 128 bytes: integers, floating point.
  double AtomicsPerNs = 90, AtomicsPerNsOneLine = 1.3,
         FloatAtomicsPerNsOneLine = 0.33;
  double LaunchUs = 2.0; ///< a kernel that does nothing, between two events

  /// Major and minor: of "sm_90" 9 and 0.
  std::pair<int, int> computeCapability() const;
  /// Launches in clusters of several blocks.
  bool hasClusters() const { return computeCapability().first >= 9; }
};

/// What may stand behind a GPU's name: registers are estimated, as where there
/// is no nvcc, so that times do not depend on the machine.
constexpr char EstimatedRegisters[] = ",registers=estimated";

/// The name of a file in lib/Sim/gpus ("h200"), or the path of a .json file,
/// with or without EstimatedRegisters. The error says what there is.
llvm::Expected<GpuDescription> describeGpu(llvm::StringRef NameOrFile);

/// The description in lib/Sim/gpus of the device that is called \p Device,
/// "NVIDIA H200" or "simulated NVIDIA H200"; unset where there is none.
std::optional<GpuDescription> describeDevice(llvm::StringRef Device);

/// Where neither a name nor an architecture says another.
constexpr char DefaultGpu[] = "h200";
/// The name of the GPU that stands for \p Arch ("sm_90"), else DefaultGpu.
std::string gpuForArch(llvm::StringRef Arch);

} // namespace stark::sim

#endif
