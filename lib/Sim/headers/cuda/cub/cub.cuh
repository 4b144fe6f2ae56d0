//===- cub.cuh - Reductions and prefix sums of warps and blocks ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Those parts of CUB that stand in kernels: WarpReduce, BlockReduce,
/// WarpScan and BlockScan, of one item a thread or a few; BlockLoad, BlockStore,
/// BlockExchange and BlockRadixSort in block/. The device-wide algorithms are
/// not offered.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUB_CUH
#define STARK_SIM_CUB_CUH

#include "../../stark/stark_sim.h"

namespace cub {

struct Sum {
  template <class T>
  __inline__ __host__ __device__ T operator()(const T &a, const T &b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  __inline__ __host__ __device__ T operator()(const T &a, const T &b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  __inline__ __host__ __device__ T operator()(const T &a, const T &b) const {
    return b < a ? b : a;
  }
};
template <class Key, class Value> struct KeyValuePair {
  Key key;
  Value value;
};
struct ArgMax {
  template <class K, class V>
  __inline__ __host__ __device__ KeyValuePair<K, V>
  operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  __inline__ __host__ __device__ KeyValuePair<K, V>
  operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm {
  BLOCK_SCAN_RAKING,
  BLOCK_SCAN_RAKING_MEMOIZE,
  BLOCK_SCAN_WARP_SCANS
};

#define STARK_SIM_CUB __inline__ __device__ __attribute__((convergent))

template <int Threads> STARK_SIM_CUB unsigned __lanes() {
  unsigned lane = __stark_sim_sreg(12);
  return Threads == 32
             ? 0xffffffffu
             : ((1u << (Threads & 31)) - 1) << (lane / Threads * Threads);
}
STARK_SIM_DEVICE int RowMajorTid(int x, int y, int z) {
  return (int)threadIdx.x + (y == 1 ? 0 : (int)threadIdx.y * x) +
         (z == 1 ? 0 : (int)threadIdx.z * x * y);
}
/// The thread's number among those that a collective of X * Y * Z is for,
/// whatever the block's size: where Y and Z are 1, each row of a block of rows
/// has a collective of its own.
template <int X, int Y, int Z> STARK_SIM_CUB int __rank() {
  return RowMajorTid(X, Y, Z);
}

/// How many lanes of a warp work together for a collective of so many threads.
constexpr int __warp(int threads) {
  return threads < 32 && (threads & (threads - 1)) == 0 ? threads : 32;
}

/// The result is that of the first lane.
template <class T, int Threads = 32, int Arch = 0> class WarpReduce {
public:
  struct TempStorage {};
  STARK_SIM_CUB WarpReduce(TempStorage &) {}
  template <class Operation>
  STARK_SIM_CUB T Reduce(T value, Operation operation, int valid = Threads) {
    int rank = (int)(__stark_sim_sreg(12) % Threads);
#pragma unroll
    for (int step = 1; step < Threads; step *= 2) {
      T other = __stark_sim_shuffle_words(__lanes<Threads>(), value, 2, step, Threads);
      if (rank + step < valid)
        value = operation(value, other);
    }
    return value;
  }
  STARK_SIM_CUB T Sum(T value, int valid = Threads) {
    return Reduce(value, cub::Sum(), valid);
  }
};

template <class T, int Threads = 32, int Arch = 0> class WarpScan {
public:
  struct TempStorage {};
  STARK_SIM_CUB WarpScan(TempStorage &) {}
  template <class Operation>
  STARK_SIM_CUB void InclusiveScan(T value, T &result, Operation operation) {
    int rank = (int)(__stark_sim_sreg(12) % Threads);
#pragma unroll
    for (int step = 1; step < Threads; step *= 2) {
      T before = __stark_sim_shuffle_words(__lanes<Threads>(), value, 1, step, Threads);
      if (rank >= step)
        value = operation(before, value);
    }
    result = value;
  }
  STARK_SIM_CUB void InclusiveSum(T value, T &result) {
    InclusiveScan(value, result, cub::Sum());
  }
  template <class Operation>
  STARK_SIM_CUB void InclusiveScan(T value, T &result, Operation operation,
                                   T &total) {
    InclusiveScan(value, result, operation);
    total = __stark_sim_shuffle_words(__lanes<Threads>(), result, 0,
                                      Threads - 1, Threads);
  }
  STARK_SIM_CUB void InclusiveSum(T value, T &result, T &total) {
    InclusiveScan(value, result, cub::Sum(), total);
  }
  /// The first lane's result is left as it is.
  template <class Operation>
  STARK_SIM_CUB void ExclusiveScan(T value, T &result, Operation operation) {
    T sum;
    InclusiveScan(value, sum, operation);
    sum = __stark_sim_shuffle_words(__lanes<Threads>(), sum, 1, 1, Threads);
    if (__stark_sim_sreg(12) % Threads != 0)
      result = sum;
  }
  template <class Operation>
  STARK_SIM_CUB void ExclusiveScan(T value, T &result, T initial,
                                   Operation operation) {
    T sum = initial;
    ExclusiveScan(value, sum, operation);
    result =
        __stark_sim_sreg(12) % Threads == 0 ? initial : operation(initial, sum);
  }
  template <class Operation>
  STARK_SIM_CUB void ExclusiveScan(T value, T &result, T initial,
                                   Operation operation, T &total) {
    T sum;
    InclusiveScan(value, sum, operation, total);
    ExclusiveScan(value, result, initial, operation);
  }
  STARK_SIM_CUB void ExclusiveSum(T value, T &result) {
    ExclusiveScan(value, result, T(), cub::Sum());
  }
  STARK_SIM_CUB void ExclusiveSum(T value, T &result, T &total) {
    ExclusiveScan(value, result, T(), cub::Sum(), total);
  }
  STARK_SIM_CUB T Broadcast(T value, unsigned lane) {
    return __stark_sim_shuffle_words(__lanes<Threads>(), value, 0, (int)lane,
                                     Threads);
  }
};

/// The result is that of the first thread.
template <class T, int X,
          BlockReduceAlgorithm How = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1, int Arch = 0>
class BlockReduce {
  static constexpr int Threads = X * Y * Z, Warps = (Threads + 31) / 32,
                       Lanes = __warp(Threads);

public:
  struct TempStorage {
    T Warp[Warps];
  };
  STARK_SIM_CUB BlockReduce(TempStorage &storage) : Storage(storage) {}
  template <class Operation>
  STARK_SIM_CUB T Reduce(T value, Operation operation, int valid = Threads) {
    int rank = __rank<X, Y, Z>(), first = rank / 32 * 32;
    int left = valid - first;
    typename WarpReduce<T, Lanes>::TempStorage none;
    value = WarpReduce<T, Lanes>(none).Reduce(value, operation,
                                              left < Lanes ? left : Lanes);
    // What a single warp would store nobody reads.
    if (Warps > 1 && rank == first)
      Storage.Warp[rank / 32] = value;
    if (Warps > 1 || How == BLOCK_REDUCE_WARP_REDUCTIONS)
      __syncthreads();
    if (rank == 0)
      for (int warp = 1; warp < Warps && 32 * warp < valid; ++warp)
        value = operation(value, Storage.Warp[warp]);
    return value;
  }
  STARK_SIM_CUB T Sum(T value, int valid = Threads) {
    return Reduce(value, cub::Sum(), valid);
  }
  template <int Items, class Operation>
  STARK_SIM_CUB T Reduce(T (&values)[Items], Operation operation) {
    T value = values[0];
#pragma unroll
    for (int i = 1; i < Items; ++i)
      value = operation(value, values[i]);
    return Reduce(value, operation);
  }
  template <int Items> STARK_SIM_CUB T Sum(T (&values)[Items]) {
    return Reduce(values, cub::Sum());
  }

private:
  TempStorage &Storage;
};

template <class T, int X, BlockScanAlgorithm How = BLOCK_SCAN_RAKING, int Y = 1,
          int Z = 1, int Arch = 0>
class BlockScan {
  static constexpr int Threads = X * Y * Z, Warps = (Threads + 31) / 32,
                       Lanes = __warp(Threads);
  /// By shuffles alone: neither storage nor a barrier.
  static constexpr bool Alone =
      (Threads == 32 || Lanes < 32) && How != BLOCK_SCAN_WARP_SCANS;
  typedef WarpScan<T, Lanes> Warp;
  /// The result of the thread before, which the first thread has no use for.
  STARK_SIM_CUB T before(T result, int rank) {
    if constexpr (Alone)
      return __stark_sim_shuffle_words(__lanes<Lanes>(), result, 1, 1, Lanes);
    Storage.Before[rank] = result;
    __syncthreads();
    return Storage.Before[rank ? rank - 1 : 0];
  }

public:
  struct TempStorage {
    T Warp[Warps];
    T Before[Threads];
  };
  STARK_SIM_CUB BlockScan(TempStorage &storage) : Storage(storage) {}
  template <class Operation>
  STARK_SIM_CUB void InclusiveScan(T value, T &result, Operation operation,
                                   T &total) {
    int rank = __rank<X, Y, Z>(), warp = rank / 32;
    typename Warp::TempStorage none;
    if constexpr (Alone) {
      Warp(none).InclusiveScan(value, result, operation, total);
      return;
    }
    Warp(none).InclusiveScan(value, value, operation);
    if (rank % 32 == 31 || rank == Threads - 1)
      Storage.Warp[warp] = value;
    __syncthreads();
    T before = Storage.Warp[0], all = Storage.Warp[0];
    for (int i = 1; i < Warps; ++i) {
      if (i < warp)
        before = operation(before, Storage.Warp[i]);
      all = operation(all, Storage.Warp[i]);
    }
    result = warp ? operation(before, value) : value;
    total = all;
  }
  template <class Operation>
  STARK_SIM_CUB void InclusiveScan(T value, T &result, Operation operation) {
    T total;
    InclusiveScan(value, result, operation, total);
  }
  STARK_SIM_CUB void InclusiveSum(T value, T &result) {
    InclusiveScan(value, result, cub::Sum());
  }
  STARK_SIM_CUB void InclusiveSum(T value, T &result, T &total) {
    InclusiveScan(value, result, cub::Sum(), total);
  }
  template <class Operation>
  STARK_SIM_CUB void ExclusiveScan(T value, T &result, T initial,
                                   Operation operation, T &total) {
    int rank = __rank<X, Y, Z>();
    T sum;
    InclusiveScan(value, sum, operation, total);
    sum = before(sum, rank);
    result = rank ? operation(initial, sum) : initial;
  }
  template <class Operation>
  STARK_SIM_CUB void ExclusiveScan(T value, T &result, T initial,
                                   Operation operation) {
    T total;
    ExclusiveScan(value, result, initial, operation, total);
  }
  STARK_SIM_CUB void ExclusiveSum(T value, T &result) {
    ExclusiveScan(value, result, T(), cub::Sum());
  }
  STARK_SIM_CUB void ExclusiveSum(T value, T &result, T &total) {
    ExclusiveScan(value, result, T(), cub::Sum(), total);
  }

  // Of several items a thread, one after the other.
  template <int Items, class Operation>
  STARK_SIM_CUB void ExclusiveScan(T (&values)[Items], T (&results)[Items],
                                   T initial, Operation operation, T &total) {
    T sum = values[0];
#pragma unroll
    for (int i = 1; i < Items; ++i)
      sum = operation(sum, values[i]);
    T before;
    ExclusiveScan(sum, before, initial, operation, total);
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      T value = values[i];
      results[i] = before;
      before = operation(before, value);
    }
  }
  template <int Items, class Operation>
  STARK_SIM_CUB void ExclusiveScan(T (&values)[Items], T (&results)[Items],
                                   T initial, Operation operation) {
    T total;
    ExclusiveScan(values, results, initial, operation, total);
  }
  template <int Items>
  STARK_SIM_CUB void ExclusiveSum(T (&values)[Items], T (&results)[Items]) {
    ExclusiveScan(values, results, T(), cub::Sum());
  }
  template <int Items>
  STARK_SIM_CUB void ExclusiveSum(T (&values)[Items], T (&results)[Items],
                                  T &total) {
    ExclusiveScan(values, results, T(), cub::Sum(), total);
  }
  template <int Items, class Operation>
  STARK_SIM_CUB void InclusiveScan(T (&values)[Items], T (&results)[Items],
                                   Operation operation, T &total) {
    T sums[Items];
    sums[0] = values[0];
#pragma unroll
    for (int i = 1; i < Items; ++i)
      sums[i] = operation(sums[i - 1], values[i]);
    T upto;
    InclusiveScan(sums[Items - 1], upto, operation, total);
    int rank = __rank<X, Y, Z>();
    upto = before(upto, rank);
#pragma unroll
    for (int i = 0; i < Items; ++i)
      results[i] = rank ? operation(upto, sums[i]) : sums[i];
  }
  template <int Items, class Operation>
  STARK_SIM_CUB void InclusiveScan(T (&values)[Items], T (&results)[Items],
                                   Operation operation) {
    T total;
    InclusiveScan(values, results, operation, total);
  }
  template <int Items>
  STARK_SIM_CUB void InclusiveSum(T (&values)[Items], T (&results)[Items]) {
    InclusiveScan(values, results, cub::Sum());
  }
  template <int Items>
  STARK_SIM_CUB void InclusiveSum(T (&values)[Items], T (&results)[Items],
                                  T &total) {
    InclusiveScan(values, results, cub::Sum(), total);
  }

private:
  TempStorage &Storage;
};

STARK_SIM_DEVICE unsigned LaneId() { return __stark_sim_sreg(12); }
STARK_SIM_DEVICE unsigned WarpId() { return __stark_sim_sreg(13); }

} // namespace cub

#include "block/block_memory.cuh"

#endif
