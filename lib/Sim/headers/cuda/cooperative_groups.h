//===- cooperative_groups.h - Groups of threads that work together -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A group knows which threads belong to it, this thread's rank among them,
/// and how they meet. Blocks and grids meet at barriers; tiles and coalesced
/// groups are masks of one warp's lanes. A tile of more than a warp is not
/// offered. See cooperative_groups/ for reduce, scan and memcpy_async.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_COOPERATIVE_GROUPS_H
#define STARK_SIM_COOPERATIVE_GROUPS_H

#define _COOPERATIVE_GROUPS_H_

#include "../stark/stark_sim.h"

#define STARK_SIM_GROUP __forceinline__ __device__ __attribute__((convergent))

namespace cooperative_groups {

STARK_SIM_DEVICE unsigned __lane() { return __stark_sim_sreg(12); }
STARK_SIM_DEVICE unsigned __block_size() {
  return __stark_sim_sreg(6) * __stark_sim_sreg(7) * __stark_sim_sreg(8);
}
STARK_SIM_DEVICE unsigned __block_rank() {
  return __stark_sim_sreg(0) +
         __stark_sim_sreg(6) *
             (__stark_sim_sreg(1) + __stark_sim_sreg(7) * __stark_sim_sreg(2));
}

/// The lanes \p mask of one warp, in the order of their numbers.
class __lanes {
protected:
  unsigned Mask;
  /// The lane of rank \p rank.
  __forceinline__ __device__ int lane_of(unsigned rank) const {
    return (int)__fns(Mask, 0, (int)rank + 1);
  }

public:
  __forceinline__ __device__ explicit __lanes(unsigned mask) : Mask(mask) {}
  STARK_SIM_GROUP void sync() const { __syncwarp(Mask); }
  __forceinline__ __device__ unsigned mask_() const { return Mask; }
  __forceinline__ __device__ unsigned num_threads() const {
    return __popc(Mask);
  }
  __forceinline__ __device__ unsigned size() const { return num_threads(); }
  __forceinline__ __device__ unsigned thread_rank() const {
    return __popc(Mask & ((1u << __lane()) - 1));
  }
  /// A vote's bits by lane become bits by rank.
  __forceinline__ __device__ unsigned packed(unsigned lanes) const {
    unsigned bits = 0, rank = 0;
    for (int lane = 0; lane < 32; ++lane)
      if (Mask >> lane & 1)
        bits |= (lanes >> lane & 1) << rank++;
    return bits;
  }
  STARK_SIM_GROUP int any(int predicate) const {
    return __any_sync(Mask, predicate);
  }
  STARK_SIM_GROUP int all(int predicate) const {
    return __all_sync(Mask, predicate);
  }
  STARK_SIM_GROUP unsigned ballot(int predicate) const {
    return packed(__ballot_sync(Mask, predicate));
  }
  template <class T> STARK_SIM_GROUP unsigned match_any(T value) const {
    return packed(__match_any_sync(Mask, value));
  }
  template <class T>
  STARK_SIM_GROUP unsigned match_all(T value, int &predicate) const {
    return packed(__match_all_sync(Mask, value, &predicate));
  }
};

class thread_block;
class grid_group;
template <unsigned Size, class Parent = void> class thread_block_tile;

/// Any group whose size is known at run time alone: a block, lanes, or one
/// thread.
class thread_group {
protected:
  enum Kind { Block, Cluster, Grid, Lanes, Single } What;
  unsigned Mask;
  __forceinline__ __device__ thread_group(Kind what, unsigned mask)
      : What(what), Mask(mask) {}

public:
  static __forceinline__ __device__ thread_group single_() {
    return {Single, 1u};
  }
  static __forceinline__ __device__ thread_group
  part_(const thread_group &parent, unsigned size);
  __forceinline__ __device__ thread_group(const __lanes &lanes)
      : What(Lanes), Mask(lanes.mask_()) {}
  STARK_SIM_GROUP void sync() const {
    if (What == Block)
      __syncthreads();
    else if (What == Grid)
      __stark_sim_grid_sync();
    else if (What == Cluster) {
      __cluster_barrier_arrive();
      __cluster_barrier_wait();
    } else if (What == Lanes)
      __syncwarp(Mask);
  }
  __forceinline__ __device__ unsigned long long num_threads() const {
    if (What == Grid)
      return (unsigned long long)__block_size() * __stark_sim_sreg(9) *
             __stark_sim_sreg(10) * __stark_sim_sreg(11);
    if (What == Cluster)
      return (unsigned long long)__block_size() * __clusterSizeInBlocks();
    return What == Block ? __block_size() : __popc(Mask);
  }
  __forceinline__ __device__ unsigned long long size() const {
    return num_threads();
  }
  __forceinline__ __device__ unsigned long long thread_rank() const {
    if (What == Grid) {
      unsigned long long block =
          __stark_sim_sreg(3) +
          (unsigned long long)__stark_sim_sreg(9) *
              (__stark_sim_sreg(4) +
               (unsigned long long)__stark_sim_sreg(10) * __stark_sim_sreg(5));
      return block * __block_size() + __block_rank();
    }
    if (What == Single)
      return 0;
    if (What == Cluster)
      return __clusterRelativeBlockRank() * __block_size() + __block_rank();
    return What == Block ? __block_rank()
                         : __popc(Mask & ((1u << __lane()) - 1));
  }
  __forceinline__ __device__ bool is_valid() const { return true; }
};
STARK_SIM_DEVICE thread_group this_thread() { return thread_group::single_(); }

class thread_block : public thread_group {
public:
  __forceinline__ __device__ thread_block() : thread_group(Block, 0) {}
  struct arrival_token {};
  static STARK_SIM_GROUP void sync() { __syncthreads(); }
  STARK_SIM_GROUP arrival_token barrier_arrive() const { return {}; }
  STARK_SIM_GROUP void barrier_wait(arrival_token &&) const { sync(); }
  static __forceinline__ __device__ unsigned thread_rank() {
    return __block_rank();
  }
  static __forceinline__ __device__ unsigned num_threads() {
    return __block_size();
  }
  static __forceinline__ __device__ unsigned size() { return __block_size(); }
  static __forceinline__ __device__ dim3 group_index() { return blockIdx; }
  static __forceinline__ __device__ dim3 thread_index() { return threadIdx; }
  static __forceinline__ __device__ dim3 group_dim() { return blockDim; }
  static __forceinline__ __device__ dim3 dim_threads() { return blockDim; }
};
STARK_SIM_DEVICE thread_block this_thread_block() { return thread_block(); }

class cluster_group : public thread_group {
public:
  __forceinline__ __device__ cluster_group() : thread_group(Cluster, 0) {}
  struct arrival_token {};
  static STARK_SIM_GROUP void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static STARK_SIM_GROUP arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return {};
  }
  static STARK_SIM_GROUP void barrier_wait() { __cluster_barrier_wait(); }
  static STARK_SIM_GROUP void barrier_wait(arrival_token &&) {
    __cluster_barrier_wait();
  }
  static __forceinline__ __device__ unsigned num_blocks() {
    return __clusterSizeInBlocks();
  }
  static __forceinline__ __device__ unsigned block_rank() {
    return __clusterRelativeBlockRank();
  }
  static __forceinline__ __device__ dim3 block_index() {
    return __clusterRelativeBlockIdx();
  }
  static __forceinline__ __device__ dim3 dim_blocks() { return __clusterDim(); }
  static __forceinline__ __device__ dim3 thread_index() {
    dim3 block = __clusterRelativeBlockIdx();
    return dim3(block.x * blockDim.x + threadIdx.x,
                block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  static __forceinline__ __device__ dim3 dim_threads() {
    dim3 blocks = __clusterDim();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y,
                blocks.z * blockDim.z);
  }
  static __forceinline__ __device__ unsigned thread_rank() {
    return block_rank() * __block_size() + __block_rank();
  }
  static __forceinline__ __device__ unsigned num_threads() {
    return num_blocks() * __block_size();
  }
  static __forceinline__ __device__ unsigned size() { return num_threads(); }
  template <class T>
  static __forceinline__ __device__ T *map_shared_rank(T *place, int rank) {
    return (T *)__cluster_map_shared_rank((const void *)place, (unsigned)rank);
  }
  static __forceinline__ __device__ unsigned
  query_shared_rank(const void *place) {
    return __cluster_query_shared_rank(place);
  }
};
STARK_SIM_DEVICE cluster_group this_cluster() { return cluster_group(); }

class grid_group : public thread_group {
public:
  __forceinline__ __device__ grid_group() : thread_group(Grid, 0) {}
  static STARK_SIM_GROUP void sync() { __stark_sim_grid_sync(); }
  static __forceinline__ __device__ dim3 group_dim() { return gridDim; }
  static __forceinline__ __device__ dim3 dim_blocks() { return gridDim; }
  static __forceinline__ __device__ dim3 block_index() { return blockIdx; }
  static __forceinline__ __device__ unsigned long long num_blocks() {
    return (unsigned long long)__stark_sim_sreg(9) * __stark_sim_sreg(10) *
           __stark_sim_sreg(11);
  }
  static __forceinline__ __device__ unsigned long long block_rank() {
    return __stark_sim_sreg(3) +
           (unsigned long long)__stark_sim_sreg(9) *
               (__stark_sim_sreg(4) +
                (unsigned long long)__stark_sim_sreg(10) * __stark_sim_sreg(5));
  }
  static __forceinline__ __device__ unsigned long long num_threads() {
    return num_blocks() * __block_size();
  }
  static __forceinline__ __device__ unsigned long long size() {
    return num_threads();
  }
  static __forceinline__ __device__ unsigned long long thread_rank() {
    return block_rank() * __block_size() + __block_rank();
  }
};
STARK_SIM_DEVICE grid_group this_grid() { return grid_group(); }

/// \p Size neighbouring lanes, a power of two. In a short last warp the mask
/// names lanes that are not there, as it does on a GPU.
template <unsigned Size> class __tile : public __lanes {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

public:
  __forceinline__ __device__ __tile()
      : __lanes(Size == 32 ? 0xffffffffu
                           : ((1u << (Size & 31)) - 1)
                                 << (__stark_sim_sreg(12) & ~(Size - 1))) {}
  static __forceinline__ __device__ constexpr unsigned num_threads() {
    return Size;
  }
  static __forceinline__ __device__ constexpr unsigned size() { return Size; }
  static __forceinline__ __device__ unsigned thread_rank() {
    return __lane() & (Size - 1);
  }
  static __forceinline__ __device__ unsigned meta_group_rank() {
    return __block_rank() / Size;
  }
  static __forceinline__ __device__ unsigned meta_group_size() {
    return (__block_size() + Size - 1) / Size;
  }
  template <class T> STARK_SIM_GROUP T shfl(T value, int rank) const {
    return __stark_sim_shuffle_words(Mask, value, 0, rank, (int)Size);
  }
  template <class T> STARK_SIM_GROUP T shfl_up(T value, unsigned delta) const {
    return __stark_sim_shuffle_words(Mask, value, 1, (int)delta, (int)Size);
  }
  template <class T>
  STARK_SIM_GROUP T shfl_down(T value, unsigned delta) const {
    return __stark_sim_shuffle_words(Mask, value, 2, (int)delta, (int)Size);
  }
  template <class T> STARK_SIM_GROUP T shfl_xor(T value, unsigned ranks) const {
    return __stark_sim_shuffle_words(Mask, value, 3, (int)ranks, (int)Size);
  }
};
template <unsigned Size>
class thread_block_tile<Size, void> : public __tile<Size> {};
/// One that knows what it is a part of is also one that does not.
template <unsigned Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {};

/// The lanes of a warp that are here together.
class coalesced_group : public __lanes {
public:
  __forceinline__ __device__ explicit coalesced_group(unsigned mask)
      : __lanes(mask) {}
  template <unsigned Size, class Parent>
  __forceinline__ __device__
  coalesced_group(const thread_block_tile<Size, Parent> &tile)
      : __lanes(tile.mask_()) {}
  __forceinline__ __device__ unsigned meta_group_rank() const { return 0; }
  __forceinline__ __device__ unsigned meta_group_size() const { return 1; }
  template <class T> STARK_SIM_GROUP T shfl(T value, int rank) const {
    return __stark_sim_shuffle_words(Mask, value, 0, lane_of((unsigned)rank % size()),
                           32);
  }
  template <class T> STARK_SIM_GROUP T shfl_up(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return __stark_sim_shuffle_words(Mask, value, 0,
                           lane_of(delta > rank ? rank : rank - delta), 32);
  }
  template <class T>
  STARK_SIM_GROUP T shfl_down(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return __stark_sim_shuffle_words(Mask, value, 0,
                           lane_of(rank + delta < size() ? rank + delta : rank),
                           32);
  }
  template <class T> STARK_SIM_GROUP T shfl_xor(T value, unsigned ranks) const {
    unsigned rank = thread_rank(), other = rank ^ ranks;
    return __stark_sim_shuffle_words(Mask, value, 0,
                           lane_of(other < size() ? other : rank), 32);
  }
};
STARK_SIM_DEVICE __attribute__((convergent)) coalesced_group
coalesced_threads() {
  return coalesced_group(__activemask());
}

template <unsigned Size, class Parent>
STARK_SIM_DEVICE thread_block_tile<Size, Parent>
tiled_partition(const Parent &) {
  return {};
}
/// A coalesced group in runs of \p size ranks.
STARK_SIM_DEVICE coalesced_group tiled_partition(const coalesced_group &parent,
                                                 unsigned size) {
  unsigned mine = parent.thread_rank() / size, rank = 0, mask = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (parent.mask_() >> lane & 1)
      mask |= (unsigned)(rank++ / size == mine) << lane;
  return coalesced_group(mask);
}
__forceinline__ __device__ thread_group
thread_group::part_(const thread_group &parent, unsigned size) {
  if (parent.What == Lanes)
    return tiled_partition(coalesced_group(parent.Mask), size);
  unsigned mask =
      size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (__lane() / size * size);
  return {Lanes, mask};
}
STARK_SIM_DEVICE thread_group tiled_partition(const thread_group &parent,
                                              unsigned size) {
  return thread_group::part_(parent, size);
}
/// Those lanes of a group that gave an equal label.
template <class Label, class Group>
STARK_SIM_GROUP coalesced_group labeled_partition(const Group &group,
                                                  Label label) {
  return coalesced_group(__match_any_sync(group.mask_(), label));
}
template <class Group>
STARK_SIM_GROUP coalesced_group binary_partition(const Group &group,
                                                 bool predicate) {
  unsigned yes = __ballot_sync(group.mask_(), predicate);
  return coalesced_group(predicate ? yes : group.mask_() & ~yes);
}

template <class Group> STARK_SIM_GROUP void sync(const Group &group) {
  group.sync();
}
template <class Group>
__forceinline__ __device__ auto thread_rank(const Group &group) {
  return group.thread_rank();
}
template <class Group>
__forceinline__ __device__ auto group_size(const Group &group) {
  return group.size();
}

template <class Group, class Function>
STARK_SIM_GROUP void invoke_one(const Group &group, Function &&function) {
  if (group.thread_rank() == 0)
    function();
}

} // namespace cooperative_groups

#endif
