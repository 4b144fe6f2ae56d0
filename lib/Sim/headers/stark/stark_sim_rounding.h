//===- stark_sim_rounding.h - Conversions and arithmetic in a given rounding
//===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   rn is to nearest even, rz towards zero, rd down, ru up. Arithmetic in a
/// direction takes the sum to nearest and the sign of what it lost: no rounding
/// mode of the processor is changed, on which the compiler would not look.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_ROUNDING_H
#define STARK_SIM_ROUNDING_H

enum __stark_sim_direction {
  __stark_sim_rn,
  __stark_sim_rz,
  __stark_sim_rd,
  __stark_sim_ru
};

/// \p nearest is a result to nearest and \p lost has the sign of what is exact
/// less that: the neighbour that \p direction asks for.
template <class T>
STARK_SIM_BOTH T __stark_sim_directed(T nearest, int lost,
                                      __stark_sim_direction direction) {
  const T infinity = (T)__builtin_inf();
  bool down = direction == __stark_sim_rd ||
              (direction == __stark_sim_rz && nearest > 0);
  bool up = direction == __stark_sim_ru ||
            (direction == __stark_sim_rz && nearest < 0);
  if (down && lost < 0)
    return (T)nextafter(nearest, -infinity);
  if (up && lost > 0)
    return (T)nextafter(nearest, infinity);
  return nearest;
}
template <class T> STARK_SIM_BOTH int __stark_sim_sign(T x) {
  return (x > 0) - (x < 0);
}
/// An infinite result of \p finite operands is too large: it lost towards zero.
template <class T>
STARK_SIM_BOTH T __stark_sim_overflowed(T result, bool finite,
                                        __stark_sim_direction direction) {
  return __stark_sim_directed(result, finite ? -__stark_sim_sign(result) : 0,
                              direction);
}
/// An exact sum of zero is negative when rounding down, unless both are +0.
template <class T>
STARK_SIM_BOTH T __stark_sim_zero_sum(T a, T b,
                                      __stark_sim_direction direction) {
  if (direction == __stark_sim_rd && (signbit(a) || signbit(b)))
    return (T)-0.0;
  return a + b;
}
template <class T> STARK_SIM_BOTH T __stark_sim_sum_lost(T a, T b, T sum) {
#pragma clang fp contract(off) reassociate(off)
  T part = sum - a;
  return (a - (sum - part)) + (b - part);
}

// Double precision.
STARK_SIM_BOTH double __stark_sim_add(double a, double b,
                                      __stark_sim_direction direction) {
#pragma clang fp contract(off)
  double sum = a + b;
  if (sum == 0)
    return __stark_sim_zero_sum(a, b, direction);
  if (__builtin_isinf(sum))
    return __stark_sim_overflowed(
        sum, __builtin_isfinite(a) && __builtin_isfinite(b), direction);
  return __stark_sim_directed(
      sum, __stark_sim_sign(__stark_sim_sum_lost(a, b, sum)), direction);
}
STARK_SIM_BOTH double __stark_sim_multiply(double a, double b,
                                           __stark_sim_direction direction) {
#pragma clang fp contract(off)
  double product = a * b;
  if (__builtin_isinf(product))
    return __stark_sim_overflowed(
        product, __builtin_isfinite(a) && __builtin_isfinite(b), direction);
  // One that is all lost to zero has a sign still.
  int lost = product == 0 && a != 0 && b != 0
                 ? __stark_sim_sign(a) * __stark_sim_sign(b)
                 : __stark_sim_sign(__builtin_fma(a, b, -product));
  return __stark_sim_directed(product, lost, direction);
}
STARK_SIM_BOTH double __stark_sim_divide(double a, double b,
                                         __stark_sim_direction direction) {
  double quotient = a / b;
  if (__builtin_isinf(quotient))
    return __stark_sim_overflowed(quotient, __builtin_isfinite(a) && b != 0,
                                  direction);
  if (__builtin_isinf(b))
    return quotient;
  return __stark_sim_directed(quotient,
                              __stark_sim_sign(__builtin_fma(-quotient, b, a)) *
                                  __stark_sim_sign(b),
                              direction);
}
STARK_SIM_BOTH double __stark_sim_root(double a,
                                       __stark_sim_direction direction) {
  double root = __builtin_sqrt(a);
  if (!__builtin_isfinite(root))
    return root;
  return __stark_sim_directed(
      root, __stark_sim_sign(__builtin_fma(-root, root, a)), direction);
}
/// The exact product is two numbers, their sum with c is three; the sign of
/// what is left beside the rounded sum decides.
STARK_SIM_BOTH double __stark_sim_fma(double a, double b, double c,
                                      __stark_sim_direction direction) {
#pragma clang fp contract(off) reassociate(off)
  double rounded = __builtin_fma(a, b, c);
  if (direction == __stark_sim_rn || rounded != rounded)
    return rounded;
  double product = a * b;
  if (rounded == 0 && product == -c)
    return __stark_sim_zero_sum(product, c, direction);
  if (__builtin_isinf(rounded))
    return __stark_sim_overflowed(
        rounded,
        __builtin_isfinite(a) && __builtin_isfinite(b) && __builtin_isfinite(c),
        direction);
  double rest = __builtin_fma(a, b, -product);
  double low = c + rest, low_lost = __stark_sim_sum_lost(c, rest, low);
  double high = product + low;
  double high_lost = __stark_sim_sum_lost(product, low, high);
  return __stark_sim_directed(
      rounded, __stark_sim_sign(((high - rounded) + high_lost) + low_lost),
      direction);
}

// Single precision: in double precision rounded to odd, which keeps what the
// second rounding has to know.
STARK_SIM_BOTH double __stark_sim_made_odd(double cut, int lost) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, cut);
  if (lost && !(bits & 1))
    bits += (lost > 0) == (cut > 0) ? 1 : -1;
  return __builtin_bit_cast(double, bits);
}
/// a + b in double precision, rounded to odd.
STARK_SIM_BOTH double __stark_sim_odd_sum(double a, double b) {
  double sum = a + b;
  if (!__builtin_isfinite(sum))
    return sum;
  return __stark_sim_made_odd(
      sum, __stark_sim_sign(__stark_sim_sum_lost(a, b, sum)));
}
STARK_SIM_BOTH float __stark_sim_single(double x,
                                        __stark_sim_direction direction) {
  float nearest = (float)x;
  if (__builtin_isinf(nearest))
    return __stark_sim_overflowed(nearest, __builtin_isfinite(x), direction);
  return __stark_sim_directed(
      nearest, (x > (double)nearest) - (x < (double)nearest), direction);
}
STARK_SIM_BOTH float __stark_sim_add(float a, float b,
                                     __stark_sim_direction direction) {
  if (a == -b)
    return __stark_sim_zero_sum(a, b, direction);
  return __stark_sim_single(__stark_sim_odd_sum(a, b), direction);
}
STARK_SIM_BOTH float __stark_sim_multiply(float a, float b,
                                          __stark_sim_direction direction) {
  return __stark_sim_single((double)a * (double)b, direction);
}
STARK_SIM_BOTH float __stark_sim_divide(float a, float b,
                                        __stark_sim_direction direction) {
  double quotient = (double)a / (double)b;
  if (!__builtin_isfinite(quotient) || __builtin_isinf(b))
    return (float)quotient;
  double rest = __builtin_fma(-quotient, (double)b, (double)a);
  return __stark_sim_single(
      __stark_sim_made_odd(quotient,
                           __stark_sim_sign(rest) * __stark_sim_sign(b)),
      direction);
}
STARK_SIM_BOTH float __stark_sim_root(float a,
                                      __stark_sim_direction direction) {
  double root = __builtin_sqrt((double)a);
  if (!__builtin_isfinite(root))
    return (float)root;
  return __stark_sim_single(
      __stark_sim_made_odd(
          root, __stark_sim_sign(__builtin_fma(-root, root, (double)a))),
      direction);
}
STARK_SIM_BOTH float __stark_sim_fma(float a, float b, float c,
                                     __stark_sim_direction direction) {
#pragma clang fp contract(off)
  if (direction == __stark_sim_rn)
    return __builtin_fmaf(a, b, c);
  double product = (double)a * (double)b;
  if (product == -(double)c)
    return (float)__stark_sim_zero_sum(product, (double)c, direction);
  return __stark_sim_single(__stark_sim_odd_sum(product, c), direction);
}

#define STARK_SIM_ROUNDED(PREFIX, TYPE, SUFFIX)                                \
  STARK_SIM_DEVICE TYPE __##PREFIX##add_##SUFFIX(TYPE a, TYPE b) {             \
    return __stark_sim_add(a, b, __stark_sim_##SUFFIX);                        \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##sub_##SUFFIX(TYPE a, TYPE b) {             \
    return __stark_sim_add(a, -b, __stark_sim_##SUFFIX);                       \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##mul_##SUFFIX(TYPE a, TYPE b) {             \
    return __stark_sim_multiply(a, b, __stark_sim_##SUFFIX);                   \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##div_##SUFFIX(TYPE a, TYPE b) {             \
    return __stark_sim_divide(a, b, __stark_sim_##SUFFIX);                     \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##rcp_##SUFFIX(TYPE a) {                     \
    return __stark_sim_divide((TYPE)1, a, __stark_sim_##SUFFIX);               \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##sqrt_##SUFFIX(TYPE a) {                    \
    return __stark_sim_root(a, __stark_sim_##SUFFIX);                          \
  }

STARK_SIM_ROUNDED(f, float, rz)
STARK_SIM_ROUNDED(f, float, rd)
STARK_SIM_ROUNDED(f, float, ru)
STARK_SIM_ROUNDED(d, double, rz)
STARK_SIM_ROUNDED(d, double, rd)
STARK_SIM_ROUNDED(d, double, ru)
#undef STARK_SIM_ROUNDED

// To nearest is what the processor does; never fused with a neighbour.
#define STARK_SIM_NEAREST(PREFIX, TYPE, ROOT)                                  \
  STARK_SIM_DEVICE TYPE __##PREFIX##add_rn(TYPE a, TYPE b) {                   \
    _Pragma("clang fp contract(off)") return a + b;                            \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##sub_rn(TYPE a, TYPE b) {                   \
    _Pragma("clang fp contract(off)") return a - b;                            \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##mul_rn(TYPE a, TYPE b) {                   \
    _Pragma("clang fp contract(off)") return a * b;                            \
  }                                                                            \
  STARK_SIM_DEVICE TYPE __##PREFIX##div_rn(TYPE a, TYPE b) { return a / b; }   \
  STARK_SIM_DEVICE TYPE __##PREFIX##rcp_rn(TYPE a) { return (TYPE)1 / a; }     \
  STARK_SIM_DEVICE TYPE __##PREFIX##sqrt_rn(TYPE a) { return ROOT(a); }

STARK_SIM_NEAREST(f, float, __builtin_sqrtf)
STARK_SIM_NEAREST(d, double, __builtin_sqrt)
#undef STARK_SIM_NEAREST

#define STARK_SIM_FUSED(SUFFIX)                                                \
  STARK_SIM_DEVICE float __fmaf_##SUFFIX(float a, float b, float c) {          \
    return __stark_sim_fma(a, b, c, __stark_sim_##SUFFIX);                     \
  }                                                                            \
  STARK_SIM_DEVICE float __fmaf_ieee_##SUFFIX(float a, float b, float c) {     \
    return __stark_sim_fma(a, b, c, __stark_sim_##SUFFIX);                     \
  }                                                                            \
  STARK_SIM_DEVICE double __fma_##SUFFIX(double a, double b, double c) {       \
    return __stark_sim_fma(a, b, c, __stark_sim_##SUFFIX);                     \
  }
STARK_SIM_FUSED(rn)
STARK_SIM_FUSED(rz)
STARK_SIM_FUSED(rd)
STARK_SIM_FUSED(ru)
#undef STARK_SIM_FUSED

STARK_SIM_DEVICE float __frsqrt_rn(float a) {
  return (float)(1.0 / __builtin_sqrt((double)a));
}

#endif
