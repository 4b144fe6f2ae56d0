//===- cuComplex.h - cuFloatComplex and cuDoubleComplex ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Complex numbers as pairs, with division and absolute value scaled so that
/// they do not overflow.
///
//===----------------------------------------------------------------------===//

#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "../stark/stark_sim.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define STARK_SIM_COMPLEX(TYPE, REAL, SUFFIX, MAKE, HYPOT)                     \
  STARK_SIM_BOTH REAL cuCreal##SUFFIX(TYPE a) { return a.x; }                  \
  STARK_SIM_BOTH REAL cuCimag##SUFFIX(TYPE a) { return a.y; }                  \
  STARK_SIM_BOTH TYPE MAKE(REAL x, REAL y) { return TYPE{x, y}; }              \
  STARK_SIM_BOTH TYPE cuConj##SUFFIX(TYPE a) { return TYPE{a.x, -a.y}; }       \
  STARK_SIM_BOTH TYPE cuCadd##SUFFIX(TYPE a, TYPE b) {                         \
    return TYPE{a.x + b.x, a.y + b.y};                                         \
  }                                                                            \
  STARK_SIM_BOTH TYPE cuCsub##SUFFIX(TYPE a, TYPE b) {                         \
    return TYPE{a.x - b.x, a.y - b.y};                                         \
  }                                                                            \
  STARK_SIM_BOTH TYPE cuCmul##SUFFIX(TYPE a, TYPE b) {                         \
    return TYPE{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                 \
  }                                                                            \
  STARK_SIM_BOTH TYPE cuCdiv##SUFFIX(TYPE a, TYPE b) {                         \
    REAL scale = (REAL)1 / (fabs(b.x) + fabs(b.y));                            \
    TYPE p{a.x * scale, a.y * scale}, q{b.x * scale, b.y * scale};             \
    REAL over = (REAL)1 / (q.x * q.x + q.y * q.y);                             \
    return TYPE{(p.x * q.x + p.y * q.y) * over,                                \
                (p.y * q.x - p.x * q.y) * over};                               \
  }                                                                            \
  STARK_SIM_BOTH REAL cuCabs##SUFFIX(TYPE a) { return HYPOT(a.x, a.y); }       \
  STARK_SIM_BOTH TYPE cuCfma##SUFFIX(TYPE a, TYPE b, TYPE c) {                 \
    return cuCadd##SUFFIX(cuCmul##SUFFIX(a, b), c);                            \
  }

STARK_SIM_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, hypotf)
STARK_SIM_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, hypot)
#undef STARK_SIM_COMPLEX

STARK_SIM_BOTH cuComplex make_cuComplex(float x, float y) {
  return cuComplex{x, y};
}
STARK_SIM_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return cuDoubleComplex{a.x, a.y};
}
STARK_SIM_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return cuFloatComplex{(float)a.x, (float)a.y};
}

#endif
