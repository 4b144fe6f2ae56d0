//===- vector_functions.h - make_char1 to make_double4 -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A function for each vector type, with its elements in order.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_VECTOR_FUNCTIONS_H
#define STARK_SIM_VECTOR_FUNCTIONS_H

#include "../stark/stark_sim_keywords.h"
#include "vector_types.h"

#define STARK_SIM_MAKE(NAME, TYPE)                                             \
  STARK_SIM_BOTH constexpr NAME##1 make_##NAME##1(TYPE x) {                    \
    return NAME##1 {x};                                                        \
  }                                                                            \
  STARK_SIM_BOTH constexpr NAME##2 make_##NAME##2(TYPE x, TYPE y) {            \
    return NAME##2 {x, y};                                                     \
  }                                                                            \
  STARK_SIM_BOTH constexpr NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) {    \
    return NAME##3 {x, y, z};                                                  \
  }                                                                            \
  STARK_SIM_BOTH constexpr NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z,      \
                                                  TYPE w) {                    \
    return NAME##4 {x, y, z, w};                                               \
  }

STARK_SIM_MAKE(char, signed char)
STARK_SIM_MAKE(uchar, unsigned char)
STARK_SIM_MAKE(short, short)
STARK_SIM_MAKE(ushort, unsigned short)
STARK_SIM_MAKE(int, int)
STARK_SIM_MAKE(uint, unsigned)
STARK_SIM_MAKE(long, long)
STARK_SIM_MAKE(ulong, unsigned long)
STARK_SIM_MAKE(longlong, long long)
STARK_SIM_MAKE(ulonglong, unsigned long long)
STARK_SIM_MAKE(float, float)
STARK_SIM_MAKE(double, double)
#undef STARK_SIM_MAKE

#endif
