//===- Costs.h - What a GPU issues for a basic block ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_COSTS_H
#define STARK_LIB_SIM_COSTS_H

#include "stark/Sim/Tables.h"
#include "llvm/IR/Function.h"

namespace stark::sim {

/// Issue slots of one warp for one pass through \p Block. Estimated from LLVM's
/// instructions, which are close to PTX, not to the machine's.
CodeBlock costOf(const llvm::BasicBlock &Block);

/// Whether \p F is a function of lib/Sim/headers that is one instruction, or a
/// short fixed sequence, of a GPU: it is costed as that where it is called, and
/// what this CPU does for it is not looked at.
bool isInstruction(const llvm::Function &F);

/// How many 32-bit values are live at the worst place of \p F, and a few that
/// every kernel needs for addresses.
unsigned estimateRegisters(const llvm::Function &F);

} // namespace stark::sim

#endif
