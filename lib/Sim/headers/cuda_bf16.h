//===- cuda_bf16.h - __nv_bfloat16 and __nv_bfloat162 --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bfloat16 and bfloat162: the upper half of a float. Usable on
/// both sides. What both sixteen-bit formats share is in
/// stark_sim_float16_arithmetic.h and stark_sim_float16_compare.h, which are
/// included for each.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_BF16_H
#define STARK_SIM_CUDA_BF16_H

#define __CUDA_BF16_H__

#include "stark_sim_float16.h"

struct __attribute__((aligned(2))) __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  constexpr __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw &raw)
      : __x(raw.x) {}
  __host__ __device__ __nv_bfloat16(float f);
  __host__ __device__ __nv_bfloat16(double f)
      : __x(__stark_sim_narrow<7, -126>(f, __stark_sim_rn)) {}
  __host__ __device__ __nv_bfloat16(short i) : __nv_bfloat16((double)i) {}
  __host__ __device__ __nv_bfloat16(unsigned short i)
      : __nv_bfloat16((double)i) {}
  __host__ __device__ __nv_bfloat16(int i) : __nv_bfloat16((double)i) {}
  __host__ __device__ __nv_bfloat16(unsigned i) : __nv_bfloat16((double)i) {}
  __host__ __device__ __nv_bfloat16(long i)
      : __x(__stark_sim_narrow<7, -126>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}
  __host__ __device__ __nv_bfloat16(unsigned long i)
      : __x(__stark_sim_narrow<7, -126>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}
  __host__ __device__ __nv_bfloat16(long long i)
      : __x(__stark_sim_narrow<7, -126>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}
  __host__ __device__ __nv_bfloat16(unsigned long long i)
      : __x(__stark_sim_narrow<7, -126>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}

  constexpr __host__ __device__ operator __nv_bfloat16_raw() const {
    return __nv_bfloat16_raw{__x};
  }
  __host__ __device__ operator float() const {
    return __stark_sim_bfloat_value(__x);
  }
  __host__ __device__ operator bool() const { return (__x & 0x7fff) != 0; }
  __host__ __device__ operator char() const {
    return __stark_sim_to_integer<char>(__stark_sim_bfloat_value(__x),
                                        __stark_sim_rz);
  }
  __host__ __device__ operator signed char() const {
    return __stark_sim_to_integer<signed char>(__stark_sim_bfloat_value(__x),
                                               __stark_sim_rz);
  }
  __host__ __device__ operator unsigned char() const {
    return __stark_sim_to_integer<unsigned char>(__stark_sim_bfloat_value(__x),
                                                 __stark_sim_rz);
  }
  __host__ __device__ operator short() const {
    return __stark_sim_to_integer<short>(__stark_sim_bfloat_value(__x),
                                         __stark_sim_rz);
  }
  __host__ __device__ operator unsigned short() const {
    return __stark_sim_to_integer<unsigned short>(__stark_sim_bfloat_value(__x),
                                                  __stark_sim_rz);
  }
  __host__ __device__ operator int() const {
    return __stark_sim_to_integer<int>(__stark_sim_bfloat_value(__x),
                                       __stark_sim_rz);
  }
  __host__ __device__ operator unsigned() const {
    return __stark_sim_to_integer<unsigned>(__stark_sim_bfloat_value(__x),
                                            __stark_sim_rz);
  }
  __host__ __device__ operator long() const {
    return __stark_sim_to_integer<long>(__stark_sim_bfloat_value(__x),
                                        __stark_sim_rz);
  }
  __host__ __device__ operator unsigned long() const {
    return __stark_sim_to_integer<unsigned long>(__stark_sim_bfloat_value(__x),
                                                 __stark_sim_rz);
  }
  __host__ __device__ operator long long() const {
    return __stark_sim_to_integer<long long>(__stark_sim_bfloat_value(__x),
                                             __stark_sim_rz);
  }
  __host__ __device__ operator unsigned long long() const {
    return __stark_sim_to_integer<unsigned long long>(
        __stark_sim_bfloat_value(__x), __stark_sim_rz);
  }
  __host__ __device__ __nv_bfloat16 &operator=(float v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(double v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(short v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(unsigned short v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(int v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(unsigned v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(long long v) {
    return *this = __nv_bfloat16(v);
  }
  __host__ __device__ __nv_bfloat16 &operator=(unsigned long long v) {
    return *this = __nv_bfloat16(v);
  }
};
STARK_SIM_ONE("convert") __nv_bfloat16 __float2bfloat16(float f) {
  return __nv_bfloat16_raw{__stark_sim_bfloat_bits(f)};
}
__inline__ __host__ __device__ __nv_bfloat16::__nv_bfloat16(float f)
    : __x(__float2bfloat16(f).__x) {}

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  constexpr __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a,
                                               const __nv_bfloat16 &b)
      : x(a), y(b) {}
  constexpr __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw &raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  constexpr __host__ __device__ operator __nv_bfloat162_raw() const {
    return __nv_bfloat162_raw{x.__x, y.__x};
  }
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// To and from single and double precision.
STARK_SIM_BOTH float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
STARK_SIM_BOTH __nv_bfloat16 __double2bfloat16(double f) {
  return __nv_bfloat16(f);
}
STARK_SIM_BOTH __nv_bfloat16 __float2bfloat16_rn(float f) {
  return __nv_bfloat16(f);
}
STARK_SIM_BOTH __nv_bfloat16 __float2bfloat16_rz(float f) {
  return __nv_bfloat16_raw{__stark_sim_narrow<7, -126>(f, __stark_sim_rz)};
}
STARK_SIM_BOTH __nv_bfloat16 __float2bfloat16_rd(float f) {
  return __nv_bfloat16_raw{__stark_sim_narrow<7, -126>(f, __stark_sim_rd)};
}
STARK_SIM_BOTH __nv_bfloat16 __float2bfloat16_ru(float f) {
  return __nv_bfloat16_raw{__stark_sim_narrow<7, -126>(f, __stark_sim_ru)};
}
STARK_SIM_ONE("convert")
__nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
STARK_SIM_BOTH __nv_bfloat162 __float2bfloat162_rn(float f) {
  return __nv_bfloat162(__nv_bfloat16(f), __nv_bfloat16(f));
}
STARK_SIM_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 f) {
  return __floats2bfloat162_rn(f.x, f.y);
}
STARK_SIM_BOTH float2 __bfloat1622float2(__nv_bfloat162 h) {
  return make_float2((float)h.x, (float)h.y);
}
STARK_SIM_BOTH float __low2float(__nv_bfloat162 h) { return (float)h.x; }
STARK_SIM_BOTH float __high2float(__nv_bfloat162 h) { return (float)h.y; }

// To and from integers; to nearest, to zero, down and up.
#define STARK_SIM_CONVERT(NAME, TYPE, SUFFIX)                                  \
  STARK_SIM_BOTH TYPE __bfloat162##NAME##_##SUFFIX(__nv_bfloat16 h) {          \
    return __stark_sim_to_integer<TYPE>((float)h, __stark_sim_##SUFFIX);       \
  }                                                                            \
  STARK_SIM_BOTH __nv_bfloat16 __##NAME##2bfloat16_##SUFFIX(TYPE i) {          \
    return __nv_bfloat16_raw{__stark_sim_narrow<7, -126>(                      \
        __stark_sim_odd_integer(i), __stark_sim_##SUFFIX)};                    \
  }
STARK_SIM_CONVERT(int, int, rn)
STARK_SIM_CONVERT(int, int, rz)
STARK_SIM_CONVERT(int, int, rd)
STARK_SIM_CONVERT(int, int, ru)
STARK_SIM_CONVERT(uint, unsigned, rn)
STARK_SIM_CONVERT(uint, unsigned, rz)
STARK_SIM_CONVERT(uint, unsigned, rd)
STARK_SIM_CONVERT(uint, unsigned, ru)
STARK_SIM_CONVERT(short, short, rn)
STARK_SIM_CONVERT(short, short, rz)
STARK_SIM_CONVERT(short, short, rd)
STARK_SIM_CONVERT(short, short, ru)
STARK_SIM_CONVERT(ushort, unsigned short, rn)
STARK_SIM_CONVERT(ushort, unsigned short, rz)
STARK_SIM_CONVERT(ushort, unsigned short, rd)
STARK_SIM_CONVERT(ushort, unsigned short, ru)
STARK_SIM_CONVERT(ll, long long, rn)
STARK_SIM_CONVERT(ll, long long, rz)
STARK_SIM_CONVERT(ll, long long, rd)
STARK_SIM_CONVERT(ll, long long, ru)
STARK_SIM_CONVERT(ull, unsigned long long, rn)
STARK_SIM_CONVERT(ull, unsigned long long, rz)
STARK_SIM_CONVERT(ull, unsigned long long, rd)
STARK_SIM_CONVERT(ull, unsigned long long, ru)
#undef STARK_SIM_CONVERT

// Bits, and halves of a pair.
STARK_SIM_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) {
  return h.__x;
}
STARK_SIM_BOTH short __bfloat16_as_short(__nv_bfloat16 h) {
  return (short)h.__x;
}
STARK_SIM_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16_raw{bits};
}
STARK_SIM_BOTH __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16_raw{(unsigned short)bits};
}
STARK_SIM_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
STARK_SIM_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) {
  return __nv_bfloat162(h, h);
}
STARK_SIM_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a,
                                                 __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
STARK_SIM_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
STARK_SIM_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
STARK_SIM_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) {
  return __nv_bfloat162(h.x, h.x);
}
STARK_SIM_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) {
  return __nv_bfloat162(h.y, h.y);
}
STARK_SIM_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a,
                                               __nv_bfloat162 b) {
  return __nv_bfloat162(a.x, b.x);
}
STARK_SIM_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a,
                                                __nv_bfloat162 b) {
  return __nv_bfloat162(a.y, b.y);
}
STARK_SIM_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 h) {
  return __nv_bfloat162(h.y, h.x);
}

/// a * b + c, rounded once.
STARK_SIM_BOTH __nv_bfloat16 __stark_sim_fused(__nv_bfloat16 a, __nv_bfloat16 b,
                                               __nv_bfloat16 c) {
  return __nv_bfloat16_raw{
      __stark_sim_bfloat_bits(__stark_sim_odd(__stark_sim_odd_sum(
          (double)(float)a * (double)(float)b, (double)(float)c)))};
}
/// A result that single precision rounded first: too small a one may have lost
/// what the second rounding needs, and is \p exact instead.
STARK_SIM_BOTH __nv_bfloat16 __stark_sim_rounded(__nv_bfloat16, float result,
                                                 double exact) {
  if (__builtin_fabsf(result) < 0x1p-100f)
    return __nv_bfloat16(exact);
  return __nv_bfloat16(result);
}

#define STARK_SIM_NARROW __nv_bfloat16
#define STARK_SIM_NARROW_2 __nv_bfloat162
#define STARK_SIM_RAW __nv_bfloat16_raw
#include "stark_sim_float16_arithmetic.h"
#include "stark_sim_float16_compare.h"
#include "stark_sim_float16_device.h"
#undef STARK_SIM_NARROW
#undef STARK_SIM_NARROW_2
#undef STARK_SIM_RAW

#endif
