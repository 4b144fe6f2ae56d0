//===- DeviceWork.h - What a device did, as CUPTI records it --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_DEVICEWORK_H
#define STARK_GPU_DEVICEWORK_H

#include <cstdint>

namespace stark::gpu {

/// Blocks of a kernel that an SM has room for, by what limits them. 0: not
/// known.
struct BlockLimits {
  uint32_t Registers = 0, Shared = 0, Warps = 0, Blocks = 0;
};

/// A kernel, a copy or a fill. Goes from a child to the supervisor as it is.
struct DeviceWork {
  uint64_t BeginNs = 0, EndNs = 0; ///< by CUPTI's clock
  char Name[200] = {}; ///< of a kernel, demangled; else "copy", "fill"
  bool IsKernel = false;
  /// Of kernels alone.
  uint32_t Grid[3] = {}, Block[3] = {};
  uint32_t Registers = 0;  ///< a thread
  uint32_t LocalBytes = 0; ///< a thread
  BlockLimits Most;
  uint32_t WarpsOfSm = 0, Sms = 0; ///< of the device
};

} // namespace stark::gpu

#endif
