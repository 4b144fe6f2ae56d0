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

struct DeviceFacts {
  std::string Name, Driver, Arch;
  uint64_t MemoryMiB = 0, L2Bytes = 0;
  double EventPairUs = 0, CopyGBs = 0;
  std::string Lockdown; ///< "seccomp landlock", "seccomp", "none"
};

/// One JSON object, without a line end.
std::string printFacts(const DeviceFacts &F);
bool parseFacts(const std::string &Text, DeviceFacts &F);

/// The facts of the GPU that the driver lists as \p Device, measured in a child
/// of this program; false with \p Error.
bool probeDevice(int Device, DeviceFacts &Facts, std::string &Error);

} // namespace stark::gpu

#endif
