//===- Uniform.cpp - What is the same for all threads of a warp -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uniform.h"
#include "LaunchBounds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace stark::sim;

/// blockIdx, blockDim and gridDim, by axis.
static constexpr uint64_t FirstOfBlock = 3, PastOfBlock = 12;

static bool isOfBlock(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->getName() != "__stark_sim_sreg")
    return false;
  const auto *Which = dyn_cast<ConstantInt>(Call.getArgOperand(0));
  return Which && Which->getZExtValue() >= FirstOfBlock &&
         Which->getZExtValue() < PastOfBlock;
}

/// Where ways meet it depends on the way that a thread took: no phi is.
static bool isUniform(const Value *V, SmallPtrSetImpl<const Value *> &Seen) {
  if (isa<Constant>(V) || Seen.contains(V))
    return true;
  if (const auto *A = dyn_cast<Argument>(V))
    return isKernel(*A->getParent());
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || isa<PHINode, AllocaInst, AtomicRMWInst, AtomicCmpXchgInst>(I))
    return false;
  if (const auto *L = dyn_cast<LoadInst>(I); L && L->isVolatile())
    return false;
  if (const auto *Call = dyn_cast<CallInst>(I))
    if (!isa<IntrinsicInst>(Call) || !Call->doesNotAccessMemory())
      return isOfBlock(*Call);
  if (!all_of(I->operands(),
              [&](const Use &Each) { return isUniform(Each, Seen); }))
    return false;
  Seen.insert(V);
  return true;
}

bool stark::sim::joinsWarp(const AtomicRMWInst &Atomic) {
  switch (Atomic.getOperation()) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
    if (Atomic.use_empty() || isa<ConstantInt>(Atomic.getValOperand()))
      break;
    return false;
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
    if (Atomic.use_empty())
      break;
    return false;
  default:
    return false;
  }
  SmallPtrSet<const Value *, 8> Seen;
  return Atomic.getType()->isIntegerTy(32) &&
         isUniform(Atomic.getPointerOperand(), Seen);
}
