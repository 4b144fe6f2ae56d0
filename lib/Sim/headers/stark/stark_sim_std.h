//===- stark_sim_std.h - The C and C++ library in device code ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Device code of the simulator is host code, so the system's libraries work
/// in it: between the pragmas, Clang takes each function as host and device, as
/// it takes every constexpr function wherever it is. Outside stay the functions
/// that have another meaning on a device (malloc, new, assert, clock), which
/// get device overloads of their own.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_STD_H
#define STARK_SIM_STD_H

// What others befriend or declare again has to stay as they know it.
#include <array>
#include <assert.h>
#include <climits>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
// glibc's own header: the one of the C++ library would bring std::abs, which
// is to be seen by both sides.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <time.h>

static __inline__ __device__ int abs(int value) { return __builtin_abs(value); }
static __inline__ __device__ long labs(long value) {
  return __builtin_labs(value);
}
static __inline__ __device__ long long llabs(long long value) {
  return __builtin_llabs(value);
}

// glibc's math.h declares names of its own that are CUDA's fast intrinsics.
#define __expf __stark_sim_glibc_expf
#define __exp2f __stark_sim_glibc_exp2f
#define __exp10f __stark_sim_glibc_exp10f
#define __logf __stark_sim_glibc_logf
#define __log2f __stark_sim_glibc_log2f
#define __log10f __stark_sim_glibc_log10f
#define __powf __stark_sim_glibc_powf
#define __sinf __stark_sim_glibc_sinf
#define __cosf __stark_sim_glibc_cosf
#define __sincosf __stark_sim_glibc_sincosf
#define __tanf __stark_sim_glibc_tanf
#define __tanhf __stark_sim_glibc_tanhf

#pragma clang force_cuda_host_device begin
#include <cmath>
#include <cstdio>
#include <cstring>
#include <math.h>
#include <stdio.h>
#include <string.h>
#pragma clang force_cuda_host_device end

#undef __expf
#undef __exp2f
#undef __exp10f
#undef __logf
#undef __log2f
#undef __log10f
#undef __powf
#undef __sinf
#undef __cosf
#undef __sincosf
#undef __tanf
#undef __tanhf

// Now the C++ library's own form, with the using declarations.
#include <stdlib.h>

#endif
