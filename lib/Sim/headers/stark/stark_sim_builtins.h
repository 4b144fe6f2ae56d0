//===- stark_sim_builtins.h - What the simulator's runtime gives device code
//===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The whole surface between these headers and the runtime that runs device
/// code. What is called by several threads together is convergent, so that no
/// optimization moves it into or out of a branch.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_BUILTINS_H
#define STARK_SIM_BUILTINS_H

#define STARK_SIM_PRIMITIVE extern "C" __device__
#define STARK_SIM_TOGETHER extern "C" __device__ __attribute__((convergent))

/// 0-2 threadIdx, 3-5 blockIdx, 6-8 blockDim, 9-11 gridDim, 12 lane, 13 warp of
/// the block, 14 bytes of dynamic shared memory; of the block's cluster 16 the
/// block's rank, 17 the number of blocks, 18-20 the block's index, 21-23 the
/// extent.
STARK_SIM_PRIMITIVE __attribute__((const)) unsigned __stark_sim_sreg(int which);

/// \p count threads meet at barrier \p id; 0: all of the block.
STARK_SIM_TOGETHER void __stark_sim_barrier(int id, int count);
/// \p op: 0 count, 1 and, 2 or.
STARK_SIM_TOGETHER int __stark_sim_barrier_reduce(int op, int predicate);
STARK_SIM_TOGETHER void __stark_sim_syncwarp(unsigned mask);
/// The lanes of a warp do what follows together; what the compiler knows of
/// memory it still knows then.
STARK_SIM_TOGETHER void __stark_sim_gather(unsigned mask);
STARK_SIM_TOGETHER void __stark_sim_grid_sync(void);
/// The halves of the cluster's barrier.
STARK_SIM_TOGETHER void __stark_sim_cluster_arrive(void);
STARK_SIM_TOGETHER void __stark_sim_cluster_wait(void);
/// Where \p place of shared memory lies in block \p rank of the cluster, and
/// the rank of the block whose shared memory it is.
STARK_SIM_PRIMITIVE void *__stark_sim_map_shared(void *place, unsigned rank);
STARK_SIM_PRIMITIVE unsigned __stark_sim_shared_rank(const void *place);

/// \p mode: 0 idx, 1 up, 2 down, 3 xor.
STARK_SIM_TOGETHER unsigned long long
__stark_sim_shuffle(unsigned mask, unsigned long long value, int mode,
                    int argument, int width);
/// \p op: 0 all, 1 any, 2 ballot, 3 uni.
STARK_SIM_TOGETHER unsigned __stark_sim_vote(unsigned mask, int op,
                                             int predicate);
/// \p op: 0 any, 1 all; \p predicate is written by 1 alone, and may be null.
STARK_SIM_TOGETHER unsigned __stark_sim_match(unsigned mask,
                                              unsigned long long value, int op,
                                              int *predicate);
/// \p op: 0 add, 1 umin, 2 umax, 3 imin, 4 imax, 5 and, 6 or, 7 xor.
STARK_SIM_TOGETHER unsigned __stark_sim_reduce(unsigned mask, unsigned value,
                                               int op);
STARK_SIM_TOGETHER unsigned __stark_sim_activemask(void);

/// A copy to shared memory has begun; it is over when this thread, or those
/// that meet at a barrier in memory, have waited for it.
STARK_SIM_PRIMITIVE void __stark_sim_async_begun(void *to,
                                                 unsigned long long bytes);
STARK_SIM_PRIMITIVE void __stark_sim_async_commit(void);
/// Until at most \p left groups go on.
STARK_SIM_PRIMITIVE void __stark_sim_async_wait(unsigned left);
/// This thread's copies are part of a barrier's phase; \p counts: as an
/// arrival.
STARK_SIM_PRIMITIVE void __stark_sim_async_arrive(void *barrier, int counts);
STARK_SIM_PRIMITIVE void
__stark_sim_async_bulk(void *to, unsigned long long bytes, void *barrier);
STARK_SIM_PRIMITIVE void __stark_sim_mbarrier_init(void *barrier,
                                                   unsigned count);
/// The number of the phase; \p bytes are awaited before it is complete.
STARK_SIM_TOGETHER unsigned long long
__stark_sim_mbarrier_arrive(void *barrier, unsigned count,
                            unsigned long long bytes, int drops);
/// Whether the phase of that parity is complete; \p blocks: it is, at the end.
STARK_SIM_TOGETHER int __stark_sim_mbarrier_test(void *barrier, unsigned parity,
                                                 int blocks);

/// \p scope: 0 block, 1 device, 2 system.
STARK_SIM_PRIMITIVE void __stark_sim_fence(int scope);
STARK_SIM_PRIMITIVE long long __stark_sim_clock(void);
STARK_SIM_PRIMITIVE void __stark_sim_nanosleep(unsigned ns);

STARK_SIM_PRIMITIVE void *__stark_sim_malloc(__SIZE_TYPE__ bytes);
STARK_SIM_PRIMITIVE void __stark_sim_free(void *pointer);

STARK_SIM_PRIMITIVE void __stark_sim_assert(const char *message,
                                            const char *file, unsigned line,
                                            const char *function);
STARK_SIM_PRIMITIVE void __stark_sim_trap(void);
/// Ends the run with the verdict `unsupported`; \p what names the feature.
STARK_SIM_PRIMITIVE void __stark_sim_unsupported(const char *what);
extern "C" void __stark_sim_host_unsupported(const char *what);
/// Of a function that does not compile here.
static __inline__ __device__ __attribute__((unused)) void
__stark_sim_no_body(const char *what) {
  __stark_sim_unsupported(what);
}
static __inline__ __attribute__((unused)) void
__stark_sim_no_body(const char *what) {
  __stark_sim_host_unsupported(what);
}

#endif
