//===- Polls.h - Where a thread waits for what another writes -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_POLLS_H
#define STARK_LIB_SIM_POLLS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"

namespace stark::sim {

/// The accesses of \p F that read one word again and again until another thread
/// has changed it: volatile or atomic loads, and atomics that change nothing,
/// which come again by what they read, with nothing written in between. (One
/// that takes a lock changes its word.)
llvm::SmallPtrSet<const llvm::Instruction *, 4>
pollsOf(const llvm::Function &F);

} // namespace stark::sim

#endif
