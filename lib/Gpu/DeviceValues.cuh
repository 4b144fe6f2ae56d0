//===- DeviceValues.cuh - Elements of buffers on the device --*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   an element of any type -> a number; so many tasks -> blocks of threads
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_GPU_DEVICEVALUES_CUH
#define STARK_LIB_GPU_DEVICEVALUES_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace stark::gpu {
using Half = __half;
using BFloat = __nv_bfloat16;
/// Compared as twice as many of its parts.
template <class T> using Complex = T;

/// Of a block; blocks beyond those take turns.
constexpr unsigned Threads = 256, MaxBlocks = 8192;

inline unsigned blocksFor(uint64_t Tasks) {
  return unsigned(Tasks < MaxBlocks ? Tasks : MaxBlocks);
}

template <class T> __device__ double valueOf(T V) { return double(V); }
inline __device__ double valueOf(__half V) { return double(__half2float(V)); }
inline __device__ double valueOf(__nv_bfloat16 V) {
  return double(__bfloat162float(V));
}

} // namespace stark::gpu

#endif
