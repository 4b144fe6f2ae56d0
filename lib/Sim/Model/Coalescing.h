//===- Coalescing.h - One request of a warp, in pieces of memory ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the lanes' addresses -> sectors and lines of global memory, words of the
///   banks of shared memory, addresses of constant memory
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_COALESCING_H
#define STARK_LIB_SIM_MODEL_COALESCING_H

#include "Model/Units.h"
#include "stark/Sim/Tables.h"

namespace stark::sim {

/// Different numbers in the order in which they came.
struct Pieces {
  uint64_t List[2 * WarpLanes];
  unsigned Count = 0;
  void add(uint64_t Number);
};

Pieces sectorsOf(const Request &R);
Pieces linesOf(const Pieces &Sectors);

/// How many addresses of \p R differ. Sorts them.
uint64_t distinctAddresses(Request &R);

/// Cycles that shared memory takes: lanes that want the same word get it
/// together, those that want different words of one bank wait. A bank serves
/// one word of four bytes a cycle (CUDA C++ Programming Guide, shared memory).
uint64_t sharedCycles(const Request &R, const Probe &P);

/// Cycles that the constant cache takes: it serves one address at a time.
uint64_t constantCycles(Request &R);

/// How many lanes of an atomic request wait for another on their address.
uint64_t atomicConflicts(const Request &R);

} // namespace stark::sim

#endif
