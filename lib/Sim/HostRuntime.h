//===- HostRuntime.h - The CUDA runtime for host code elsewhere -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_HOSTRUNTIME_H
#define STARK_LIB_SIM_HOSTRUNTIME_H

#include "Machine.h"

namespace stark::sim {

/// Of the GPU that \p Which, a cudaDeviceAttr, asks for; 0 for others.
int deviceAttribute(const GpuDescription &Gpu, int Which);

// These return a cudaError_t.
int allowShared(Machine &M, unsigned Kernel, int Bytes);
/// Whether \p Bytes may be copied or set there; a finding, if not. What is
/// written is taken as written, and as a transfer.
int beginCopy(Machine &M, void *To, const void *From, uint64_t Bytes);
int beginSet(Machine &M, void *To, uint64_t Bytes);

} // namespace stark::sim

#endif
