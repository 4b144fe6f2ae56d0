//===- Indices.cpp - Indices as sums --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Indices.h"
#include "Costs.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace stark::sim;

/// The same value as nvcc's LLVM would have it, or null.
static Value *olderForm(Instruction &I) {
  IRBuilder<> B(&I);
  if (auto *Or = dyn_cast<PossiblyDisjointInst>(&I); Or && Or->isDisjoint())
    return B.CreateAdd(I.getOperand(0), I.getOperand(1), I.getName(),
                       /*HasNUW=*/true, /*HasNSW=*/true);
  if (isa<ZExtInst>(I) && I.hasNonNeg() && feedsAddressesOnly(I))
    return B.CreateSExt(I.getOperand(0), I.getType(), I.getName());
  return nullptr;
}

/// Whether \p I, a value and a number, is where the indices of a loop begin, so
/// that nothing is gained if the number is taken out of each of them.
static bool isOrigin(const Instruction &I, const LoopInfo &Loops) {
  return match(&I, m_NSWAdd(m_Value(), m_ConstantInt())) && !I.use_empty() &&
         all_of(I.users(), [&](const User *U) {
           return Loops.getLoopDepth(cast<Instruction>(U)->getParent()) >
                  Loops.getLoopDepth(I.getParent());
         });
}

/// A + (B + number) as (A + B) + number, where all is done in one loop.
static Value *numberLast(Instruction &I, const LoopInfo &Loops) {
  Value *A, *Inner, *Other;
  ConstantInt *Number;
  if (!match(&I, m_NSWAdd(m_Value(A), m_Value(Inner))))
    return nullptr;
  auto EndsInNumber = [&](Value *V) {
    auto *Sum = dyn_cast<Instruction>(V);
    return Sum && match(V, m_NSWAdd(m_Value(Other), m_ConstantInt(Number))) &&
           Loops.getLoopFor(Sum->getParent()) ==
               Loops.getLoopFor(I.getParent());
  };
  if (!EndsInNumber(Inner)) {
    std::swap(A, Inner);
    if (!EndsInNumber(Inner))
      return nullptr;
  }
  IRBuilder<> B(&I);
  return B.CreateNSWAdd(B.CreateNSWAdd(A, Other), Number, I.getName());
}

template <class Function>
static bool replaceEach(llvm::Function &F, Function By) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (Value *Other = By(I)) {
      I.replaceAllUsesWith(Other);
      I.eraseFromParent();
      Changed = true;
    }
  return Changed;
}

PreservedAnalyses IndicesAsSums::run(Function &F,
                                     FunctionAnalysisManager &Functions) {
  LoopInfo &Loops = Functions.getResult<LoopAnalysis>(F);
  bool Changed = replaceEach(F, olderForm);
  // Nothing is taken out of what may wrap.
  for (Instruction &I : instructions(F))
    if (isOrigin(I, Loops)) {
      I.setHasNoSignedWrap(false);
      Changed = true;
    }
  Changed |=
      replaceEach(F, [&](Instruction &I) { return numberLast(I, Loops); });
  if (!Changed)
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
