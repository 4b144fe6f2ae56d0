//===- stark_sim_float16_arithmetic.h - Arithmetic of a sixteen-bit format ===//
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
#define STARK_SIM_FORMS(NAME)                                                  \
  STARK_SIM_BOTH STARK_SIM_NARROW NAME##_rn(STARK_SIM_NARROW a,                \
                                            STARK_SIM_NARROW b) {              \
    return NAME(a, b);                                                         \
  }                                                                            \
  STARK_SIM_ONE("half")                                                        \
  STARK_SIM_NARROW NAME##_sat(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {        \
    return __stark_sim_unit_range(NAME(a, b));                                 \
  }
STARK_SIM_FORMS(__hadd)
STARK_SIM_FORMS(__hsub)
STARK_SIM_FORMS(__hmul)
#undef STARK_SIM_FORMS
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
#define STARK_SIM_EXTREME(NAME, BEFORE, ZERO)                                  \
  STARK_SIM_ONE("half")                                                        \
  STARK_SIM_NARROW NAME(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {              \
    float x = (float)a, y = (float)b;                                          \
    if (x != x)                                                                \
      return y != y ? STARK_SIM_NARROW(STARK_SIM_RAW{0x7fff}) : b;             \
    if (x == 0 && y == 0)                                                      \
      return STARK_SIM_RAW{(unsigned short)(a.__x ZERO b.__x)};                \
    return y != y || x BEFORE y ? a : b;                                       \
  }                                                                            \
  STARK_SIM_ONE("half")                                                        \
  STARK_SIM_NARROW NAME##_nan(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {        \
    if ((float)a != (float)a || (float)b != (float)b)                          \
      return STARK_SIM_RAW{0x7fff};                                            \
    return NAME(a, b);                                                         \
  }
STARK_SIM_EXTREME(__hmin, <, |)
STARK_SIM_EXTREME(__hmax, >, &)
#undef STARK_SIM_EXTREME

// The pairs do the same to each half.
#define STARK_SIM_PAIR(HOW, NAME, OF_ONE)                                      \
  HOW STARK_SIM_NARROW_2 NAME(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b) {    \
    return STARK_SIM_NARROW_2(OF_ONE(a.x, b.x), OF_ONE(a.y, b.y));             \
  }
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hadd2, __hadd)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hsub2, __hsub)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hmul2, __hmul)
STARK_SIM_PAIR(STARK_SIM_BOTH, __hadd2_rn, __hadd_rn)
STARK_SIM_PAIR(STARK_SIM_BOTH, __hsub2_rn, __hsub_rn)
STARK_SIM_PAIR(STARK_SIM_BOTH, __hmul2_rn, __hmul_rn)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hadd2_sat, __hadd_sat)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hsub2_sat, __hsub_sat)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hmul2_sat, __hmul_sat)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hmin2, __hmin)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hmax2, __hmax)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hmin2_nan, __hmin_nan)
STARK_SIM_PAIR(STARK_SIM_ONE("half"), __hmax2_nan, __hmax_nan)
STARK_SIM_PAIR(STARK_SIM_BOTH, __h2div, __hdiv)
#undef STARK_SIM_PAIR
#define STARK_SIM_PAIR(NAME, OF_ONE)                                           \
  STARK_SIM_ONE("half")                                                        \
  STARK_SIM_NARROW_2 NAME(STARK_SIM_NARROW_2 a, STARK_SIM_NARROW_2 b,          \
                          STARK_SIM_NARROW_2 c) {                              \
    return STARK_SIM_NARROW_2(OF_ONE(a.x, b.x, c.x), OF_ONE(a.y, b.y, c.y));   \
  }
STARK_SIM_PAIR(__hfma2, __hfma)
STARK_SIM_PAIR(__hfma2_sat, __hfma_sat)
STARK_SIM_PAIR(__hfma2_relu, __hfma_relu)
#undef STARK_SIM_PAIR
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
#define STARK_SIM_BINARY(TYPE, OPERATOR, FUNCTION)                             \
  STARK_SIM_BOTH TYPE operator OPERATOR(const TYPE &a, const TYPE &b) {        \
    return FUNCTION(a, b);                                                     \
  }                                                                            \
  STARK_SIM_BOTH TYPE &operator OPERATOR##=(TYPE & a, const TYPE & b) {        \
    return a = FUNCTION(a, b);                                                 \
  }
STARK_SIM_BINARY(STARK_SIM_NARROW, +, __hadd)
STARK_SIM_BINARY(STARK_SIM_NARROW_2, +, __hadd2)
STARK_SIM_BINARY(STARK_SIM_NARROW, -, __hsub)
STARK_SIM_BINARY(STARK_SIM_NARROW_2, -, __hsub2)
STARK_SIM_BINARY(STARK_SIM_NARROW, *, __hmul)
STARK_SIM_BINARY(STARK_SIM_NARROW_2, *, __hmul2)
STARK_SIM_BINARY(STARK_SIM_NARROW, /, __hdiv)
STARK_SIM_BINARY(STARK_SIM_NARROW_2, /, __h2div)
#undef STARK_SIM_BINARY
#define STARK_SIM_UNARY(TYPE, NEGATE, ONE)                                     \
  STARK_SIM_BOTH TYPE operator+(const TYPE &a) { return a; }                   \
  STARK_SIM_BOTH TYPE operator-(const TYPE &a) { return NEGATE(a); }           \
  STARK_SIM_BOTH TYPE &operator++(TYPE &a) { return a += ONE; }                \
  STARK_SIM_BOTH TYPE operator++(TYPE &a, int) {                               \
    TYPE old = a;                                                              \
    a += ONE;                                                                  \
    return old;                                                                \
  }                                                                            \
  STARK_SIM_BOTH TYPE &operator--(TYPE &a) { return a -= ONE; }                \
  STARK_SIM_BOTH TYPE operator--(TYPE &a, int) {                               \
    TYPE old = a;                                                              \
    a -= ONE;                                                                  \
    return old;                                                                \
  }
STARK_SIM_UNARY(STARK_SIM_NARROW, __hneg, STARK_SIM_NARROW(1.0f))
STARK_SIM_UNARY(STARK_SIM_NARROW_2, __hneg2,
                STARK_SIM_NARROW_2(STARK_SIM_NARROW(1.0f),
                                   STARK_SIM_NARROW(1.0f)))
#undef STARK_SIM_UNARY

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
