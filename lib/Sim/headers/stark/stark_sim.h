//===- stark_sim.h - What a CUDA source has without an include -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The simulator includes this file before a user's source, in the host pass
/// and in the device pass of Clang's CUDA mode. It brings what NVIDIA's
/// compiler brings by itself. What such a source includes (cuda_runtime.h,
/// cuda_fp16.h, ...) lies beside this folder, in cuda. Every text in both is
/// written for Stark; none comes from a CUDA toolkit.
///
///   builtins (the runtime's primitives) -> threads, warps, memory, atomics,
///   numbers (written on them)           -> the headers a source includes
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_H
#define STARK_SIM_H

#pragma clang system_header

#include "stark_sim_keywords.h"

#include "stark_sim_std.h"

#include "stark_sim_builtins.h"

#include "../cuda/vector_types.h"

#include "../cuda/vector_functions.h"

#include "stark_sim_thread.h"

#include "stark_sim_warp.h"

#include "stark_sim_memory.h"

#include "stark_sim_cluster.h"

#include "stark_sim_atomic.h"
#include "stark_sim_math.h"

#include "../cuda/cuda_runtime_api.h"

#endif
