//===- cuda_pipeline.h - Copies to shared memory in stages ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A copy is done when it is asked for, so that there is nothing to wait for.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUDA_PIPELINE_H
#define STARK_SIM_CUDA_PIPELINE_H

#include "../stark/stark_sim.h"

/// \p zeros of the last of \p bytes (4, 8 or 16) are filled with zero.
STARK_SIM_DEVICE void __pipeline_memcpy_async(void *to, const void *from,
                                              size_t bytes, size_t zeros = 0) {
  // One access of each side, as the instruction does.
  if (zeros == 0 && bytes == 16) {
    *(uint4 *)to = *(const uint4 *)from;
  } else if (zeros == 0 && bytes == 8) {
    *(uint2 *)to = *(const uint2 *)from;
  } else if (zeros == 0 && bytes == 4) {
    *(unsigned *)to = *(const unsigned *)from;
  } else {
    for (size_t i = 0; i < bytes; ++i)
      ((char *)to)[i] = i + zeros < bytes ? ((const char *)from)[i] : (char)0;
  }
}
STARK_SIM_DEVICE void __pipeline_commit() {}
STARK_SIM_DEVICE void __pipeline_wait_prior(size_t) {}

#endif
