//===- stark_sim_keywords.h - CUDA's keywords and predefined macros ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A __shared__ or __constant__ variable is annotated with "stark_shared" or
/// "stark_constant", which the pass reads in llvm.global.annotations. (A
/// section would be the obvious mark, but Clang refuses it for a local variable
/// and for constant beside mutable variables.) Two kinds need no mark:
/// `extern __shared__ T x[]` is the only external variable of a device module,
/// and __device__ and __constant__ variables are `externally_initialized`.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_KEYWORDS_H
#define STARK_SIM_KEYWORDS_H

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 5
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __STARK_SIM__ 1

// Clang says 1 in a device pass for a target that it takes for no GPU.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

#define CUDART_VERSION 12050
#define CUDA_VERSION 12050
#define __CUDART_API_VERSION CUDART_VERSION

// The guards of a toolkit's own headers, which a library's header may include
// from its own folder: what they declare is here.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__
#define __HOST_DEFINES_H__
#define __HOST_CONFIG_H__
#define __BUILTIN_TYPES_H__
#define __DEVICE_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared, annotate("stark_shared")))
#define __constant__ __attribute__((constant, annotate("stark_constant")))
// Seen by both sides: the runtime gives both names one address.
#define __managed__ __attribute__((device, annotate("stark_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __cluster_dims__(...)                                                  \
  __attribute__((annotate("stark_cluster", __VA_ARGS__)))
#define __block_size__(...)
#define __maxnreg__(...) __attribute__((annotate("stark_maxnreg", __VA_ARGS__)))
#define __nv_pure__ __attribute__((pure))

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __thread__ __thread
#define __location__(a) __attribute__((a))
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB
#define __CUDA_HOSTDEVICE__ __host__ __device__
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#define __NV_SILENCE_HOST_DEPRECATION_BEGIN
#define __NV_SILENCE_HOST_DEPRECATION_END

// For the headers of this folder alone.
#define STARK_SIM_DEVICE static __inline__ __device__ __attribute__((unused))
#define STARK_SIM_BOTH                                                         \
  static __inline__ __host__ __device__ __attribute__((unused))
// A function that is one instruction of a GPU: the pass finds the annotation,
// counts one of that kind, and looks no further into it. Kinds: sfu (special
// function unit), half (sixteen-bit arithmetic, of one number or a pair),
// convert, int.
#define STARK_SIM_ONE(KIND)                                                    \
  static __inline__ __host__ __device__                                        \
      __attribute__((unused, noinline, const, annotate("stark_one:" KIND)))
#define STARK_SIM_HOST static __inline__ __host__ __attribute__((unused))

#endif
