//===- scan.h - inclusive_scan() and exclusive_scan() --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Prefix results by rank, for tiles and coalesced groups.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_COOPERATIVE_GROUPS_SCAN_H
#define STARK_SIM_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
STARK_SIM_GROUP T inclusive_scan(const Group &group, T value,
                                 Operation &&operation) {
  unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    T before = group.shfl_up(value, step);
    if (rank >= step)
      value = operation(before, value);
  }
  return value;
}
template <class Group, class T>
STARK_SIM_GROUP T inclusive_scan(const Group &group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
/// Rank 0 gets T(), as where the operation is a sum; CUDA leaves it undefined
/// for the others.
template <class Group, class T, class Operation>
STARK_SIM_GROUP T exclusive_scan(const Group &group, T value,
                                 Operation &&operation) {
  T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
STARK_SIM_GROUP T exclusive_scan(const Group &group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif
