//===- block_memory.cuh - Items of a block, moved and sorted -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Blocked: a thread's items lie one after the other. Striped: neighbours in
/// memory are neighbours among threads. What has to be turned from the one to
/// the other goes through shared memory.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CUB_BLOCK_MEMORY_CUH
#define STARK_SIM_CUB_BLOCK_MEMORY_CUH

#include "../cub.cuh"

namespace cub {

struct NullType {};

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int X, int Items, bool Sliced = false, int Y = 1, int Z = 1,
          int Arch = 0>
class BlockExchange {
  static constexpr int Threads = X * Y * Z;

public:
  struct TempStorage {
    T Item[Threads * Items];
  };
  STARK_SIM_CUB BlockExchange(TempStorage &storage) : Storage(storage) {}
  /// What is at \p from(i) for this thread goes to \p to(i).
  template <class U, class From, class To>
  STARK_SIM_CUB void move_(const T (&in)[Items], U (&out)[Items], From from,
                           To to) {
    T held[Items];
#pragma unroll
    for (int i = 0; i < Items; ++i)
      held[i] = in[i];
#pragma unroll
    for (int i = 0; i < Items; ++i)
      Storage.Item[from(i)] = held[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Items; ++i)
      out[i] = Storage.Item[to(i)];
  }
  STARK_SIM_CUB static int blocked_(int i) {
    return __rank<X, Y, Z>() * Items + i;
  }
  STARK_SIM_CUB static int striped_(int i) {
    return i * Threads + __rank<X, Y, Z>();
  }
  template <class U>
  STARK_SIM_CUB void StripedToBlocked(const T (&in)[Items], U (&out)[Items]) {
    move_(in, out, striped_, blocked_);
  }
  template <class U>
  STARK_SIM_CUB void BlockedToStriped(const T (&in)[Items], U (&out)[Items]) {
    move_(in, out, blocked_, striped_);
  }
  template <class U, class Rank>
  STARK_SIM_CUB void ScatterToBlocked(const T (&in)[Items], U (&out)[Items],
                                      Rank (&ranks)[Items]) {
    move_(in, out, [&](int i) { return (int)ranks[i]; }, blocked_);
  }
  template <class U, class Rank>
  STARK_SIM_CUB void ScatterToStriped(const T (&in)[Items], U (&out)[Items],
                                      Rank (&ranks)[Items]) {
    move_(in, out, [&](int i) { return (int)ranks[i]; }, striped_);
  }
  STARK_SIM_CUB void StripedToBlocked(T (&items)[Items]) {
    StripedToBlocked(items, items);
  }
  STARK_SIM_CUB void BlockedToStriped(T (&items)[Items]) {
    BlockedToStriped(items, items);
  }
  template <class Rank>
  STARK_SIM_CUB void ScatterToBlocked(T (&items)[Items], Rank (&ranks)[Items]) {
    ScatterToBlocked(items, items, ranks);
  }
  template <class Rank>
  STARK_SIM_CUB void ScatterToStriped(T (&items)[Items], Rank (&ranks)[Items]) {
    ScatterToStriped(items, items, ranks);
  }

private:
  TempStorage &Storage;
};

template <class T, int X, int Items,
          BlockLoadAlgorithm How = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int Arch = 0>
class BlockLoad {
  typedef BlockExchange<T, X, Items, false, Y, Z> Exchange;
  static constexpr bool Turned = How >= BLOCK_LOAD_TRANSPOSE;
  STARK_SIM_CUB static int at(int i) {
    return How == BLOCK_LOAD_STRIPED || Turned ? Exchange::striped_(i)
                                               : Exchange::blocked_(i);
  }

public:
  struct None {};
  template <bool, class A, class B> struct Choice { typedef A type; };
  template <class A, class B> struct Choice<false, A, B> { typedef B type; };
  typedef typename Choice<Turned, typename Exchange::TempStorage, None>::type
      TempStorage;
  STARK_SIM_CUB BlockLoad(TempStorage &storage) : Storage(storage) {}
  template <class From>
  STARK_SIM_CUB void Load(From from, T (&items)[Items], int valid) {
#pragma unroll
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid)
        items[i] = from[at(i)];
    turn(items);
  }
  template <class From>
  STARK_SIM_CUB void Load(From from, T (&items)[Items]) {
    Load(from, items, X * Y * Z * Items);
  }
  template <class From, class Default>
  STARK_SIM_CUB void Load(From from, T (&items)[Items], int valid,
                          Default other) {
#pragma unroll
    for (int i = 0; i < Items; ++i)
      items[i] = other;
    Load(from, items, valid);
  }

private:
  STARK_SIM_CUB void turn(T (&items)[Items]) {
    if constexpr (Turned)
      Exchange(Storage).StripedToBlocked(items);
  }
  TempStorage &Storage;
};

template <class T, int X, int Items,
          BlockStoreAlgorithm How = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int Arch = 0>
class BlockStore {
  typedef BlockExchange<T, X, Items, false, Y, Z> Exchange;
  static constexpr bool Turned = How >= BLOCK_STORE_TRANSPOSE;
  STARK_SIM_CUB static int at(int i) {
    return How == BLOCK_STORE_STRIPED || Turned ? Exchange::striped_(i)
                                                : Exchange::blocked_(i);
  }

public:
  struct None {};
  template <bool, class A, class B> struct Choice { typedef A type; };
  template <class A, class B> struct Choice<false, A, B> { typedef B type; };
  typedef typename Choice<Turned, typename Exchange::TempStorage, None>::type
      TempStorage;
  STARK_SIM_CUB BlockStore(TempStorage &storage) : Storage(storage) {}
  template <class To>
  STARK_SIM_CUB void Store(To to, T (&items)[Items],
                           int valid = X * Y * Z * Items) {
    if constexpr (Turned)
      Exchange(Storage).BlockedToStriped(items);
#pragma unroll
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid)
        to[at(i)] = items[i];
  }

private:
  TempStorage &Storage;
};

/// Four bits at a time, stable.
template <class Key, int X, int Items, class Value = NullType, int Bits = 4,
          bool Memoize = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS,
          int Config = 0, int Y = 1, int Z = 1, int Arch = 0>
class BlockRadixSort {
  static constexpr int Threads = X * Y * Z;
  typedef BlockScan<unsigned, X, BLOCK_SCAN_WARP_SCANS, Y, Z> Scan;
  typedef BlockExchange<Key, X, Items, false, Y, Z> Keys;
  typedef BlockExchange<Value, X, Items, false, Y, Z> Values;

public:
  struct TempStorage {
    unsigned Count[16 * Threads];
    typename Scan::TempStorage Sums;
    typename Keys::TempStorage Key_;
    typename Values::TempStorage Value_;
  };
  STARK_SIM_CUB BlockRadixSort(TempStorage &storage) : Storage(storage) {}

  STARK_SIM_CUB void Sort(Key (&keys)[Items], int begin = 0,
                          int end = 8 * (int)sizeof(Key)) {
    Value none[Items];
    sort<false>(keys, none, begin, end);
  }
  STARK_SIM_CUB void Sort(Key (&keys)[Items], Value (&values)[Items],
                          int begin = 0, int end = 8 * (int)sizeof(Key)) {
    sort<false>(keys, values, begin, end);
  }
  STARK_SIM_CUB void SortDescending(Key (&keys)[Items], int begin = 0,
                                    int end = 8 * (int)sizeof(Key)) {
    Value none[Items];
    sort<true>(keys, none, begin, end);
  }
  STARK_SIM_CUB void SortDescending(Key (&keys)[Items], Value (&values)[Items],
                                    int begin = 0,
                                    int end = 8 * (int)sizeof(Key)) {
    sort<true>(keys, values, begin, end);
  }
  STARK_SIM_CUB void SortBlockedToStriped(Key (&keys)[Items], int begin = 0,
                                          int end = 8 * (int)sizeof(Key)) {
    Sort(keys, begin, end);
    __syncthreads();
    Keys(Storage.Key_).BlockedToStriped(keys);
  }
  STARK_SIM_CUB void SortBlockedToStriped(Key (&keys)[Items],
                                          Value (&values)[Items], int begin = 0,
                                          int end = 8 * (int)sizeof(Key)) {
    Sort(keys, values, begin, end);
    __syncthreads();
    Keys(Storage.Key_).BlockedToStriped(keys);
    Values(Storage.Value_).BlockedToStriped(values);
  }

private:
  /// Bits that are in order where the keys are.
  STARK_SIM_CUB static unsigned long long ordered(const Key &key) {
    unsigned long long bits = 0, top = 1ull << (8 * sizeof(Key) - 1);
    __builtin_memcpy(&bits, &key, sizeof(Key));
    if ((Key)0.5 != (Key)0) // a floating-point number
      return bits & top ? ~bits : bits | top;
    return (Key)-1 < (Key)0 ? bits ^ top : bits;
  }
  template <bool Down>
  STARK_SIM_CUB static int digit(const Key &key, int bit, int bits) {
    int got = (int)(ordered(key) >> bit) & ((1 << bits) - 1);
    return Down ? (1 << bits) - 1 - got : got;
  }
  template <bool Down>
  STARK_SIM_CUB void sort(Key (&keys)[Items], Value (&values)[Items], int begin,
                          int end) {
    int rank = __rank<X, Y, Z>();
    for (int bit = begin; bit < end; bit += 4) {
      int bits = end - bit < 4 ? end - bit : 4, ranks[Items];
      for (int d = 0; d < 16; ++d)
        Storage.Count[d * Threads + rank] = 0;
      for (int i = 0; i < Items; ++i)
        ranks[i] = (int)Storage
                       .Count[digit<Down>(keys[i], bit, bits) * Threads + rank]++;
      __syncthreads();
      unsigned mine[16];
      for (int d = 0; d < 16; ++d)
        mine[d] = Storage.Count[rank * 16 + d];
      Scan(Storage.Sums).ExclusiveSum(mine, mine);
      for (int d = 0; d < 16; ++d)
        Storage.Count[rank * 16 + d] = mine[d];
      __syncthreads();
      for (int i = 0; i < Items; ++i)
        ranks[i] += (int)Storage
                        .Count[digit<Down>(keys[i], bit, bits) * Threads + rank];
      Keys(Storage.Key_).ScatterToBlocked(keys, ranks);
      Values(Storage.Value_).ScatterToBlocked(values, ranks);
      __syncthreads();
    }
  }
  TempStorage &Storage;
};

} // namespace cub

#endif
