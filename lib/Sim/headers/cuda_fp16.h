//===- cuda_fp16.h - __half and __half2 ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Sixteen stored bits; arithmetic in single precision, rounded once.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_FP16_H
#define STARK_SIM_CUDA_FP16_H

struct __half {
  unsigned short __x;
  __half() = default;
  __host__ __device__ __half(float f) {
    _Float16 h = (_Float16)f;
    __builtin_memcpy(&__x, &h, 2);
  }
  __host__ __device__ operator float() const {
    _Float16 h;
    __builtin_memcpy(&h, &__x, 2);
    return h;
  }
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
};
typedef __half2 half2;
STARK_SIM_BOTH float __half2float(__half h) { return (float)h; }
STARK_SIM_BOTH __half __float2half(float f) { return __half(f); }
STARK_SIM_BOTH float2 __half22float2(__half2 h) {
  return make_float2((float)h.x, (float)h.y);
}
STARK_SIM_BOTH __half2 __floats2half2_rn(float a, float b) {
  return __half2{__half(a), __half(b)};
}

#endif
