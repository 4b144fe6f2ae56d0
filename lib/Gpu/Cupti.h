//===- Cupti.h - What the device does for a call, by CUPTI ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   begin() -> a call -> end() -> the device is idle -> what it did for that
///   call, on whatever stream
/// Of what kernels launch themselves CUPTI says nothing. Reading counters needs
/// a permission, this needs none.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_CUPTI_H
#define STARK_GPU_CUPTI_H

#include "DeviceWork.h"
#include <string>
#include <vector>

namespace stark::gpu {

/// Has CUPTI, which is the library \p Path, record what this process asks of
/// the device from now on. Text when it cannot.
std::string openCupti(const std::string &Path);

/// What this thread asks of the device from now on is of one call.
void beginTracedCall();
void endTracedCall();
/// The last call, once the device is idle.
struct CallRecord {
  std::vector<DeviceWork> Works; ///< in the order in which they began
  /// Of memory of the device, and of the host's that is pinned, that the call
  /// took, less what it gave back.
  int64_t KeptBytes = 0;
};
CallRecord takeTracedCall();

} // namespace stark::gpu

#endif
