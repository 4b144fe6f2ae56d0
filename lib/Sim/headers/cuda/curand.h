//===- curand.h - The toolkit's random numbers, for the host --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An installed toolkit's, which counts on types that its cuda_runtime.h has
/// and ours has not. Nothing of it is simulated.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CURAND_H
#define STARK_SIM_CURAND_H

#include "cuda_runtime.h"
#include "library_types.h"

#include_next <curand.h>

#endif
