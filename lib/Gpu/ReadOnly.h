//===- ReadOnly.h - Memory that who is given it can only read -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An input that is changed and put back before a call is over was changed
/// all the same, and nobody who looks at it afterwards sees that. Where it can
/// only be read, who writes to it ends with a fault.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_READONLY_H
#define STARK_GPU_READONLY_H

#include <cstdint>

namespace stark::gpu {

struct DeviceFacts;

/// One piece of the device's memory at two addresses.
struct TwoAddresses {
  char *Writable = nullptr; ///< null: there is no such piece
  char *ReadOnly = nullptr; ///< a kernel that writes here ends with a fault
  uint64_t Bytes = 0;
};

/// For as long as the process lives; nothing where the driver has none.
TwoAddresses mapTwice(uint64_t Bytes);

/// The same, of some size for this device, where what is written at one of the
/// addresses is read at the other.
TwoAddresses openReadOnly(const DeviceFacts &Facts);

} // namespace stark::gpu

#endif
