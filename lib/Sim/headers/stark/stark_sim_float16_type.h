//===- stark_sim_float16_type.h - A sixteen-bit format and its conversions ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Included once for each of __half and __nv_bfloat16:
///   STARK_SIM_NARROW, STARK_SIM_NARROW_2   the number and the pair
///   STARK_SIM_RAW, STARK_SIM_RAW_2         their bits
///   STARK_SIM_NAME(BEFORE, AFTER)          "half" or "bfloat16" in a name
///   STARK_SIM_ROUND                        __stark_sim_narrow<format>
///   STARK_SIM_VALUE, STARK_SIM_BITS        bits as float; float rounded to
///   bits
///
//===----------------------------------------------------------------------===//

struct __attribute__((aligned(2))) STARK_SIM_RAW {
  unsigned short x;
};
struct __attribute__((aligned(4))) STARK_SIM_RAW_2 {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) STARK_SIM_NARROW {
  unsigned short __x;

  STARK_SIM_NARROW() = default;
  constexpr __host__ __device__ STARK_SIM_NARROW(const STARK_SIM_RAW &raw)
      : __x(raw.x) {}
  __host__ __device__ STARK_SIM_NARROW(float f);
  __host__ __device__ STARK_SIM_NARROW(double f)
      : __x(STARK_SIM_ROUND(f, __stark_sim_rn)) {}
#define STARK_SIM_FROM(TYPE)                                                   \
  __host__ __device__ STARK_SIM_NARROW(TYPE i) : STARK_SIM_NARROW((double)i) {}
  STARK_SIM_FROM(short)
  STARK_SIM_FROM(unsigned short)
  STARK_SIM_FROM(int)
  STARK_SIM_FROM(unsigned)
#undef STARK_SIM_FROM
  // Wider than a double's digits: rounded once all the same.
#define STARK_SIM_FROM(TYPE)                                                   \
  __host__ __device__ STARK_SIM_NARROW(TYPE i)                                 \
      : __x(STARK_SIM_ROUND(__stark_sim_odd_integer(i), __stark_sim_rn)) {}
  STARK_SIM_FROM(long)
  STARK_SIM_FROM(unsigned long)
  STARK_SIM_FROM(long long)
  STARK_SIM_FROM(unsigned long long)
#undef STARK_SIM_FROM

  constexpr __host__ __device__ operator STARK_SIM_RAW() const {
    return STARK_SIM_RAW{__x};
  }
  __host__ __device__ operator float() const { return STARK_SIM_VALUE(__x); }
  __host__ __device__ operator bool() const { return (__x & 0x7fff) != 0; }
#define STARK_SIM_TO(TYPE)                                                     \
  __host__ __device__ operator TYPE() const {                                  \
    return __stark_sim_to_integer<TYPE>(STARK_SIM_VALUE(__x), __stark_sim_rz); \
  }
  STARK_SIM_TO(char)
  STARK_SIM_TO(signed char)
  STARK_SIM_TO(unsigned char)
  STARK_SIM_TO(short)
  STARK_SIM_TO(unsigned short)
  STARK_SIM_TO(int)
  STARK_SIM_TO(unsigned)
  STARK_SIM_TO(long)
  STARK_SIM_TO(unsigned long)
  STARK_SIM_TO(long long)
  STARK_SIM_TO(unsigned long long)
#undef STARK_SIM_TO
#define STARK_SIM_ASSIGN(TYPE)                                                 \
  __host__ __device__ STARK_SIM_NARROW &operator=(TYPE v) {                    \
    return *this = STARK_SIM_NARROW(v);                                        \
  }
  STARK_SIM_ASSIGN(float)
  STARK_SIM_ASSIGN(double)
  STARK_SIM_ASSIGN(short)
  STARK_SIM_ASSIGN(unsigned short)
  STARK_SIM_ASSIGN(int)
  STARK_SIM_ASSIGN(unsigned)
  STARK_SIM_ASSIGN(long long)
  STARK_SIM_ASSIGN(unsigned long long)
#undef STARK_SIM_ASSIGN
};
STARK_SIM_ONE("convert") STARK_SIM_NARROW STARK_SIM_NAME(__float2, )(float f) {
  return STARK_SIM_RAW{STARK_SIM_BITS(f)};
}
__inline__ __host__ __device__ STARK_SIM_NARROW::STARK_SIM_NARROW(float f)
    : __x(STARK_SIM_NAME(__float2, )(f).__x) {}

struct __attribute__((aligned(4))) STARK_SIM_NARROW_2 {
  STARK_SIM_NARROW x, y;

  STARK_SIM_NARROW_2() = default;
  constexpr __host__ __device__ STARK_SIM_NARROW_2(const STARK_SIM_NARROW &a,
                                                   const STARK_SIM_NARROW &b)
      : x(a), y(b) {}
  constexpr __host__ __device__ STARK_SIM_NARROW_2(const STARK_SIM_RAW_2 &raw)
      : x(STARK_SIM_RAW{raw.x}), y(STARK_SIM_RAW{raw.y}) {}
  constexpr __host__ __device__ operator STARK_SIM_RAW_2() const {
    return STARK_SIM_RAW_2{x.__x, y.__x};
  }
};

typedef STARK_SIM_NARROW STARK_SIM_NAME(nv_, );
typedef STARK_SIM_NARROW_2 STARK_SIM_NAME(nv_, 2);

// To and from single and double precision.
STARK_SIM_BOTH float STARK_SIM_NAME(__, 2float)(STARK_SIM_NARROW h) {
  return (float)h;
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__double2, )(double f) {
  return STARK_SIM_NARROW(f);
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__float2, _rn)(float f) {
  return STARK_SIM_NARROW(f);
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__float2, _rz)(float f) {
  return STARK_SIM_RAW{STARK_SIM_ROUND(f, __stark_sim_rz)};
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__float2, _rd)(float f) {
  return STARK_SIM_RAW{STARK_SIM_ROUND(f, __stark_sim_rd)};
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__float2, _ru)(float f) {
  return STARK_SIM_RAW{STARK_SIM_ROUND(f, __stark_sim_ru)};
}
STARK_SIM_ONE("convert")
STARK_SIM_NARROW_2 STARK_SIM_NAME(__floats2, 2_rn)(float a, float b) {
  return STARK_SIM_NARROW_2(STARK_SIM_NARROW(a), STARK_SIM_NARROW(b));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__float2, 2_rn)(float f) {
  return STARK_SIM_NARROW_2(STARK_SIM_NARROW(f), STARK_SIM_NARROW(f));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__float22, 2_rn)(float2 f) {
  return STARK_SIM_NAME(__floats2, 2_rn)(f.x, f.y);
}
STARK_SIM_BOTH float2 STARK_SIM_NAME(__, 22float2)(STARK_SIM_NARROW_2 h) {
  return make_float2((float)h.x, (float)h.y);
}
STARK_SIM_BOTH float __low2float(STARK_SIM_NARROW_2 h) { return (float)h.x; }
STARK_SIM_BOTH float __high2float(STARK_SIM_NARROW_2 h) { return (float)h.y; }

// To and from integers; to nearest, to zero, down and up.
#define STARK_SIM_CONVERT_ROUNDED(WORD, TYPE, SUFFIX)                          \
  STARK_SIM_BOTH TYPE STARK_SIM_NAME(__,                                       \
                                     2##WORD##_##SUFFIX)(STARK_SIM_NARROW h) { \
    return __stark_sim_to_integer<TYPE>((float)h, __stark_sim_##SUFFIX);       \
  }                                                                            \
  STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__##WORD##2,                  \
                                                 _##SUFFIX)(TYPE i) {          \
    return STARK_SIM_RAW{                                                      \
        STARK_SIM_ROUND(__stark_sim_odd_integer(i), __stark_sim_##SUFFIX)};    \
  }
#define STARK_SIM_CONVERT(WORD, TYPE)                                          \
  STARK_SIM_CONVERT_ROUNDED(WORD, TYPE, rn)                                    \
  STARK_SIM_CONVERT_ROUNDED(WORD, TYPE, rz)                                    \
  STARK_SIM_CONVERT_ROUNDED(WORD, TYPE, rd)                                    \
  STARK_SIM_CONVERT_ROUNDED(WORD, TYPE, ru)
STARK_SIM_CONVERT(int, int)
STARK_SIM_CONVERT(uint, unsigned)
STARK_SIM_CONVERT(short, short)
STARK_SIM_CONVERT(ushort, unsigned short)
STARK_SIM_CONVERT(ll, long long)
STARK_SIM_CONVERT(ull, unsigned long long)
#undef STARK_SIM_CONVERT
#undef STARK_SIM_CONVERT_ROUNDED

// Bits, and halves of a pair.
STARK_SIM_BOTH unsigned short STARK_SIM_NAME(__,
                                             _as_ushort)(STARK_SIM_NARROW h) {
  return h.__x;
}
STARK_SIM_BOTH short STARK_SIM_NAME(__, _as_short)(STARK_SIM_NARROW h) {
  return (short)h.__x;
}
STARK_SIM_BOTH STARK_SIM_NARROW
STARK_SIM_NAME(__ushort_as_, )(unsigned short bits) {
  return STARK_SIM_RAW{bits};
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__short_as_, )(short bits) {
  return STARK_SIM_RAW{(unsigned short)bits};
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(make_, 2)(STARK_SIM_NARROW a,
                                                           STARK_SIM_NARROW b) {
  return STARK_SIM_NARROW_2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__halves2,
                                                 2)(STARK_SIM_NARROW a,
                                                    STARK_SIM_NARROW b) {
  return STARK_SIM_NARROW_2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW STARK_SIM_NAME(__low2, )(STARK_SIM_NARROW_2 h) {
  return h.x;
}
STARK_SIM_BOTH STARK_SIM_NARROW
STARK_SIM_NAME(__high2, )(STARK_SIM_NARROW_2 h) {
  return h.y;
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__low2,
                                                 2)(STARK_SIM_NARROW_2 h) {
  return STARK_SIM_NARROW_2(h.x, h.x);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__high2,
                                                 2)(STARK_SIM_NARROW_2 h) {
  return STARK_SIM_NARROW_2(h.y, h.y);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__lows2,
                                                 2)(STARK_SIM_NARROW_2 a,
                                                    STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(a.x, b.x);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 STARK_SIM_NAME(__highs2,
                                                 2)(STARK_SIM_NARROW_2 a,
                                                    STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(a.y, b.y);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __lowhigh2highlow(STARK_SIM_NARROW_2 h) {
  return STARK_SIM_NARROW_2(h.y, h.x);
}

/// a * b + c, rounded once.
STARK_SIM_BOTH STARK_SIM_NARROW __stark_sim_fused(STARK_SIM_NARROW a,
                                                  STARK_SIM_NARROW b,
                                                  STARK_SIM_NARROW c) {
  return STARK_SIM_RAW{STARK_SIM_BITS(__stark_sim_odd(__stark_sim_odd_sum(
      (double)(float)a * (double)(float)b, (double)(float)c)))};
}
/// A result that single precision rounded first: too small a one may have lost
/// what the second rounding needs, and is \p exact instead.
STARK_SIM_BOTH STARK_SIM_NARROW __stark_sim_rounded(STARK_SIM_NARROW,
                                                    float result,
                                                    double exact) {
  if (__builtin_fabsf(result) < 0x1p-100f)
    return STARK_SIM_NARROW(exact);
  return STARK_SIM_NARROW(result);
}
