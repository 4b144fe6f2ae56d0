//===- Device.h - What a GPU is, and whether it works ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a child that asks the driver -> facts -> device.json, `stark-worker
/// --probe`
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_DEVICE_H
#define STARK_GPU_DEVICE_H

#include <cstdint>
#include <string>

namespace stark::gpu {

/// A GPU and what confines the children that use it.
struct DeviceFacts {
  std::string Name, Arch, Driver; ///< "NVIDIA H200", "sm_90", "CUDA 13.0"
  uint64_t MemoryMiB = 0, L2Bytes = 0;
  double CopyGBs = 0;     ///< device-to-device copy, read + written
  double EventPairUs = 0; ///< an empty event pair
  std::string Lockdown;   ///< "seccomp landlock", "seccomp", "none"
  /// "GPU-" and its UUID, whatever number the driver gives it here; empty: not
  /// known.
  std::string Id;
  unsigned Devices = 1; ///< that the driver shows
};

/// One JSON object, without a line end.
std::string printFacts(const DeviceFacts &F);
bool parseFacts(const std::string &Text, DeviceFacts &F);

/// Devices of this machine, whatever CUDA_VISIBLE_DEVICES says; 0 where NVML is
/// missing or does not say. Opens none of them, unlike probeDevice().
unsigned countDevices();

/// The facts of the GPU that the driver lists as \p Device, measured in a child
/// of this program; false with \p Error.
bool probeDevice(int Device, DeviceFacts &Facts, std::string &Error);

} // namespace stark::gpu

#endif
