//===- Arena.h - Where the buffers of a case lie --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   case, draw -> order of the buffers, distances -> one piece of memory
/// Whoever has the same job and the same draw finds every buffer at the same
/// place from the beginning: a child, another child that opens its memory, and
/// the supervisor, which says whether the piece of before will do.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_ARENA_H
#define STARK_GPU_ARENA_H

#include "stark/Job/Job.h"
#include <memory_resource>

namespace stark::gpu {

/// Memory comes from the driver in pages of so many bytes.
constexpr uint64_t DriverPage = uint64_t(2) << 20;

/// A buffer between two red zones: its neighbours' begin where these end.
struct Placed {
  bool Has = false;           ///< else this is no buffer's
  uint64_t At = 0, Bytes = 0; ///< of its elements, from the arena's beginning
  uint64_t Before = 0, After = 0; ///< bytes of its red zones
};

/// Of each leaf, in an order and at distances that follow from \p Draw: 512
/// bytes to 1 MiB between two, more often near than far, and 1 MiB at least
/// before the first and behind the last. Each begins at a multiple of 512
/// bytes, as an allocation does, but where a case asks for less. Bytes of all.
uint64_t layOut(const job::Job &J, unsigned Case, uint64_t Draw,
                std::pmr::vector<Placed> &Blocks);

/// Of a new piece for \p Bytes, so that it does for others: whole pages of the
/// driver's, since a smaller piece may share its page with others, and so be
/// shared with another process with them.
uint64_t arenaFor(uint64_t Bytes);
/// Whether a piece of \p Arena bytes, 0 where there is none, is used on. What
/// is left of it is a red zone.
bool fits(uint64_t Arena, uint64_t Bytes);

} // namespace stark::gpu

#endif
