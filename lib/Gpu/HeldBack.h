//===- HeldBack.h - Is the device's clock lowered? ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   NVML, in the supervisor -> is a sample taken now worth anything?
/// The library is looked for when the worker runs: a machine may have none.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_HELDBACK_H
#define STARK_GPU_HELDBACK_H

#include <cstdint>
#include <memory>
#include <string>

namespace stark::gpu {

/// Of NVML's reasons for the clock that it has: is one of them that the device
/// is too hot or takes too much power? Idle, or set so by the user, is none.
bool isHeldBack(uint64_t Reasons);

class ClockWatch {
public:
  virtual ~ClockWatch() = default;
  /// Is the device held back now? False when NVML does not say.
  virtual bool heldBack() = 0;
};

/// Of the device "GPU-01234567-...". Null where NVML is missing, does not know
/// it or does not say.
std::unique_ptr<ClockWatch> watchClocks(const std::string &DeviceId);

} // namespace stark::gpu

#endif
