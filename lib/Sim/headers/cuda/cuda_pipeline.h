//===- cuda_pipeline.h - Copies to shared memory in stages ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A copy's data are there when it is asked for; that it has not been waited
/// for is the runtime's to know.
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
  __stark_sim_async_begun(to, bytes);
}
STARK_SIM_DEVICE void __pipeline_commit() { __stark_sim_async_commit(); }
STARK_SIM_DEVICE void __pipeline_wait_prior(size_t left) {
  __stark_sim_async_wait((unsigned)left);
}

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;
STARK_SIM_DEVICE void __mbarrier_init(__mbarrier_t *barrier, unsigned count) {
  __stark_sim_mbarrier_init(barrier, count);
}
STARK_SIM_DEVICE void __mbarrier_inval(__mbarrier_t *) {}
STARK_SIM_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) {
  return __stark_sim_mbarrier_arrive(barrier, 1, 0, 0);
}
STARK_SIM_DEVICE __mbarrier_token_t
__mbarrier_arrive_and_drop(__mbarrier_t *barrier) {
  return __stark_sim_mbarrier_arrive(barrier, 1, 0, 1);
}
STARK_SIM_DEVICE bool __mbarrier_test_wait(__mbarrier_t *barrier,
                                           __mbarrier_token_t token) {
  return __stark_sim_mbarrier_test(barrier, (unsigned)token & 1, 0);
}
STARK_SIM_DEVICE void __pipeline_arrive_on(__mbarrier_t *barrier) {
  __stark_sim_async_arrive(barrier, 0);
}

#endif
