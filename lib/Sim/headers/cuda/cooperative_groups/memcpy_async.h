//===- memcpy_async.h - Copies into shared memory by a group -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The threads of the group copy by turns, and what is awaited is there when
/// all have come. The copy itself is done at once.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define STARK_SIM_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuda_pipeline.h"

namespace cooperative_groups {

/// In pieces as wide as both addresses and the size allow.
template <class Group>
STARK_SIM_GROUP void __copy(const Group &group, char *to, const char *from,
                            size_t bytes) {
  unsigned long long places =
      (unsigned long long)to | (unsigned long long)from | bytes;
  auto copy = [&](auto piece) {
    typedef decltype(piece) Piece;
    for (size_t i = group.thread_rank(); i < bytes / sizeof(Piece);
         i += group.size())
      if (sizeof(Piece) >= 4)
        __pipeline_memcpy_async(to + i * sizeof(Piece),
                                from + i * sizeof(Piece), sizeof(Piece));
      else
        ((Piece *)to)[i] = ((const Piece *)from)[i];
  };
  if (places % 16 == 0)
    copy(uint4());
  else if (places % 8 == 0)
    copy(0ull);
  else if (places % 4 == 0)
    copy(0u);
  else
    copy((char)0);
  __pipeline_commit();
}
template <class Group, class T, class Size>
STARK_SIM_GROUP void memcpy_async(const Group &group, T *to, const T *from,
                                  const Size &bytes) {
  __copy(group, (char *)to, (const char *)from, (size_t)bytes);
}
/// Both lengths in elements; the shorter counts.
template <class Group, class T, class Length, class OtherLength>
STARK_SIM_GROUP void memcpy_async(const Group &group, T *to,
                                  const Length &to_length, const T *from,
                                  const OtherLength &from_length) {
  size_t length = (size_t)to_length < (size_t)from_length ? (size_t)to_length
                                                          : (size_t)from_length;
  __copy(group, (char *)to, (const char *)from, length * sizeof(T));
}
template <class Group> STARK_SIM_GROUP void wait(const Group &group) {
  __pipeline_wait_prior(0);
  group.sync();
}
template <unsigned Left, class Group>
STARK_SIM_GROUP void wait_prior(const Group &group) {
  __pipeline_wait_prior(Left);
  group.sync();
}

} // namespace cooperative_groups

#endif
