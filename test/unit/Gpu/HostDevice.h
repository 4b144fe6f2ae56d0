//===- HostDevice.h - A device that is the host ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_HOSTDEVICE_H
#define STARK_TEST_HOSTDEVICE_H

#include <cstdint>

namespace stark::gpu {

/// How often the driver was asked for memory, and to take it back.
struct DriverCalls {
  unsigned Allocations = 0, Frees = 0;
};
extern DriverCalls Calls;
/// A larger piece of memory is not to be had.
extern uint64_t LargestPiece;

} // namespace stark::gpu

#endif
