//===- cuda_fp16.h - __half and __half2 ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   half and half2: 1 sign bit, 5 of exponent, 10 of mantissa. Usable on
/// both sides. What both sixteen-bit formats share is in
/// stark_sim_float16_arithmetic.h and stark_sim_float16_compare.h, which are
/// included for each.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_FP16_H
#define STARK_SIM_CUDA_FP16_H

#define __CUDA_FP16_H__

#include "stark_sim_float16.h"

struct __attribute__((aligned(2))) __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
  unsigned short __x;

  __half() = default;
  constexpr __host__ __device__ __half(const __half_raw &raw) : __x(raw.x) {}
  __host__ __device__ __half(float f);
  __host__ __device__ __half(double f)
      : __x(__stark_sim_narrow<10, -14>(f, __stark_sim_rn)) {}
  __host__ __device__ __half(short i) : __half((double)i) {}
  __host__ __device__ __half(unsigned short i) : __half((double)i) {}
  __host__ __device__ __half(int i) : __half((double)i) {}
  __host__ __device__ __half(unsigned i) : __half((double)i) {}
  __host__ __device__ __half(long i)
      : __x(__stark_sim_narrow<10, -14>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}
  __host__ __device__ __half(unsigned long i)
      : __x(__stark_sim_narrow<10, -14>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}
  __host__ __device__ __half(long long i)
      : __x(__stark_sim_narrow<10, -14>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}
  __host__ __device__ __half(unsigned long long i)
      : __x(__stark_sim_narrow<10, -14>(__stark_sim_odd_integer(i),
                                        __stark_sim_rn)) {}

  constexpr __host__ __device__ operator __half_raw() const {
    return __half_raw{__x};
  }
  __host__ __device__ operator float() const {
    return __stark_sim_half_value(__x);
  }
  __host__ __device__ operator bool() const { return (__x & 0x7fff) != 0; }
  __host__ __device__ operator char() const {
    return __stark_sim_to_integer<char>(__stark_sim_half_value(__x),
                                        __stark_sim_rz);
  }
  __host__ __device__ operator signed char() const {
    return __stark_sim_to_integer<signed char>(__stark_sim_half_value(__x),
                                               __stark_sim_rz);
  }
  __host__ __device__ operator unsigned char() const {
    return __stark_sim_to_integer<unsigned char>(__stark_sim_half_value(__x),
                                                 __stark_sim_rz);
  }
  __host__ __device__ operator short() const {
    return __stark_sim_to_integer<short>(__stark_sim_half_value(__x),
                                         __stark_sim_rz);
  }
  __host__ __device__ operator unsigned short() const {
    return __stark_sim_to_integer<unsigned short>(__stark_sim_half_value(__x),
                                                  __stark_sim_rz);
  }
  __host__ __device__ operator int() const {
    return __stark_sim_to_integer<int>(__stark_sim_half_value(__x),
                                       __stark_sim_rz);
  }
  __host__ __device__ operator unsigned() const {
    return __stark_sim_to_integer<unsigned>(__stark_sim_half_value(__x),
                                            __stark_sim_rz);
  }
  __host__ __device__ operator long() const {
    return __stark_sim_to_integer<long>(__stark_sim_half_value(__x),
                                        __stark_sim_rz);
  }
  __host__ __device__ operator unsigned long() const {
    return __stark_sim_to_integer<unsigned long>(__stark_sim_half_value(__x),
                                                 __stark_sim_rz);
  }
  __host__ __device__ operator long long() const {
    return __stark_sim_to_integer<long long>(__stark_sim_half_value(__x),
                                             __stark_sim_rz);
  }
  __host__ __device__ operator unsigned long long() const {
    return __stark_sim_to_integer<unsigned long long>(
        __stark_sim_half_value(__x), __stark_sim_rz);
  }
  __host__ __device__ __half &operator=(float v) { return *this = __half(v); }
  __host__ __device__ __half &operator=(double v) { return *this = __half(v); }
  __host__ __device__ __half &operator=(short v) { return *this = __half(v); }
  __host__ __device__ __half &operator=(unsigned short v) {
    return *this = __half(v);
  }
  __host__ __device__ __half &operator=(int v) { return *this = __half(v); }
  __host__ __device__ __half &operator=(unsigned v) {
    return *this = __half(v);
  }
  __host__ __device__ __half &operator=(long long v) {
    return *this = __half(v);
  }
  __host__ __device__ __half &operator=(unsigned long long v) {
    return *this = __half(v);
  }
};
STARK_SIM_ONE("convert") __half __float2half(float f) {
  return __half_raw{__stark_sim_half_bits(f)};
}
__inline__ __host__ __device__ __half::__half(float f)
    : __x(__float2half(f).__x) {}

struct __attribute__((aligned(4))) __half2 {
  __half x, y;

  __half2() = default;
  constexpr __host__ __device__ __half2(const __half &a, const __half &b)
      : x(a), y(b) {}
  constexpr __host__ __device__ __half2(const __half2_raw &raw)
      : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  constexpr __host__ __device__ operator __half2_raw() const {
    return __half2_raw{x.__x, y.__x};
  }
};

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

// To and from single and double precision.
STARK_SIM_BOTH float __half2float(__half h) { return (float)h; }
STARK_SIM_BOTH __half __double2half(double f) { return __half(f); }
STARK_SIM_BOTH __half __float2half_rn(float f) { return __half(f); }
STARK_SIM_BOTH __half __float2half_rz(float f) {
  return __half_raw{__stark_sim_narrow<10, -14>(f, __stark_sim_rz)};
}
STARK_SIM_BOTH __half __float2half_rd(float f) {
  return __half_raw{__stark_sim_narrow<10, -14>(f, __stark_sim_rd)};
}
STARK_SIM_BOTH __half __float2half_ru(float f) {
  return __half_raw{__stark_sim_narrow<10, -14>(f, __stark_sim_ru)};
}
STARK_SIM_ONE("convert") __half2 __floats2half2_rn(float a, float b) {
  return __half2(__half(a), __half(b));
}
STARK_SIM_BOTH __half2 __float2half2_rn(float f) {
  return __half2(__half(f), __half(f));
}
STARK_SIM_BOTH __half2 __float22half2_rn(float2 f) {
  return __floats2half2_rn(f.x, f.y);
}
STARK_SIM_BOTH float2 __half22float2(__half2 h) {
  return make_float2((float)h.x, (float)h.y);
}
STARK_SIM_BOTH float __low2float(__half2 h) { return (float)h.x; }
STARK_SIM_BOTH float __high2float(__half2 h) { return (float)h.y; }

// To and from integers; to nearest, to zero, down and up.
#define STARK_SIM_CONVERT(NAME, TYPE, SUFFIX)                                  \
  STARK_SIM_BOTH TYPE __half2##NAME##_##SUFFIX(__half h) {                     \
    return __stark_sim_to_integer<TYPE>((float)h, __stark_sim_##SUFFIX);       \
  }                                                                            \
  STARK_SIM_BOTH __half __##NAME##2half_##SUFFIX(TYPE i) {                     \
    return __half_raw{__stark_sim_narrow<10, -14>(__stark_sim_odd_integer(i),  \
                                                  __stark_sim_##SUFFIX)};      \
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
STARK_SIM_BOTH unsigned short __half_as_ushort(__half h) { return h.__x; }
STARK_SIM_BOTH short __half_as_short(__half h) { return (short)h.__x; }
STARK_SIM_BOTH __half __ushort_as_half(unsigned short bits) {
  return __half_raw{bits};
}
STARK_SIM_BOTH __half __short_as_half(short bits) {
  return __half_raw{(unsigned short)bits};
}
STARK_SIM_BOTH __half2 make_half2(__half a, __half b) { return __half2(a, b); }
STARK_SIM_BOTH __half2 __half2half2(__half h) { return __half2(h, h); }
STARK_SIM_BOTH __half2 __halves2half2(__half a, __half b) {
  return __half2(a, b);
}
STARK_SIM_BOTH __half __low2half(__half2 h) { return h.x; }
STARK_SIM_BOTH __half __high2half(__half2 h) { return h.y; }
STARK_SIM_BOTH __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
STARK_SIM_BOTH __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
STARK_SIM_BOTH __half2 __lows2half2(__half2 a, __half2 b) {
  return __half2(a.x, b.x);
}
STARK_SIM_BOTH __half2 __highs2half2(__half2 a, __half2 b) {
  return __half2(a.y, b.y);
}
STARK_SIM_BOTH __half2 __lowhigh2highlow(__half2 h) {
  return __half2(h.y, h.x);
}

/// a * b + c, rounded once.
STARK_SIM_BOTH __half __stark_sim_fused(__half a, __half b, __half c) {
  return __half_raw{__stark_sim_half_bits(__stark_sim_odd(__stark_sim_odd_sum(
      (double)(float)a * (double)(float)b, (double)(float)c)))};
}
/// A result that single precision rounded first: too small a one may have lost
/// what the second rounding needs, and is \p exact instead.
STARK_SIM_BOTH __half __stark_sim_rounded(__half, float result, double exact) {
  if (__builtin_fabsf(result) < 0x1p-100f)
    return __half(exact);
  return __half(result);
}

#define STARK_SIM_NARROW __half
#define STARK_SIM_NARROW_2 __half2
#define STARK_SIM_RAW __half_raw
#include "stark_sim_float16_arithmetic.h"
#include "stark_sim_float16_compare.h"
#include "stark_sim_float16_device.h"
#undef STARK_SIM_NARROW
#undef STARK_SIM_NARROW_2
#undef STARK_SIM_RAW

#endif
