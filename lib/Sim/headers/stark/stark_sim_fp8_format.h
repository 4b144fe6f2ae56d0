//===- stark_sim_fp8_format.h - A format of eight bits -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Included once for each format, STARK_SIM_FORMAT, whose number, pair and
/// four are STARK_SIM_FP8, STARK_SIM_FP8_2 and STARK_SIM_FP8_4.
///
//===----------------------------------------------------------------------===//

struct STARK_SIM_FP8 {
  __nv_fp8_storage_t __x;

  STARK_SIM_FP8() = default;
#define STARK_SIM_FROM(TYPE, WIDE)                                             \
  explicit __host__ __device__ STARK_SIM_FP8(TYPE x)                           \
      : __x(__nv_cvt_double_to_fp8((WIDE)x, __NV_SATFINITE,                    \
                                   STARK_SIM_FORMAT)) {}
  STARK_SIM_FROM(float, float)
  STARK_SIM_FROM(double, double)
  STARK_SIM_FROM(__half, float)
  STARK_SIM_FROM(__nv_bfloat16, float)
  STARK_SIM_FROM(int, double)
  STARK_SIM_FROM(unsigned, double)
  STARK_SIM_FROM(long, double)
  STARK_SIM_FROM(unsigned long, double)
  STARK_SIM_FROM(long long, double)
  STARK_SIM_FROM(unsigned long long, double)
  STARK_SIM_FROM(short, double)
  STARK_SIM_FROM(unsigned short, double)
#undef STARK_SIM_FROM
#define STARK_SIM_TO(TYPE)                                                     \
  explicit __host__ __device__ operator TYPE() const {                         \
    return (TYPE)__stark_sim_fp8_value(__x, STARK_SIM_FORMAT);                 \
  }
  STARK_SIM_TO(float)
  STARK_SIM_TO(double)
  STARK_SIM_TO(int)
  STARK_SIM_TO(unsigned)
  STARK_SIM_TO(short)
  STARK_SIM_TO(long long)
  STARK_SIM_TO(bool)
  STARK_SIM_TO(__half)
  STARK_SIM_TO(__nv_bfloat16)
#undef STARK_SIM_TO
};
struct __attribute__((aligned(2))) STARK_SIM_FP8_2 {
  __nv_fp8x2_storage_t __x;

  STARK_SIM_FP8_2() = default;
  explicit __host__ __device__ STARK_SIM_FP8_2(float2 x)
      : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, STARK_SIM_FORMAT)) {}
  explicit __host__ __device__ STARK_SIM_FP8_2(double2 x)
      : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, STARK_SIM_FORMAT)) {}
  explicit __host__ __device__ STARK_SIM_FP8_2(__half2 x)
      : __x(__nv_cvt_float2_to_fp8x2(__half22float2(x), __NV_SATFINITE,
                                     STARK_SIM_FORMAT)) {}
  explicit __host__ __device__ STARK_SIM_FP8_2(__nv_bfloat162 x)
      : __x(__nv_cvt_float2_to_fp8x2(__bfloat1622float2(x), __NV_SATFINITE,
                                     STARK_SIM_FORMAT)) {}
  explicit __host__ __device__ operator float2() const {
    return make_float2(
        (float)__stark_sim_fp8_value(__x & 0xff, STARK_SIM_FORMAT),
        (float)__stark_sim_fp8_value(__x >> 8, STARK_SIM_FORMAT));
  }
  explicit __host__ __device__ operator __half2() const {
    return __float22half2_rn((float2) * this);
  }
};
struct __attribute__((aligned(4))) STARK_SIM_FP8_4 {
  __nv_fp8x4_storage_t __x;

  STARK_SIM_FP8_4() = default;
  explicit __host__ __device__ STARK_SIM_FP8_4(float4 x)
      : __x(__nv_cvt_float2_to_fp8x2(make_float2(x.x, x.y), __NV_SATFINITE,
                                     STARK_SIM_FORMAT) |
            (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(x.z, x.w),
                                               __NV_SATFINITE, STARK_SIM_FORMAT)
                << 16) {}
  explicit __host__ __device__ operator float4() const {
    return make_float4(
        (float)__stark_sim_fp8_value(__x & 0xff, STARK_SIM_FORMAT),
        (float)__stark_sim_fp8_value(__x >> 8 & 0xff, STARK_SIM_FORMAT),
        (float)__stark_sim_fp8_value(__x >> 16 & 0xff, STARK_SIM_FORMAT),
        (float)__stark_sim_fp8_value(__x >> 24, STARK_SIM_FORMAT));
  }
};
