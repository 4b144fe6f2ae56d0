//===- Arena.h - Where the buffers of a case lie --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   case, draw -> order of the buffers, distances -> an arena
///   arena, draw -> where it lies in a piece of memory
/// Whoever has the same job and the same draws finds every buffer at the same
/// place of the piece: a child, and another child that opens its memory; the
/// supervisor knows whether the piece of before will do.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_ARENA_H
#define STARK_GPU_ARENA_H

#include "stark/Job/Job.h"
#include <memory_resource>

namespace stark::gpu {

/// Memory comes from the driver in pages of so many bytes.
constexpr uint64_t DriverPage = uint64_t(2) << 20;

/// Arenas of no more share a piece.
constexpr uint64_t MostShared = uint64_t(256) << 20;
/// What a piece has more at most, for its arenas to lie elsewhere. What is left
/// of it is looked at after each compared call.
constexpr uint64_t MostSpare = uint64_t(64) << 20;

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

/// Of the piece of memory that the arena of \p Case lies in. All cases that are
/// not large share one, so that a child asks the driver for memory once, and
/// where an arena is placed anew costs no call of the driver's. Whole pages of
/// the driver's, since a smaller piece may share its page with others, and so
/// be shared with another process with them.
uint64_t pieceFor(const job::Job &J, unsigned Case);
/// The least that does for \p Case, whatever the draw.
uint64_t leastPieceFor(const job::Job &J, unsigned Case);
/// Whether a piece of so many bytes, 0 where there is none, does for \p Case.
bool fits(uint64_t Piece, const job::Job &J, unsigned Case);
/// Do the two lie in one piece, one after the other?
bool sharePiece(const job::Job &J, unsigned Case, unsigned Other);
/// Where an arena of \p Bytes begins in its piece, a page of the driver's, as
/// \p Draw has it.
uint64_t placeIn(uint64_t Piece, uint64_t Bytes, uint64_t Draw);
/// Adds what is left of the piece, so many bytes before and after the arena, to
/// the red zones of its first and its last buffer.
void widen(std::pmr::vector<Placed> &Blocks, uint64_t Before, uint64_t After);

} // namespace stark::gpu

#endif
