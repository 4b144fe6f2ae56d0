//===- Formats.h - The fields of device.json ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   facts of a GPU, once for print and parse (Json/Fields.h)
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_FORMATS_H
#define STARK_GPU_FORMATS_H

#include "stark/Gpu/Device.h"
#include "stark/Json/Fields.h"

namespace stark::gpu {

template <class IO> void fields(IO &F, DeviceFacts &D) {
  F.required("device", D.Name);
  F.required("arch", D.Arch);
  F.required("driver", D.Driver);
  F.required("memory_mib", D.MemoryMiB);
  F.required("l2_bytes", D.L2Bytes);
  F.required("copy_gb_per_s", D.CopyGBs);
  F.required("event_pair_us", D.EventPairUs);
  F.required("lockdown", D.Lockdown);
  F.sparse("id", D.Id, "");
  F.sparse("devices", D.Devices, 1u);
}

} // namespace stark::gpu

#endif
