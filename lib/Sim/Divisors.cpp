//===- Divisors.cpp - What nvcc does not know of divisors -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Divisors.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace stark::sim;

/// Products, shifts and conversions between a counter and a divisor.
static constexpr unsigned MostSteps = 4;

static bool isOfCounter(const Value *Divisor) {
  for (unsigned Step = 0; Step < MostSteps; ++Step) {
    if (isa<PHINode>(Divisor))
      return true;
    auto *I = dyn_cast<Instruction>(Divisor);
    if (!I || (!isa<CastInst>(I) && I->getOpcode() != Instruction::Mul &&
               I->getOpcode() != Instruction::Shl))
      return false;
    Divisor = I->getOperand(isa<Constant>(I->getOperand(0)) &&
                            I->getOpcode() == Instruction::Mul);
  }
  return false;
}

static FunctionCallee hiderOf(Module &M, Type *T) {
  FunctionCallee Hider = M.getOrInsertFunction(
      (HiddenDivisor + Twine(".i") + Twine(T->getIntegerBitWidth())).str(), T,
      T);
  auto *F = cast<Function>(Hider.getCallee());
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setSpeculatable();
  return Hider;
}

PreservedAnalyses HideDivisors::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    if (!I.isIntDivRem() || !I.getType()->isIntegerTy() ||
        !isOfCounter(I.getOperand(1)))
      continue;
    IRBuilder<> B(&I);
    I.setOperand(
        1, B.CreateCall(hiderOf(*F.getParent(), I.getType()), I.getOperand(1)));
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses ShowDivisors::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || !Callee->getName().starts_with(HiddenDivisor) ||
        (!All && !isa<ConstantInt>(Call->getArgOperand(0))))
      continue;
    Call->replaceAllUsesWith(Call->getArgOperand(0));
    Call->eraseFromParent();
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
