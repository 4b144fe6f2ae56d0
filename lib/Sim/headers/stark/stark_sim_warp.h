//===- stark_sim_warp.h - Shuffles, votes, reductions of a warp -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Each form takes the mask of the lanes that take part; the runtime checks
/// that they are those that came.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_WARP_H
#define STARK_SIM_WARP_H

#define STARK_SIM_WARP STARK_SIM_DEVICE __attribute__((convergent))

STARK_SIM_WARP void __syncwarp(unsigned mask = 0xffffffffu) {
  __stark_sim_syncwarp(mask);
}
STARK_SIM_WARP unsigned __activemask() { return __stark_sim_activemask(); }

/// A value of up to eight bytes through the runtime's 64-bit shuffle.
template <class T>
STARK_SIM_WARP T __stark_sim_shuffle_as(unsigned mask, T value, int mode,
                                        int argument, int width) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = __stark_sim_shuffle(mask, bits, mode, argument, width);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// A value of any trivially copyable type, eight bytes at a time.
template <class T>
STARK_SIM_WARP T __stark_sim_shuffle_words(unsigned mask, const T &value,
                                           int mode, int argument, int width) {
  T result;
  for (unsigned at = 0; at < sizeof(T); at += 8) {
    unsigned part = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, (const char *)&value + at, part);
    bits = __stark_sim_shuffle(mask, bits, mode, argument, width);
    __builtin_memcpy((char *)&result + at, &bits, part);
  }
  return result;
}

#define STARK_SIM_SHUFFLE(TYPE)                                                \
  STARK_SIM_WARP TYPE __shfl_sync(unsigned mask, TYPE value, int lane,         \
                                  int width = 32) {                            \
    return __stark_sim_shuffle_as(mask, value, 0, lane, width);                \
  }                                                                            \
  STARK_SIM_WARP TYPE __shfl_up_sync(unsigned mask, TYPE value,                \
                                     unsigned delta, int width = 32) {         \
    return __stark_sim_shuffle_as(mask, value, 1, (int)delta, width);          \
  }                                                                            \
  STARK_SIM_WARP TYPE __shfl_down_sync(unsigned mask, TYPE value,              \
                                       unsigned delta, int width = 32) {       \
    return __stark_sim_shuffle_as(mask, value, 2, (int)delta, width);          \
  }                                                                            \
  STARK_SIM_WARP TYPE __shfl_xor_sync(unsigned mask, TYPE value, int lanes,    \
                                      int width = 32) {                        \
    return __stark_sim_shuffle_as(mask, value, 3, lanes, width);               \
  }

STARK_SIM_SHUFFLE(int)
STARK_SIM_SHUFFLE(unsigned)
STARK_SIM_SHUFFLE(long)
STARK_SIM_SHUFFLE(unsigned long)
STARK_SIM_SHUFFLE(long long)
STARK_SIM_SHUFFLE(unsigned long long)
STARK_SIM_SHUFFLE(float)
STARK_SIM_SHUFFLE(double)

STARK_SIM_WARP int __all_sync(unsigned mask, int predicate) {
  return (int)__stark_sim_vote(mask, 0, predicate);
}
STARK_SIM_WARP int __any_sync(unsigned mask, int predicate) {
  return (int)__stark_sim_vote(mask, 1, predicate);
}
STARK_SIM_WARP unsigned __ballot_sync(unsigned mask, int predicate) {
  return __stark_sim_vote(mask, 2, predicate);
}
STARK_SIM_WARP int __uni_sync(unsigned mask, int predicate) {
  return (int)__stark_sim_vote(mask, 3, predicate);
}

#define STARK_SIM_MATCH(TYPE)                                                  \
  STARK_SIM_WARP unsigned __match_any_sync(unsigned mask, TYPE value) {        \
    unsigned long long bits = 0;                                               \
    __builtin_memcpy(&bits, &value, sizeof(TYPE));                             \
    return __stark_sim_match(mask, bits, 0, nullptr);                          \
  }                                                                            \
  STARK_SIM_WARP unsigned __match_all_sync(unsigned mask, TYPE value,          \
                                           int *predicate) {                   \
    unsigned long long bits = 0;                                               \
    __builtin_memcpy(&bits, &value, sizeof(TYPE));                             \
    return __stark_sim_match(mask, bits, 1, predicate);                        \
  }

STARK_SIM_MATCH(int)
STARK_SIM_MATCH(unsigned)
STARK_SIM_MATCH(long)
STARK_SIM_MATCH(unsigned long)
STARK_SIM_MATCH(long long)
STARK_SIM_MATCH(unsigned long long)
STARK_SIM_MATCH(float)
STARK_SIM_MATCH(double)
#undef STARK_SIM_MATCH

#define STARK_SIM_REDUCE(NAME, TYPE, OPERATION)                                \
  STARK_SIM_WARP TYPE __reduce_##NAME##_sync(unsigned mask, TYPE value) {      \
    return (TYPE)__stark_sim_reduce(mask, (unsigned)value, OPERATION);         \
  }
STARK_SIM_REDUCE(add, unsigned, 0)
STARK_SIM_REDUCE(add, int, 0)
STARK_SIM_REDUCE(min, unsigned, 1)
STARK_SIM_REDUCE(min, int, 3)
STARK_SIM_REDUCE(max, unsigned, 2)
STARK_SIM_REDUCE(max, int, 4)
STARK_SIM_REDUCE(and, unsigned, 5)
STARK_SIM_REDUCE(or, unsigned, 6)
STARK_SIM_REDUCE(xor, unsigned, 7)
#undef STARK_SIM_REDUCE

#endif
