//===- cuda_bf16.h - __nv_bfloat16 and __nv_bfloat162 ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bfloat16 and bfloat162: the upper half of a float. Usable on both sides.
/// What both sixteen-bit formats share is in stark_sim_float16_*.h, which are
/// included for each.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_BF16_H
#define STARK_SIM_CUDA_BF16_H

#define __CUDA_BF16_H__

#include "../stark/stark_sim_float16.h"

#define STARK_SIM_NARROW __nv_bfloat16
#define STARK_SIM_NARROW_2 __nv_bfloat162
#define STARK_SIM_RAW __nv_bfloat16_raw
#define STARK_SIM_RAW_2 __nv_bfloat162_raw
#define STARK_SIM_NAME(BEFORE, AFTER) BEFORE##bfloat16##AFTER
#define STARK_SIM_ROUND __stark_sim_narrow<7, -126>
#define STARK_SIM_VALUE __stark_sim_bfloat_value
#define STARK_SIM_BITS __stark_sim_bfloat_bits

#include "../stark/stark_sim_float16_type.h"

STARK_SIM_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) {
  return __nv_bfloat162(h, h);
}

#include "../stark/stark_sim_float16_arithmetic.h"
#include "../stark/stark_sim_float16_compare.h"
#include "../stark/stark_sim_float16_device.h"

#endif
