//===- stark_sim_math.h - Numbers in device code -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What CUDA has beyond the C library.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_MATH_H
#define STARK_SIM_MATH_H

STARK_SIM_BOTH float rsqrtf(float x) { return 1.0f / sqrtf(x); }
STARK_SIM_BOTH double rsqrt(double x) { return 1.0 / sqrt(x); }

#endif
