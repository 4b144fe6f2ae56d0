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
/// Filled and compared as twice as many of its parts.
template <class T> using Complex = T;

/// Of a block; blocks beyond those take turns.
constexpr unsigned Threads = 256, MaxBlocks = 8192;

inline unsigned blocksFor(uint64_t Tasks) {
  return unsigned(Tasks < MaxBlocks ? Tasks : MaxBlocks);
}

/// Of a grid whose threads take an element at a time.
inline unsigned blocksOver(uint64_t Elements) {
  uint64_t Blocks = (Elements + Threads - 1) / Threads;
  return Blocks ? blocksFor(Blocks) : 1;
}

/// What \p Join makes of the values of a block's threads, in its first one. All
/// of them call it.
template <class N, class Joined>
__device__ N ofBlock(N Value, const Joined &Join) {
  __shared__ N Parts[Threads / 32];
  for (unsigned Offset = 16; Offset; Offset /= 2)
    Value = Join(Value, __shfl_down_sync(~0u, Value, Offset));
  __syncthreads(); // Parts may still be read
  if (threadIdx.x % 32 == 0)
    Parts[threadIdx.x / 32] = Value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (unsigned W = 1; W < Threads / 32; ++W)
      Value = Join(Value, Parts[W]);
  return Value;
}
template <class N> __device__ N sumOfBlock(N Value) {
  return ofBlock(Value, [](N A, N B) { return A + B; });
}
template <class N> __device__ N greatestOfBlock(N Value) {
  return ofBlock(Value, [](N A, N B) { return A < B ? B : A; });
}
/// Once a block: on one word all of a grid's threads would wait for each other.
template <class N> __device__ void addOfBlock(N &Sum, N Value) {
  Value = sumOfBlock(Value);
  if (threadIdx.x == 0 && Value != 0)
    atomicAdd(&Sum, Value);
}

template <class T> __device__ double valueOf(T V) { return double(V); }
inline __device__ double valueOf(__half V) { return double(__half2float(V)); }
inline __device__ double valueOf(__nv_bfloat16 V) {
  return double(__bfloat162float(V));
}

} // namespace stark::gpu

#endif
