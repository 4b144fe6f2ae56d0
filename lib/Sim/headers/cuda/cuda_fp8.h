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

#define STARK_SIM_FORMAT __NV_E4M3
#define STARK_SIM_FP8 __nv_fp8_e4m3
#define STARK_SIM_FP8_2 __nv_fp8x2_e4m3
#define STARK_SIM_FP8_4 __nv_fp8x4_e4m3
#include "../stark/stark_sim_fp8_format.h"
#undef STARK_SIM_FORMAT
#undef STARK_SIM_FP8
#undef STARK_SIM_FP8_2
#undef STARK_SIM_FP8_4

#define STARK_SIM_FORMAT __NV_E5M2
#define STARK_SIM_FP8 __nv_fp8_e5m2
#define STARK_SIM_FP8_2 __nv_fp8x2_e5m2
#define STARK_SIM_FP8_4 __nv_fp8x4_e5m2
#include "../stark/stark_sim_fp8_format.h"
#undef STARK_SIM_FORMAT
#undef STARK_SIM_FP8
#undef STARK_SIM_FP8_2
#undef STARK_SIM_FP8_4

#endif
