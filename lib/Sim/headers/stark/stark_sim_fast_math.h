//===- stark_sim_fast_math.h - Fast intrinsics of the SFU -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A GPU has instructions for 2^x, log2, sin, cos, 1/x, 1/sqrt(x) and tanh;
/// __expf and its kin are those and a multiplication. Each is a function of its
/// own here, never inlined, so that the simulator counts one instruction for
/// it. Results are more exact than the GPU's, within its documented bounds.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_FAST_MATH_H
#define STARK_SIM_FAST_MATH_H

#define STARK_SIM_UNIT(NAME, EXPRESSION)                                       \
  STARK_SIM_ONE("sfu") float __stark_sim_unit_##NAME(float x) {                \
    return EXPRESSION;                                                         \
  }
STARK_SIM_UNIT(ex2, exp2f(x))
STARK_SIM_UNIT(lg2, log2f(x))
STARK_SIM_UNIT(sin, sinf(x))
STARK_SIM_UNIT(cos, cosf(x))
STARK_SIM_UNIT(rcp, 1.0f / x)
STARK_SIM_UNIT(rsqrt, (float)(1.0 / __builtin_sqrt((double)x)))
STARK_SIM_UNIT(tanh, tanhf(x))
#undef STARK_SIM_UNIT

STARK_SIM_DEVICE float __exp2f(float x) { return __stark_sim_unit_ex2(x); }
STARK_SIM_DEVICE float __expf(float x) {
  return __stark_sim_unit_ex2(x * 1.4426950408889634f);
}
STARK_SIM_DEVICE float __exp10f(float x) {
  return __stark_sim_unit_ex2(x * 3.3219280948873623f);
}
STARK_SIM_DEVICE float __log2f(float x) { return __stark_sim_unit_lg2(x); }
STARK_SIM_DEVICE float __logf(float x) {
  return __stark_sim_unit_lg2(x) * 0.6931471805599453f;
}
STARK_SIM_DEVICE float __log10f(float x) {
  return __stark_sim_unit_lg2(x) * 0.3010299956639812f;
}
STARK_SIM_DEVICE float __powf(float x, float y) {
  return __stark_sim_unit_ex2(y * __stark_sim_unit_lg2(x));
}
STARK_SIM_DEVICE float __sinf(float x) { return __stark_sim_unit_sin(x); }
STARK_SIM_DEVICE float __cosf(float x) { return __stark_sim_unit_cos(x); }
STARK_SIM_DEVICE void __sincosf(float x, float *sine, float *cosine) {
  *sine = __stark_sim_unit_sin(x);
  *cosine = __stark_sim_unit_cos(x);
}
/// For |y| above 2^126 the reciprocal is flushed to zero, as documented.
STARK_SIM_DEVICE float __fdividef(float x, float y) {
  float reciprocal = __stark_sim_unit_rcp(y);
  if (__builtin_fabsf(reciprocal) < 0x1p-126f && !__builtin_isinf(y))
    reciprocal = 0.0f;
  return x * reciprocal;
}
STARK_SIM_DEVICE float fdividef(float x, float y) { return x / y; }
STARK_SIM_DEVICE float __tanf(float x) {
  return __fdividef(__stark_sim_unit_sin(x), __stark_sim_unit_cos(x));
}
STARK_SIM_DEVICE float __tanhf(float x) { return __stark_sim_unit_tanh(x); }
STARK_SIM_DEVICE float __saturatef(float x) {
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

#endif
