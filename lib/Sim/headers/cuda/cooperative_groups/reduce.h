//===- reduce.h - reduce() and its operations ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Every lane of a tile or of a coalesced group gets the result. The order of
/// the operands is that of a butterfly, so that sums of floating-point numbers
/// are those of the usual shuffles.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_COOPERATIVE_GROUPS_REDUCE_H
#define STARK_SIM_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define STARK_SIM_OPERATION(NAME, EXPRESSION)                                  \
  template <class T> struct NAME {                                             \
    __inline__ __device__ T operator()(const T &a, const T &b) const {         \
      return EXPRESSION;                                                       \
    }                                                                          \
  };
STARK_SIM_OPERATION(plus, a + b)
STARK_SIM_OPERATION(less, b < a ? b : a)
STARK_SIM_OPERATION(greater, a < b ? b : a)
STARK_SIM_OPERATION(bit_and, a &b)
STARK_SIM_OPERATION(bit_or, a | b)
STARK_SIM_OPERATION(bit_xor, a ^ b)
#undef STARK_SIM_OPERATION

template <unsigned Size, class Parent, class T, class Operation>
STARK_SIM_GROUP T reduce(const thread_block_tile<Size, Parent> &group, T value,
                         Operation &&operation) {
#pragma unroll
  for (unsigned step = Size / 2; step > 0; step /= 2) {
    T other = group.shfl_xor(value, step);
    value = operation(value, other);
  }
  return value;
}
template <class T, class Operation>
STARK_SIM_GROUP T reduce(const coalesced_group &group, T value,
                         Operation &&operation) {
  unsigned size = group.size(), rank = group.thread_rank(), width = 1;
  while (width < size)
    width *= 2;
  for (unsigned step = width / 2; step > 0; step /= 2) {
    T other = group.shfl_down(value, step);
    if (rank + step < size)
      value = operation(value, other);
  }
  return group.shfl(value, 0);
}

template <class Group, class T, class Operation>
STARK_SIM_GROUP void reduce_update_async(const Group &group, T &atomic, T value,
                                         Operation &&operation) {
  T result = reduce(group, value, operation);
  if (group.thread_rank() == 0)
    __stark_sim_atomic_loop(&atomic,
                            [=](T old) { return operation(old, result); });
}

} // namespace cooperative_groups

#endif
