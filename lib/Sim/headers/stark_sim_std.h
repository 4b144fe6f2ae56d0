//===- stark_sim_std.h - The C and C++ library in device code ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Device code of the simulator is host code, so the system's libraries work
/// in it: between the pragmas, Clang takes each function as host and device.
/// Outside stay the functions that have another meaning on a device
/// (malloc, new, assert), which get device overloads of their own.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_STD_H
#define STARK_SIM_STD_H

// glibc declares these inside, and their device forms come with this folder.
#include <assert.h>
#include <new>
#include <stdlib.h>

static __inline__ __device__ int abs(int value) { return __builtin_abs(value); }
static __inline__ __device__ long labs(long value) {
  return __builtin_labs(value);
}
static __inline__ __device__ long long llabs(long long value) {
  return __builtin_llabs(value);
}

#pragma clang force_cuda_host_device begin
#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <math.h>
#include <numeric>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tuple>
#include <type_traits>
#include <utility>
#pragma clang force_cuda_host_device end

#include <cstdlib>

#endif
