//===- cuda_fp16.h - __half and __half2 -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   half and half2: 1 sign bit, 5 of exponent, 10 of mantissa. Usable on both
///   sides.
/// What both sixteen-bit formats share is in stark_sim_float16_*.h, which are
/// included for each.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_FP16_H
#define STARK_SIM_CUDA_FP16_H

#define __CUDA_FP16_H__

#include "../stark/stark_sim_float16.h"

#define STARK_SIM_NARROW __half
#define STARK_SIM_NARROW_2 __half2
#define STARK_SIM_RAW __half_raw
#define STARK_SIM_RAW_2 __half2_raw
#define STARK_SIM_NAME(BEFORE, AFTER) BEFORE##half##AFTER
#define STARK_SIM_ROUND __stark_sim_narrow<10, -14>
#define STARK_SIM_VALUE __stark_sim_half_value
#define STARK_SIM_BITS __stark_sim_half_bits

#include "../stark/stark_sim_float16_type.h"

typedef __half half;
typedef __half2 half2;

STARK_SIM_BOTH __half2 __half2half2(__half h) { return __half2(h, h); }

#include "../stark/stark_sim_float16_arithmetic.h"
#include "../stark/stark_sim_float16_compare.h"
#include "../stark/stark_sim_float16_device.h"

#endif
