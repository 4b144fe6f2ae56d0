//===- Polls.cpp - Where a thread waits for what another writes -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polls.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace stark::sim;

static bool isZero(const Value *V) {
  const auto *C = dyn_cast<Constant>(V);
  return C && C->isNullValue();
}

/// The word that \p I reads and leaves as it is, ordered with other threads;
/// null: it does something else.
static const Value *wordOf(const Instruction &I) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isVolatile() || Load->isAtomic() ? Load->getPointerOperand()
                                                  : nullptr;
  if (const auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    return X->getCompareOperand() == X->getNewValOperand()
               ? X->getPointerOperand()
               : nullptr;
  const auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  if (!Atomic || !isZero(Atomic->getValOperand()))
    return nullptr;
  switch (Atomic->getOperation()) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::UMax:
    return Atomic->getPointerOperand();
  default:
    return nullptr;
  }
}

namespace {
/// A way round a loop that comes back to an access.
struct Round {
  const Loop &L;
  const BasicBlock &Latch;                   ///< that it ends with
  SmallPtrSet<const BasicBlock *, 8> Blocks; ///< from the access to there
};
} // namespace

/// Whether \p V is the same when \p R has been gone: of what is from outside,
/// or read from where nothing is written in between.
static bool isFixed(const Value *V, const Round &R) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || !R.L.contains(I))
    return true;
  if (const auto *Phi = dyn_cast<PHINode>(I))
    return Phi->getParent() == R.L.getHeader() &&
           Phi->getIncomingValueForBlock(&R.Latch) == Phi;
  return !I->mayWriteToMemory() && !wordOf(*I) &&
         all_of(I->operands(), [&](const Use &U) { return isFixed(U, R); });
}

/// Whether \p V is made of what \p From reads, or of what other threads of the
/// warp make of it.
static bool isMadeOf(const Value *V, const Instruction &From, const Loop &L,
                     SmallPtrSetImpl<const Value *> &Seen) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || !Seen.insert(I).second)
    return false;
  return I == &From || any_of(I->operands(), [&](const Use &U) {
           return isMadeOf(U, From, L, Seen);
         });
}

/// Whether what \p From reads decides if \p R is gone.
static bool decides(const Instruction &From, const Round &R) {
  return any_of(R.Blocks, [&](const BasicBlock *B) {
    const Instruction *End = B->getTerminator();
    SmallPtrSet<const Value *, 8> Seen;
    return End->getNumSuccessors() > 1 &&
           isMadeOf(End->getOperand(0), From, R.L, Seen);
  });
}

static bool writes(const Round &R) {
  for (const BasicBlock *B : R.Blocks)
    for (const Instruction &I : *B)
      if (isa<StoreInst>(I) ||
          (isa<AtomicRMWInst, AtomicCmpXchgInst>(I) && !wordOf(I)))
        return true;
  return false;
}

/// The blocks of \p L from \p From to \p Latch; none: it does not come there.
static Round roundFrom(const BasicBlock &From, const BasicBlock &Latch,
                       const Loop &L) {
  SmallPtrSet<const BasicBlock *, 8> Ahead = {&From}, Behind = {&Latch};
  SmallVector<const BasicBlock *, 8> Open = {&From};
  while (!Open.empty())
    for (const BasicBlock *Next : successors(Open.pop_back_val()))
      if (L.contains(Next) && Next != L.getHeader() &&
          Ahead.insert(Next).second)
        Open.push_back(Next);
  Open = {&Latch};
  while (!Open.empty()) {
    const BasicBlock *At = Open.pop_back_val();
    if (At != &From && At != L.getHeader())
      for (const BasicBlock *Before : predecessors(At))
        if (Behind.insert(Before).second)
          Open.push_back(Before);
  }
  Round R{L, Latch, {}};
  for (const BasicBlock *B : Ahead)
    if (Behind.contains(B))
      R.Blocks.insert(B);
  return R;
}

SmallPtrSet<const Instruction *, 4> stark::sim::pollsOf(const Function &F) {
  SmallPtrSet<const Instruction *, 4> Found;
  if (none_of(instructions(F), [](const Instruction &I) { return wordOf(I); }))
    return Found;
  DominatorTree Tree(const_cast<Function &>(F));
  LoopInfo Loops(Tree);
  for (const Instruction &I : instructions(F)) {
    const Value *Word = wordOf(I);
    const Loop *L = Word ? Loops.getLoopFor(I.getParent()) : nullptr;
    if (!L)
      continue;
    SmallVector<BasicBlock *, 4> Latches;
    L->getLoopLatches(Latches);
    for (const BasicBlock *Latch : Latches) {
      Round R = roundFrom(*I.getParent(), *Latch, *L);
      if (isFixed(Word, R) && decides(I, R) && !writes(R))
        Found.insert(&I);
    }
  }
  return Found;
}
