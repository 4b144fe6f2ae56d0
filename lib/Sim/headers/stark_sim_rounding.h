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
STARK_SIM_BOTH T __stark_sim_directed(T nearest, T lost,
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

/// What the sum a + b, which is \p sum, lost. An infinite sum of finite numbers
/// is too large: it lost towards zero.
template <class T> STARK_SIM_BOTH T __stark_sim_sum_lost(T a, T b, T sum) {
#pragma clang fp contract(off) reassociate(off)
  if (__builtin_isinf(sum))
    return __builtin_isfinite(a) && __builtin_isfinite(b) ? -sum : (T)0;
  T part = sum - a;
  return (a - (sum - part)) + (b - part);
}
template <class T>
STARK_SIM_BOTH T __stark_sim_add(T a, T b, __stark_sim_direction direction) {
#pragma clang fp contract(off)
  T sum = a + b;
  return __stark_sim_directed(sum, __stark_sim_sum_lost(a, b, sum), direction);
}
STARK_SIM_BOTH double __stark_sim_fma_of(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
STARK_SIM_BOTH float __stark_sim_fma_of(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
template <class T>
STARK_SIM_BOTH T __stark_sim_multiply(T a, T b,
                                      __stark_sim_direction direction) {
#pragma clang fp contract(off)
  T product = a * b;
  if (__builtin_isinf(product))
    return __stark_sim_directed(
        product,
        __builtin_isfinite(a) && __builtin_isfinite(b) ? -product : (T)0,
        direction);
  // A product too small to show its loss loses all of it.
  T lost = product == 0 && a != 0 && b != 0
               ? ((a < 0) != (b < 0) ? (T)-1 : (T)1)
               : __stark_sim_fma_of(a, b, -product);
  return __stark_sim_directed(product, lost, direction);
}
template <class T>
STARK_SIM_BOTH T __stark_sim_divide(T a, T b, __stark_sim_direction direction) {
  T quotient = a / b;
  if (__builtin_isinf(quotient))
    return __stark_sim_directed(
        quotient, __builtin_isfinite(a) && b != 0 ? -quotient : (T)0,
        direction);
  T lost = __stark_sim_fma_of(-quotient, b, a);
  return __stark_sim_directed(quotient, b < 0 ? -lost : lost, direction);
}
template <class T>
STARK_SIM_BOTH T __stark_sim_root(T a, __stark_sim_direction direction) {
  T root = (T)sqrt(a);
  if (!__builtin_isfinite(root))
    return root;
  return __stark_sim_directed(root, __stark_sim_fma_of(-root, root, a),
                              direction);
}
/// The exact product is two numbers, their sum with c is three; the sign of
/// what is left beside the rounded sum decides.
template <class T>
STARK_SIM_BOTH T __stark_sim_fma(T a, T b, T c,
                                 __stark_sim_direction direction) {
#pragma clang fp contract(off) reassociate(off)
  T rounded = __stark_sim_fma_of(a, b, c);
  if (direction == __stark_sim_rn || rounded != rounded)
    return rounded;
  if (__builtin_isinf(rounded))
    return __stark_sim_directed(
        rounded,
        __builtin_isfinite(a) && __builtin_isfinite(b) && __builtin_isfinite(c)
            ? -rounded
            : (T)0,
        direction);
  T product = a * b, rest = __stark_sim_fma_of(a, b, -product);
  T low = c + rest, low_lost = __stark_sim_sum_lost(c, rest, low);
  T high = product + low, high_lost = __stark_sim_sum_lost(product, low, high);
  return __stark_sim_directed(
      rounded, ((high - rounded) + high_lost) + low_lost, direction);
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
