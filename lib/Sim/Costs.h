//===- Costs.h - What a GPU issues for a basic block ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_COSTS_H
#define STARK_LIB_SIM_COSTS_H

#include "stark/Sim/Tables.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace stark::sim {

/// Of each block that can be reached: issue slots of one warp for one pass
/// through it, and how long one warp alone takes. Estimated from LLVM's
/// instructions, each of which is what nvcc 13.0 makes of it for sm_90.
llvm::DenseMap<const llvm::BasicBlock *, CodeBlock>
costsOf(const llvm::Function &F);

/// A product of matrices that a warp makes.
bool isMatrixOp(const llvm::CallInst &Call);
/// Whether \p Array holds what such a product takes or makes: registers.
bool holdsMatrix(const llvm::Value &Array);
/// Whether \p Load is of an asynchronous copy (cp.async): no thread waits for
/// it, and the store beside it is the same instruction.
bool isAsyncCopy(const llvm::LoadInst &Load);
bool isAsyncCopy(const llvm::StoreInst &Store);
/// Whether all such copies have to be there then.
bool awaitsCopies(const llvm::CallInst &Call);

/// A barrier, a shuffle, a vote.
bool bringsThreadsTogether(const llvm::CallInst &Call);

/// Issue slots of one instruction, by the unit that is busy.
struct Slots {
  Unit Where = Unit::Integer;
  float Count = 0;
  /// Beside those: a range reduction, a polynomial, the test for the slow path.
  float Float = 0, Integer = 0;
  float sum() const { return Count + Float + Integer; }
};
Slots costOf(const llvm::Instruction &I);
/// Of a call of a function of CUDA's mathematical library, on its path without
/// exceptions, by its name and by the type of its result.
Slots libraryCost(llvm::StringRef Name, const llvm::Type *Result);

/// One of the simulator's own variables; a GPU has what they hold in registers.
bool isOurs(const llvm::Value *Pointer);

/// Whether \p I is part of addresses alone.
bool feedsAddressesOnly(const llvm::Instruction &I);

/// The attribute that a __constant__ variable gets.
constexpr llvm::StringLiteral BankedNote = "stark-banked";
/// Whether it reads a known place of a __constant__ variable: instructions name
/// it as an operand, so that no load is left (c[3][...]).
bool isOperand(const llvm::LoadInst &Load);
/// Whether a GPU has no load there: it is one of those two.
bool isNoLoad(const llvm::LoadInst &Load);

/// Where a pointer leads: a variable, an argument, or where the search ends.
const llvm::Value *objectOf(const llvm::Value *Pointer);
bool isSharedMemory(const llvm::Value *Pointer);

/// Whether \p F is a function of lib/Sim/headers that is one instruction, or a
/// short fixed sequence, of a GPU: it is costed as that where it is called, and
/// what this CPU does for it is not looked at.
bool isInstruction(const llvm::Function &F);
/// Of such a function.
Slots instructionCost(const llvm::Function &F);

/// How many 32-bit values are live at the worst place of \p F, and a few that
/// every kernel needs for addresses.
unsigned estimateRegisters(const llvm::Function &F);

} // namespace stark::sim

#endif
