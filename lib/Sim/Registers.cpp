//===- Registers.cpp - How many registers a function takes ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include <algorithm>

using namespace llvm;
using namespace stark::sim;

namespace {
/// That a thread may have (CUDA C++ Programming Guide, compute capability 9.0).
constexpr unsigned MostRegisters = 255;
/// For addresses and what the machine code adds to LLVM's values (fit).
constexpr unsigned ExtraRegisters = 14;
/// Rounds after which liveness is taken as it is.
constexpr unsigned MostRounds = 20;
} // namespace

/// 32-bit registers that a value takes.
static unsigned registersOf(const Value *V) {
  Type *T = V->getType();
  if (T->isVoidTy() || T->isIntegerTy(1) || T->isLabelTy() || T->isTokenTy())
    return 0;
  if (T->isPointerTy())
    return 2;
  if (!T->isSized() || T->isAggregateType())
    return 1;
  uint64_t Bits = T->getPrimitiveSizeInBits().getKnownMinValue();
  return unsigned(std::max<uint64_t>(1, (Bits + 31) / 32));
}

unsigned stark::sim::estimateRegisters(const Function &F) {
  // Classic liveness over blocks, then a walk through each from its end.
  DenseMap<const BasicBlock *, DenseSet<const Value *>> LiveIn;
  auto Counts = [](const Value *V) {
    return isa<Instruction>(V) || isa<Argument>(V);
  };
  unsigned Worst = 0;
  bool Changed = true;
  for (unsigned Round = 0; Changed && Round < MostRounds; ++Round) {
    Changed = false;
    Worst = 0;
    for (const BasicBlock *Block : post_order(&F)) {
      DenseSet<const Value *> Live;
      for (const BasicBlock *Next : successors(Block)) {
        for (const Value *V : LiveIn[Next])
          Live.insert(V);
        for (const PHINode &Phi : Next->phis()) {
          Live.erase(&Phi);
          const Value *V = Phi.getIncomingValueForBlock(Block);
          if (Counts(V))
            Live.insert(V);
        }
      }
      auto Weigh = [&] {
        unsigned Sum = 0;
        for (const Value *V : Live)
          // Kernel parameters lie in the constant bank.
          if (!isa<Argument>(V) && !isa<AllocaInst>(V) &&
              !isa<GetElementPtrInst>(V))
            Sum += registersOf(V);
        Worst = std::max(Worst, Sum);
      };
      Weigh();
      for (const Instruction &I : reverse(*Block)) {
        Live.erase(&I);
        if (!isa<PHINode>(I))
          for (const Value *Operand : I.operands())
            if (Counts(Operand))
              Live.insert(Operand);
        Weigh();
      }
      for (const PHINode &Phi : Block->phis())
        Live.insert(&Phi);
      if (Live.size() != LiveIn[Block].size()) {
        LiveIn[Block] = std::move(Live);
        Changed = true;
      }
    }
  }
  return std::min(MostRegisters, Worst + ExtraRegisters);
}
