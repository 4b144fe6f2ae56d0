//===- cuda_fp8.h - __nv_fp8_e4m3 and __nv_fp8_e5m2 ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Two formats of eight bits. E4M3 has a bias of 7, no infinity, and one NaN
/// (0x7f) above its largest number 448; E5M2 is the upper half of a half. The
/// classes saturate, as CUDA's do.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_FP8_H
#define STARK_SIM_CUDA_FP8_H
#define __CUDA_FP8_H__

#include "cuda_bf16.h"

#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

STARK_SIM_ONE("convert")
__nv_fp8_storage_t __nv_cvt_double_to_fp8(double x,
                                          __nv_saturation_t saturation,
                                          __nv_fp8_interpretation_t format) {
  unsigned sign = __builtin_signbit(x) ? 0x80 : 0;
  unsigned largest = format == __NV_E4M3 ? 0x7e : 0x7b;
  if (x != x)
    return 0x7f;
  unsigned magnitude = largest + 1;
  if (__builtin_fabs(x) < 1e6)
    magnitude = format == __NV_E4M3
                    ? __stark_sim_magnitude<3, -6>(x, __stark_sim_rn)
                    : __stark_sim_magnitude<2, -14>(x, __stark_sim_rn);
  if (magnitude > largest)
    magnitude = saturation == __NV_SATFINITE ? largest : largest + 1;
  return (__nv_fp8_storage_t)(sign | magnitude);
}
STARK_SIM_ONE("convert")
double __stark_sim_fp8_value(unsigned bits, __nv_fp8_interpretation_t format) {
  if (format == __NV_E5M2)
    return __stark_sim_half_value((unsigned short)(bits << 8));
  unsigned exponent = bits >> 3 & 15, digits = bits & 7;
  if ((bits & 0x7f) == 0x7f)
    return __builtin_nan("");
  double value = exponent ? __builtin_ldexp(8 + digits, (int)exponent - 10)
                          : __builtin_ldexp(digits, -9);
  return bits & 0x80 ? -value : value;
}
STARK_SIM_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(
    float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(x, saturation, format);
}
STARK_SIM_BOTH __nv_fp8_storage_t
__nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                        __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8((float)__half(x), saturation, format);
}
STARK_SIM_BOTH __nv_fp8_storage_t
__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                            __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8((float)__nv_bfloat16(x), saturation, format);
}
STARK_SIM_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(
    double2 x, __nv_saturation_t saturation, __nv_fp8_interpretation_t format) {
  return (
      __nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(x.x, saturation, format) |
                            __nv_cvt_double_to_fp8(x.y, saturation, format)
                                << 8);
}
STARK_SIM_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(
    float2 x, __nv_saturation_t saturation, __nv_fp8_interpretation_t format) {
  return __nv_cvt_double2_to_fp8x2(make_double2(x.x, x.y), saturation, format);
}
STARK_SIM_BOTH __half_raw __nv_cvt_fp8_to_halfraw(
    __nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return __half(__stark_sim_fp8_value(x, format));
}
STARK_SIM_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(
    __nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return __half2(__half(__stark_sim_fp8_value(x & 0xff, format)),
                 __half(__stark_sim_fp8_value(x >> 8, format)));
}

struct __nv_fp8_e4m3 {
  __nv_fp8_storage_t __x;

  __nv_fp8_e4m3() = default;
  explicit __host__ __device__ __nv_fp8_e4m3(float x)
      : __x(__nv_cvt_double_to_fp8((float)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(double x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(__half x)
      : __x(__nv_cvt_double_to_fp8((float)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(__nv_bfloat16 x)
      : __x(__nv_cvt_double_to_fp8((float)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(int x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(unsigned x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(unsigned long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(long long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(unsigned long long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(short x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8_e4m3(unsigned short x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ operator float() const {
    return (float)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator double() const {
    return (double)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator int() const {
    return (int)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator unsigned() const {
    return (unsigned)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator short() const {
    return (short)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator long long() const {
    return (long long)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator bool() const {
    return (bool)__stark_sim_fp8_value(__x, __NV_E4M3);
  }
  explicit __host__ __device__ operator __half() const {
    return __half(__stark_sim_fp8_value(__x, __NV_E4M3));
  }
  explicit __host__ __device__ operator __nv_bfloat16() const {
    return __nv_bfloat16(__stark_sim_fp8_value(__x, __NV_E4M3));
  }
};
struct __attribute__((aligned(2))) __nv_fp8x2_e4m3 {
  __nv_fp8x2_storage_t __x;

  __nv_fp8x2_e4m3() = default;
  explicit __host__ __device__ __nv_fp8x2_e4m3(float2 x)
      : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8x2_e4m3(double2 x)
      : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8x2_e4m3(__half2 x)
      : __x(__nv_cvt_float2_to_fp8x2(__half22float2(x), __NV_SATFINITE,
                                     __NV_E4M3)) {}
  explicit __host__ __device__ __nv_fp8x2_e4m3(__nv_bfloat162 x)
      : __x(__nv_cvt_float2_to_fp8x2(__bfloat1622float2(x), __NV_SATFINITE,
                                     __NV_E4M3)) {}
  explicit __host__ __device__ operator float2() const {
    return make_float2((float)__stark_sim_fp8_value(__x & 0xff, __NV_E4M3),
                       (float)__stark_sim_fp8_value(__x >> 8, __NV_E4M3));
  }
  explicit __host__ __device__ operator __half2() const {
    return __float22half2_rn((float2) * this);
  }
};
struct __attribute__((aligned(4))) __nv_fp8x4_e4m3 {
  __nv_fp8x4_storage_t __x;

  __nv_fp8x4_e4m3() = default;
  explicit __host__ __device__ __nv_fp8x4_e4m3(float4 x)
      : __x(__nv_cvt_float2_to_fp8x2(make_float2(x.x, x.y), __NV_SATFINITE,
                                     __NV_E4M3) |
            (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(x.z, x.w),
                                               __NV_SATFINITE, __NV_E4M3)
                << 16) {}
  explicit __host__ __device__ operator float4() const {
    return make_float4(
        (float)__stark_sim_fp8_value(__x & 0xff, __NV_E4M3),
        (float)__stark_sim_fp8_value(__x >> 8 & 0xff, __NV_E4M3),
        (float)__stark_sim_fp8_value(__x >> 16 & 0xff, __NV_E4M3),
        (float)__stark_sim_fp8_value(__x >> 24, __NV_E4M3));
  }
};

struct __nv_fp8_e5m2 {
  __nv_fp8_storage_t __x;

  __nv_fp8_e5m2() = default;
  explicit __host__ __device__ __nv_fp8_e5m2(float x)
      : __x(__nv_cvt_double_to_fp8((float)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(double x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(__half x)
      : __x(__nv_cvt_double_to_fp8((float)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(__nv_bfloat16 x)
      : __x(__nv_cvt_double_to_fp8((float)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(int x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(unsigned x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(unsigned long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(long long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(unsigned long long x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(short x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8_e5m2(unsigned short x)
      : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ operator float() const {
    return (float)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator double() const {
    return (double)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator int() const {
    return (int)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator unsigned() const {
    return (unsigned)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator short() const {
    return (short)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator long long() const {
    return (long long)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator bool() const {
    return (bool)__stark_sim_fp8_value(__x, __NV_E5M2);
  }
  explicit __host__ __device__ operator __half() const {
    return __half(__stark_sim_fp8_value(__x, __NV_E5M2));
  }
  explicit __host__ __device__ operator __nv_bfloat16() const {
    return __nv_bfloat16(__stark_sim_fp8_value(__x, __NV_E5M2));
  }
};
struct __attribute__((aligned(2))) __nv_fp8x2_e5m2 {
  __nv_fp8x2_storage_t __x;

  __nv_fp8x2_e5m2() = default;
  explicit __host__ __device__ __nv_fp8x2_e5m2(float2 x)
      : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8x2_e5m2(double2 x)
      : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8x2_e5m2(__half2 x)
      : __x(__nv_cvt_float2_to_fp8x2(__half22float2(x), __NV_SATFINITE,
                                     __NV_E5M2)) {}
  explicit __host__ __device__ __nv_fp8x2_e5m2(__nv_bfloat162 x)
      : __x(__nv_cvt_float2_to_fp8x2(__bfloat1622float2(x), __NV_SATFINITE,
                                     __NV_E5M2)) {}
  explicit __host__ __device__ operator float2() const {
    return make_float2((float)__stark_sim_fp8_value(__x & 0xff, __NV_E5M2),
                       (float)__stark_sim_fp8_value(__x >> 8, __NV_E5M2));
  }
  explicit __host__ __device__ operator __half2() const {
    return __float22half2_rn((float2) * this);
  }
};
struct __attribute__((aligned(4))) __nv_fp8x4_e5m2 {
  __nv_fp8x4_storage_t __x;

  __nv_fp8x4_e5m2() = default;
  explicit __host__ __device__ __nv_fp8x4_e5m2(float4 x)
      : __x(__nv_cvt_float2_to_fp8x2(make_float2(x.x, x.y), __NV_SATFINITE,
                                     __NV_E5M2) |
            (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(x.z, x.w),
                                               __NV_SATFINITE, __NV_E5M2)
                << 16) {}
  explicit __host__ __device__ operator float4() const {
    return make_float4(
        (float)__stark_sim_fp8_value(__x & 0xff, __NV_E5M2),
        (float)__stark_sim_fp8_value(__x >> 8 & 0xff, __NV_E5M2),
        (float)__stark_sim_fp8_value(__x >> 16 & 0xff, __NV_E5M2),
        (float)__stark_sim_fp8_value(__x >> 24, __NV_E5M2));
  }
};

#endif
