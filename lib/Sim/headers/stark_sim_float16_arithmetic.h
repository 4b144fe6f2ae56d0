//===- stark_sim_float16_arithmetic.h - Operators and functions of a sixteen-bit
// format ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Included once for each of __half and __nv_bfloat16, named STARK_SIM_NARROW
/// with its pair STARK_SIM_NARROW_2 and its bits STARK_SIM_RAW.
///
//===----------------------------------------------------------------------===//

// One rounding for each.
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hadd(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return STARK_SIM_NARROW((float)a + (float)b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hsub(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return STARK_SIM_NARROW((float)a - (float)b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hmul(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return __stark_sim_rounded(a, (float)a * (float)b,
                             (double)(float)a * (double)(float)b);
}
STARK_SIM_BOTH STARK_SIM_NARROW __hdiv(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return __stark_sim_rounded(a, (float)a / (float)b,
                             (double)(float)a / (double)(float)b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW
__hfma(STARK_SIM_NARROW a, STARK_SIM_NARROW b, STARK_SIM_NARROW c) {
  return __stark_sim_fused(a, b, c);
}
STARK_SIM_BOTH STARK_SIM_NARROW __hneg(STARK_SIM_NARROW a) {
  return STARK_SIM_RAW{(unsigned short)(a.__x ^ 0x8000)};
}
STARK_SIM_BOTH STARK_SIM_NARROW __habs(STARK_SIM_NARROW a) {
  return STARK_SIM_RAW{(unsigned short)(a.__x & 0x7fff)};
}
STARK_SIM_BOTH STARK_SIM_NARROW __stark_sim_unit_range(STARK_SIM_NARROW a) {
  float f = (float)a;
  return STARK_SIM_NARROW(f > 0.0f ? (f < 1.0f ? f : 1.0f) : 0.0f);
}
STARK_SIM_BOTH STARK_SIM_NARROW __stark_sim_not_negative(STARK_SIM_NARROW a) {
  return (float)a < 0.0f ? STARK_SIM_NARROW(0.0f) : a;
}
STARK_SIM_BOTH STARK_SIM_NARROW __hadd_rn(STARK_SIM_NARROW a,
                                          STARK_SIM_NARROW b) {
  return __hadd(a, b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hadd_sat(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return __stark_sim_unit_range(__hadd(a, b));
}
STARK_SIM_BOTH STARK_SIM_NARROW __hsub_rn(STARK_SIM_NARROW a,
                                          STARK_SIM_NARROW b) {
  return __hsub(a, b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hsub_sat(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return __stark_sim_unit_range(__hsub(a, b));
}
STARK_SIM_BOTH STARK_SIM_NARROW __hmul_rn(STARK_SIM_NARROW a,
                                          STARK_SIM_NARROW b) {
  return __hmul(a, b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hmul_sat(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  return __stark_sim_unit_range(__hmul(a, b));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW
__hfma_sat(STARK_SIM_NARROW a, STARK_SIM_NARROW b, STARK_SIM_NARROW c) {
  return __stark_sim_unit_range(__hfma(a, b, c));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW
__hfma_relu(STARK_SIM_NARROW a, STARK_SIM_NARROW b, STARK_SIM_NARROW c) {
  return __stark_sim_not_negative(__hfma(a, b, c));
}

// A number wins over NaN; in the _nan forms NaN wins. -0 is below +0.
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hmin(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  float x = (float)a, y = (float)b;
  if (x != x)
    return y != y ? STARK_SIM_NARROW(STARK_SIM_RAW{0x7fff}) : b;
  if (x == 0 && y == 0)
    return STARK_SIM_RAW{(unsigned short)(a.__x | b.__x)};
  return y != y || x < y ? a : b;
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hmin_nan(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  if ((float)a != (float)a || (float)b != (float)b)
    return STARK_SIM_RAW{0x7fff};
  return __hmin(a, b);
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hmax(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  float x = (float)a, y = (float)b;
  if (x != x)
    return y != y ? STARK_SIM_NARROW(STARK_SIM_RAW{0x7fff}) : b;
  if (x == 0 && y == 0)
    return STARK_SIM_RAW{(unsigned short)(a.__x & b.__x)};
  return y != y || x > y ? a : b;
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW __hmax_nan(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {
  if ((float)a != (float)a || (float)b != (float)b)
    return STARK_SIM_RAW{0x7fff};
  return __hmax(a, b);
}

// The pairs do the same to each half.
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hadd2(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hadd(a.x, b.x), __hadd(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hsub2(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hsub(a.x, b.x), __hsub(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hmul2(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmul(a.x, b.x), __hmul(a.y, b.y));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __hadd2_rn(STARK_SIM_NARROW_2 a,
                                             STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hadd_rn(a.x, b.x), __hadd_rn(a.y, b.y));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __hsub2_rn(STARK_SIM_NARROW_2 a,
                                             STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hsub_rn(a.x, b.x), __hsub_rn(a.y, b.y));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __hmul2_rn(STARK_SIM_NARROW_2 a,
                                             STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmul_rn(a.x, b.x), __hmul_rn(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hadd2_sat(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hsub2_sat(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hmul2_sat(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hmin2(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hmax2(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hmin2_nan(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hmax2_nan(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __h2div(STARK_SIM_NARROW_2 a,
                                          STARK_SIM_NARROW_2 b) {
  return STARK_SIM_NARROW_2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2
__hfma2(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b, STARK_SIM_NARROW_2 c) {
  return STARK_SIM_NARROW_2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hfma2_sat(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b,
                               STARK_SIM_NARROW_2 c) {
  return STARK_SIM_NARROW_2(__hfma_sat(a.x, b.x, c.x),
                            __hfma_sat(a.y, b.y, c.y));
}
STARK_SIM_ONE("half")
STARK_SIM_NARROW_2 __hfma2_relu(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b,
                                STARK_SIM_NARROW_2 c) {
  return STARK_SIM_NARROW_2(__hfma_relu(a.x, b.x, c.x),
                            __hfma_relu(a.y, b.y, c.y));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __hneg2(STARK_SIM_NARROW_2 a) {
  return STARK_SIM_NARROW_2(__hneg(a.x), __hneg(a.y));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __habs2(STARK_SIM_NARROW_2 a) {
  return STARK_SIM_NARROW_2(__habs(a.x), __habs(a.y));
}
/// Complex a * b + c, the real part in x.
STARK_SIM_BOTH STARK_SIM_NARROW_2 __hcmadd(STARK_SIM_NARROW_2 a,
                                           STARK_SIM_NARROW_2 b,
                                           STARK_SIM_NARROW_2 c) {
  return STARK_SIM_NARROW_2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                            __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

// Operators.
STARK_SIM_BOTH STARK_SIM_NARROW operator+(const STARK_SIM_NARROW &a,
                                          const STARK_SIM_NARROW &b) {
  return __hadd(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW &operator+=(STARK_SIM_NARROW &a,
                                            const STARK_SIM_NARROW &b) {
  return a = __hadd(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator+(const STARK_SIM_NARROW_2 &a,
                                            const STARK_SIM_NARROW_2 &b) {
  return __hadd2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 &operator+=(STARK_SIM_NARROW_2 &a,
                                              const STARK_SIM_NARROW_2 &b) {
  return a = __hadd2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW operator-(const STARK_SIM_NARROW &a,
                                          const STARK_SIM_NARROW &b) {
  return __hsub(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW &operator-=(STARK_SIM_NARROW &a,
                                            const STARK_SIM_NARROW &b) {
  return a = __hsub(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator-(const STARK_SIM_NARROW_2 &a,
                                            const STARK_SIM_NARROW_2 &b) {
  return __hsub2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 &operator-=(STARK_SIM_NARROW_2 &a,
                                              const STARK_SIM_NARROW_2 &b) {
  return a = __hsub2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW operator*(const STARK_SIM_NARROW &a,
                                          const STARK_SIM_NARROW &b) {
  return __hmul(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW &operator*=(STARK_SIM_NARROW &a,
                                            const STARK_SIM_NARROW &b) {
  return a = __hmul(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator*(const STARK_SIM_NARROW_2 &a,
                                            const STARK_SIM_NARROW_2 &b) {
  return __hmul2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 &operator*=(STARK_SIM_NARROW_2 &a,
                                              const STARK_SIM_NARROW_2 &b) {
  return a = __hmul2(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW operator/(const STARK_SIM_NARROW &a,
                                          const STARK_SIM_NARROW &b) {
  return __hdiv(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW &operator/=(STARK_SIM_NARROW &a,
                                            const STARK_SIM_NARROW &b) {
  return a = __hdiv(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator/(const STARK_SIM_NARROW_2 &a,
                                            const STARK_SIM_NARROW_2 &b) {
  return __h2div(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 &operator/=(STARK_SIM_NARROW_2 &a,
                                              const STARK_SIM_NARROW_2 &b) {
  return a = __h2div(a, b);
}
STARK_SIM_BOTH STARK_SIM_NARROW operator+(const STARK_SIM_NARROW &a) {
  return a;
}
STARK_SIM_BOTH STARK_SIM_NARROW operator-(const STARK_SIM_NARROW &a) {
  return __hneg(a);
}
STARK_SIM_BOTH STARK_SIM_NARROW &operator++(STARK_SIM_NARROW &a) {
  return a += STARK_SIM_NARROW(1.0f);
}
STARK_SIM_BOTH STARK_SIM_NARROW operator++(STARK_SIM_NARROW &a, int) {
  STARK_SIM_NARROW old = a;
  a += STARK_SIM_NARROW(1.0f);
  return old;
}
STARK_SIM_BOTH STARK_SIM_NARROW &operator--(STARK_SIM_NARROW &a) {
  return a -= STARK_SIM_NARROW(1.0f);
}
STARK_SIM_BOTH STARK_SIM_NARROW operator--(STARK_SIM_NARROW &a, int) {
  STARK_SIM_NARROW old = a;
  a -= STARK_SIM_NARROW(1.0f);
  return old;
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator+(const STARK_SIM_NARROW_2 &a) {
  return a;
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator-(const STARK_SIM_NARROW_2 &a) {
  return __hneg2(a);
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 &operator++(STARK_SIM_NARROW_2 &a) {
  return a +=
         STARK_SIM_NARROW_2(STARK_SIM_NARROW(1.0f), STARK_SIM_NARROW(1.0f));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator++(STARK_SIM_NARROW_2 &a, int) {
  STARK_SIM_NARROW_2 old = a;
  a += STARK_SIM_NARROW_2(STARK_SIM_NARROW(1.0f), STARK_SIM_NARROW(1.0f));
  return old;
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 &operator--(STARK_SIM_NARROW_2 &a) {
  return a -=
         STARK_SIM_NARROW_2(STARK_SIM_NARROW(1.0f), STARK_SIM_NARROW(1.0f));
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 operator--(STARK_SIM_NARROW_2 &a, int) {
  STARK_SIM_NARROW_2 old = a;
  a -= STARK_SIM_NARROW_2(STARK_SIM_NARROW(1.0f), STARK_SIM_NARROW(1.0f));
  return old;
}

// Functions of one number, by those of single precision.
#define STARK_SIM_FUNCTION(NAME, EXPRESSION)                                   \
  STARK_SIM_BOTH STARK_SIM_NARROW h##NAME(STARK_SIM_NARROW a) {                \
    float x = (float)a;                                                        \
    return STARK_SIM_NARROW(EXPRESSION);                                       \
  }                                                                            \
  STARK_SIM_BOTH STARK_SIM_NARROW_2 h2##NAME(STARK_SIM_NARROW_2 a) {           \
    return STARK_SIM_NARROW_2(h##NAME(a.x), h##NAME(a.y));                     \
  }
STARK_SIM_FUNCTION(exp, expf(x))
STARK_SIM_FUNCTION(exp2, exp2f(x))
STARK_SIM_FUNCTION(exp10, (float)pow(10.0, (double)x))
STARK_SIM_FUNCTION(log, logf(x))
STARK_SIM_FUNCTION(log2, log2f(x))
STARK_SIM_FUNCTION(log10, log10f(x))
STARK_SIM_FUNCTION(sin, sinf(x))
STARK_SIM_FUNCTION(cos, cosf(x))
STARK_SIM_FUNCTION(tanh, tanhf(x))
STARK_SIM_FUNCTION(tanh_approx, tanhf(x))
STARK_SIM_FUNCTION(sqrt, __builtin_sqrtf(x))
STARK_SIM_FUNCTION(rsqrt, rsqrtf(x))
STARK_SIM_FUNCTION(rcp, 1.0f / x)
STARK_SIM_FUNCTION(ceil, ceilf(x))
STARK_SIM_FUNCTION(floor, floorf(x))
STARK_SIM_FUNCTION(trunc, truncf(x))
STARK_SIM_FUNCTION(rint, __builtin_elementwise_roundeven(x))
#undef STARK_SIM_FUNCTION
