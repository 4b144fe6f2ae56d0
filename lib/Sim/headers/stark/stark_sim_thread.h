//===- stark_sim_thread.h - Where a thread is, and barriers --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   threadIdx and its companions are properties that read a special register;
/// as values they convert to uint3 and dim3.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THREAD_H
#define STARK_SIM_THREAD_H

#define STARK_SIM_PLACE(NAME, FIRST)                                           \
  struct __stark_sim_##NAME {                                                  \
    static __inline__ __device__ unsigned x_() {                               \
      return __stark_sim_sreg(FIRST);                                          \
    }                                                                          \
    static __inline__ __device__ unsigned y_() {                               \
      return __stark_sim_sreg(FIRST + 1);                                      \
    }                                                                          \
    static __inline__ __device__ unsigned z_() {                               \
      return __stark_sim_sreg(FIRST + 2);                                      \
    }                                                                          \
    __declspec(property(get = x_)) unsigned x;                                 \
    __declspec(property(get = y_)) unsigned y;                                 \
    __declspec(property(get = z_)) unsigned z;                                 \
    __inline__ __device__ operator uint3() const {                             \
      return uint3{x_(), y_(), z_()};                                          \
    }                                                                          \
    __inline__ __device__ operator dim3() const {                              \
      return dim3(x_(), y_(), z_());                                           \
    }                                                                          \
  };                                                                           \
  extern const __device__ __attribute__((weak)) __stark_sim_##NAME NAME;

STARK_SIM_PLACE(threadIdx, 0)
STARK_SIM_PLACE(blockIdx, 3)
STARK_SIM_PLACE(blockDim, 6)
STARK_SIM_PLACE(gridDim, 9)
#undef STARK_SIM_PLACE

constexpr int warpSize = 32;

STARK_SIM_DEVICE __attribute__((convergent)) void __syncthreads() {
  __stark_sim_barrier(0, 0);
}
STARK_SIM_DEVICE __attribute__((convergent)) int
__syncthreads_count(int predicate) {
  return __stark_sim_barrier_reduce(0, predicate);
}
STARK_SIM_DEVICE __attribute__((convergent)) int
__syncthreads_and(int predicate) {
  return __stark_sim_barrier_reduce(1, predicate);
}
STARK_SIM_DEVICE __attribute__((convergent)) int
__syncthreads_or(int predicate) {
  return __stark_sim_barrier_reduce(2, predicate);
}
STARK_SIM_DEVICE __attribute__((convergent)) void __barrier_sync(unsigned id) {
  __stark_sim_barrier(id, 0);
}
STARK_SIM_DEVICE __attribute__((convergent)) void
__barrier_sync_count(unsigned id, unsigned count) {
  __stark_sim_barrier(id, count);
}

STARK_SIM_DEVICE void __threadfence_block() { __stark_sim_fence(0); }
STARK_SIM_DEVICE void __threadfence() { __stark_sim_fence(1); }
STARK_SIM_DEVICE void __threadfence_system() { __stark_sim_fence(2); }

STARK_SIM_DEVICE clock_t clock() { return __stark_sim_clock(); }
STARK_SIM_DEVICE long long clock64() { return __stark_sim_clock(); }
STARK_SIM_DEVICE unsigned long long __globaltimer() {
  return __stark_sim_clock();
}
STARK_SIM_DEVICE void __nanosleep(unsigned ns) { __stark_sim_nanosleep(ns); }

STARK_SIM_DEVICE void __trap() { __stark_sim_trap(); }
STARK_SIM_DEVICE void __brkpt() {}
STARK_SIM_DEVICE void __prof_trigger(int) {}

#endif
