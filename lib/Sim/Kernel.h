//===- Kernel.h - A kernel, and how it is launched ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_KERNEL_H
#define STARK_LIB_SIM_KERNEL_H

#include "stark/Sim/Resources.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stark::sim {

struct Dim3 {
  uint32_t X = 1, Y = 1, Z = 1;
  uint64_t count() const { return uint64_t(X) * Y * Z; }
  /// Where number \p I of so many lies, x first.
  Dim3 at(uint64_t I) const {
    return {uint32_t(I % X), uint32_t(I / X % Y), uint32_t(I / X / Y)};
  }
};

struct Kernel {
  std::string Name;
  unsigned Function = 0;
  void (*Call)(void *Closure) = nullptr;
  const void *HostStub = nullptr;
  uint64_t StaticShared = 0; ///< bytes that the GPU reserves
  unsigned Registers = 0;    ///< a thread
  /// What ptxas says, which StaticShared and Registers are then of; unset: they
  /// are estimated.
  std::optional<KernelResources> Exact;
  unsigned BoundThreads = 0; ///< of a block by __launch_bounds__; 0: any number
  std::vector<std::string> ParameterNames;
  uint64_t MaxDynamic = 48 * 1024;
  Dim3 Cluster = {0, 0, 0};   ///< by __cluster_dims__; 0: none is said
  bool LargeClusters = false; ///< of more than eight blocks are allowed
  bool Alone = false;         ///< its blocks cannot be spread over processes
  int Carveout = -1; ///< percent of shared memory asked for; -1: the driver's
  std::vector<uint64_t> ParameterOffsets, ParameterBytes; ///< in the closure
  uint64_t ClosureBytes = 0;
  bool PlainParameters = true; ///< one value a parameter, as CUDA lists them
};

/// How a kernel is launched.
struct LaunchShape {
  Dim3 Grid, Block;
  uint64_t Dynamic = 0; ///< bytes of shared memory
  bool Cooperative = false;
  Dim3 Cluster = {0, 0, 0}; ///< blocks; 0: as the kernel says
};

} // namespace stark::sim

#endif
