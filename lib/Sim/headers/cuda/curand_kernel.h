//===- curand_kernel.h - The toolkit's generators of device code ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Those of an installed toolkit are read as they are, but for MTGP32, which
/// is not offered.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CURAND_KERNEL_H
#define STARK_SIM_CURAND_KERNEL_H

#include "../stark/stark_sim.h"
#include "library_types.h"

#define CURAND_MTGP32_KERNEL_H
struct curandStateMtgp32 {
  unsigned s[1];
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;
STARK_SIM_DEVICE unsigned curand(curandStateMtgp32_t *) {
  __stark_sim_unsupported("curand() of MTGP32");
  return 0;
}

#include_next <curand_kernel.h>

#endif
