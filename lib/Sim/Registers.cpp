//===- Registers.cpp - How many registers a function takes ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   liveness over blocks -> each block in the order of ptxas -> the most that
///   is live at once
/// ptxas moves loads to the front, as far as that costs no room for threads;
/// what this CPU's code has beside a GPU's (offsets that go into an access,
/// extended indices, the numbers of blocks) takes none.
///
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>

using namespace llvm;
using namespace stark::sim;

namespace {
/// That a thread may have (CUDA C++ Programming Guide, compute capability 9.0).
constexpr unsigned MostRegisters = 255;
/// With so many an SM of any architecture since 3.7 is full of threads: loads
/// are moved to the front until then (seen in what ptxas 13.0 reports).
constexpr unsigned FullOccupancy = 32;
/// Of a function that is called, as printf() is, by CUDA's own convention
/// (ptxas 13.0 for sm_90).
constexpr unsigned LeastWithCalls = 24;
/// For what the machine code adds to LLVM's values: a small kernel, and one
/// that cannot have all threads (fit, as what follows).
constexpr unsigned Extra = 7, ExtraOfLarge = 6, FewAbove = 4;
/// Up to which a kernel can have all threads; from which on ptxas has loads
/// under way in a quarter as many registers again.
constexpr unsigned MostOfSmall = 28, Large = 80, Quarter = 4;
/// Registers are counted in halves.
constexpr unsigned Halves = 2;
/// Instructions that a load is moved over (fit).
constexpr unsigned Reach = 200;
/// Rounds after which liveness is taken as it is.
constexpr unsigned MostRounds = 20;

using Values = DenseSet<const Value *>;
} // namespace

/// A product with a constant, a sum or an extension that goes into an address.
static bool goesIntoAddress(const Instruction &I) {
  bool Folds =
      isa<SExtInst, ZExtInst>(I) || ((I.getOpcode() == Instruction::Shl ||
                                      I.getOpcode() == Instruction::Mul) &&
                                     isa<ConstantInt>(I.getOperand(1)));
  return Folds && !I.use_empty() && all_of(I.users(), [](const User *U) {
           auto *Next = dyn_cast<Instruction>(U);
           return isa<GetElementPtrInst>(U) ||
                  (Next && isa<CastInst, BinaryOperator>(Next) &&
                   goesIntoAddress(*Next));
         });
}

/// Half of a word: what takes it can take it out of the word.
static const Value *halfOf(const Instruction &I) {
  if (!isa<TruncInst>(I) || I.getType()->getPrimitiveSizeInBits() != 16)
    return nullptr;
  const Value *From = I.getOperand(0);
  auto *Shift = dyn_cast<BinaryOperator>(From);
  return Shift && Shift->getOpcode() == Instruction::LShr &&
                 isa<ConstantInt>(Shift->getOperand(1))
             ? Shift->getOperand(0)
             : From;
}

/// Calls \p Take for what is in registers where \p V is used: offsets that are
/// constants and extensions are part of what uses them, a vector is its
/// elements.
static void forEachHeld(const Value *V,
                        function_ref<void(const Value *)> Take) {
  while (auto *I = dyn_cast<Instruction>(V)) {
    auto *G = dyn_cast<GetElementPtrInst>(I);
    if ((G && G->hasAllConstantIndices()) || isa<FreezeInst, BitCastInst>(I) ||
        goesIntoAddress(*I)) {
      V = I->getOperand(0);
    } else if (const Value *Word = halfOf(*I)) {
      V = Word;
    } else if (isa<InsertElementInst, ShuffleVectorInst>(I)) {
      forEachHeld(I->getOperand(0), Take);
      V = I->getOperand(1);
    } else {
      break;
    }
  }
  if (isa<Instruction>(V))
    Take(V);
}

static bool isTakenApart(const Value *V) {
  return V->getType()->isVectorTy() && !V->use_empty() &&
         all_of(V->users(), [](const User *U) {
           auto *Element = dyn_cast<ExtractElementInst>(U);
           return Element && isa<ConstantInt>(Element->getIndexOperand());
         });
}

/// The number of a block and the extents of block and grid are in constant
/// memory and in registers of the warp, and so is what follows from them.
static bool isOfWarp(const Value *V, unsigned Depth = 0) {
  if (isa<Constant>(V) || isa<Argument>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth > 6 || !I->getType()->isIntegerTy())
    return false;
  if (auto *Call = dyn_cast<CallInst>(I)) {
    const Function *Callee = Call->getCalledFunction();
    auto *Which = Call->arg_size() == 1
                      ? dyn_cast<ConstantInt>(Call->getArgOperand(0))
                      : nullptr;
    return Callee && Callee->getName() == "__stark_sim_sreg" && Which &&
           Which->getZExtValue() >= 3 && Which->getZExtValue() < 12;
  }
  if (!isa<BinaryOperator, CastInst, SelectInst, ICmpInst>(I))
    return false;
  return all_of(I->operands(),
                [&](const Value *O) { return isOfWarp(O, Depth + 1); });
}

/// Halves of 32-bit registers that a value takes.
static unsigned halvesOf(const Value *V) {
  Type *T = V->getType();
  if (T->isVoidTy() || T->isIntegerTy(1) || T->isLabelTy() || T->isTokenTy() ||
      isa<Argument>(V) || isa<AllocaInst>(V) || isTakenApart(V))
    return 0;
  if (auto *L = dyn_cast<LoadInst>(V); L && isOurs(L->getPointerOperand()))
    return 0;
  if (T->isPointerTy()) {
    if (isa<AllocaInst>(objectOf(V)))
      return 0;
    return (isSharedMemory(V) ? 1 : 2) * Halves;
  }
  if (isOfWarp(V))
    return 0;
  if (!T->isSized() || T->isAggregateType())
    return Halves;
  uint64_t Bits = T->getPrimitiveSizeInBits().getKnownMinValue();
  if (Bits <= 16 && isa<ExtractElementInst>(V))
    return 1;
  return unsigned(std::max<uint64_t>(1, (Bits + 31) / 32)) * Halves;
}

static bool waits(const Instruction &I) {
  auto *L = dyn_cast<LoadInst>(&I);
  return L && !isOurs(L->getPointerOperand()) &&
         !isa<AllocaInst>(objectOf(L->getPointerOperand()));
}

namespace {
/// The instructions of a block, loads to the front.
class Order {
public:
  Order(const BasicBlock &Block, bool LoadsFirst);
  std::vector<const Instruction *> List;

private:
  /// Emits \p Load and what of the block it needs, if none of that waits.
  bool moveUp(const Instruction &Load);
  bool collect(const Instruction &I,
               SmallVectorImpl<const Instruction *> &Need);
  void emit(const Instruction &I);

  const BasicBlock &Block;
  Values Emitted, Flying;
};
} // namespace

bool Order::collect(const Instruction &I,
                    SmallVectorImpl<const Instruction *> &Need) {
  constexpr size_t Most = 24;
  for (const Value *Operand : I.operands()) {
    auto *From = dyn_cast<Instruction>(Operand);
    if (!From || From->getParent() != &Block || isa<PHINode>(From) ||
        Emitted.contains(From) || is_contained(Need, From))
      continue;
    if (waits(*From) || From->mayHaveSideEffects() || Need.size() > Most ||
        !collect(*From, Need))
      return false;
    Need.push_back(From);
  }
  // What comes of a load that is still under way would wait for it.
  return none_of(I.operands(),
                 [&](const Value *O) { return Flying.contains(O); });
}

bool Order::moveUp(const Instruction &Load) {
  SmallVector<const Instruction *, 16> Need;
  if (!collect(Load, Need))
    return false;
  for (const Instruction *I : Need)
    emit(*I);
  emit(Load);
  return true;
}

void Order::emit(const Instruction &I) {
  if (!Emitted.insert(&I).second)
    return;
  List.push_back(&I);
  for (const Value *Operand : I.operands())
    Flying.erase(Operand);
  if (isTakenApart(&I))
    for (const User *Element : I.users())
      if (auto *Part = cast<Instruction>(Element); Part->getParent() == &Block)
        emit(*Part);
  if (waits(I))
    Flying.insert(&I);
}

Order::Order(const BasicBlock &Block, bool LoadsFirst) : Block(Block) {
  for (auto At = Block.begin(); At != Block.end(); ++At) {
    if (Emitted.contains(&*At))
      continue;
    bool Shared = false, Global = false; // that something may have written to
    unsigned Passed = 0;
    for (auto Next = At; LoadsFirst && Next != Block.end() && Passed < Reach &&
                         !(Shared && Global);
         ++Next, ++Passed) {
      if (Emitted.contains(&*Next))
        continue;
      auto *Call = dyn_cast<CallInst>(&*Next);
      if (Call && bringsThreadsTogether(*Call))
        break;
      if (Next->mayWriteToMemory() && !Call) {
        const Value *To = getLoadStorePointerOperand(&*Next);
        (To && isSharedMemory(To) ? Shared : Global) = true;
      }
      if (waits(*Next) &&
          !(isSharedMemory(getLoadStorePointerOperand(&*Next)) ? Shared
                                                               : Global))
        moveUp(*Next);
    }
    emit(*At);
  }
}

/// The most registers that are live at once: classic liveness over blocks, then
/// a walk through each from its end.
static unsigned mostLive(const Function &F, bool LoadsFirst) {
  DenseMap<const BasicBlock *, Values> LiveIn;
  DenseMap<const BasicBlock *, std::vector<const Instruction *>> Orders;
  for (const BasicBlock &Block : F)
    Orders[&Block] = Order(Block, LoadsFirst).List;
  unsigned Worst = 0;
  bool Changed = true;
  for (unsigned Round = 0; Changed && Round < MostRounds; ++Round) {
    Changed = false;
    Worst = 0;
    for (const BasicBlock *Block : post_order(&F)) {
      Values Live;
      unsigned Sum = 0;
      auto Add = [&](const Value *Used) {
        forEachHeld(Used, [&](const Value *V) {
          if (Live.insert(V).second)
            Sum += halvesOf(V);
        });
      };
      auto Remove = [&](const Value *V) {
        if (Live.erase(V))
          Sum -= halvesOf(V);
      };
      for (const BasicBlock *Next : successors(Block))
        for (const Value *V : LiveIn[Next])
          Add(V);
      for (const BasicBlock *Next : successors(Block))
        for (const PHINode &Phi : Next->phis())
          Remove(&Phi);
      for (const BasicBlock *Next : successors(Block))
        for (const PHINode &Phi : Next->phis())
          Add(Phi.getIncomingValueForBlock(Block));
      Worst = std::max(Worst, Sum);
      for (const Instruction *I : reverse(Orders[Block])) {
        bool Held = false;
        forEachHeld(I, [&](const Value *V) { Held |= V == I; });
        Remove(I);
        // What is part of its users is looked at there.
        if (!isa<PHINode>(I) && (Held || I->getType()->isVoidTy()))
          for (const Value *Operand : I->operands())
            Add(Operand);
        Worst = std::max(Worst, Sum);
      }
      for (const PHINode &Phi : Block->phis())
        Add(&Phi);
      Worst = std::max(Worst, Sum);
      if (Live.size() != LiveIn[Block].size()) {
        LiveIn[Block] = std::move(Live);
        Changed = true;
      }
    }
  }
  return (Worst + Halves - 1) / Halves;
}

/// printf() and its kin are no instructions and are not inlined.
static bool callsByConvention(const Function &F) {
  for (const Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      if (const Function *Callee = Call->getCalledFunction())
        if (Callee->getName() == "printf" || Callee->getName() == "malloc" ||
            Callee->getName() == "free" ||
            (!Callee->isDeclaration() && !isInstruction(*Callee)))
          return true;
  return false;
}

unsigned stark::sim::estimateRegisters(const Function &F) {
  unsigned Least = mostLive(F, /*LoadsFirst=*/false),
           All = std::max(Least, mostLive(F, /*LoadsFirst=*/true));
  unsigned Taken = 0;
  if (Least <= MostOfSmall)
    Taken = std::min(All + Extra, FullOccupancy);
  else
    Taken = Least + std::min(All - Least + ExtraOfLarge,
                             Least < Large ? FewAbove : Least / Quarter);
  if (callsByConvention(F))
    Taken = std::max(Taken, LeastWithCalls);
  return std::min(MostRegisters, Taken);
}
