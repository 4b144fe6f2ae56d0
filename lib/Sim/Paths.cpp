//===- Paths.cpp - How long one warp alone takes -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Chains of dependent instructions, through blocks that nvcc makes one
/// stretch of code. What is independent is taken to be under way together: the
/// compiler moves loads to the front, though not above stores that may write
/// what they read, nor above barriers.
///
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>
#include <memory>

using namespace llvm;
using namespace stark::sim;

namespace {
/// From when a warp gives its tensor core a product of sixteen rows to when it
/// has it (Luo et al., Benchmarking and Dissecting the NVIDIA Hopper GPU
/// Architecture: mma of m16n8k16, 32 to 33).
constexpr float MatrixLatency = 33;

/// When a value is there, counted from where a region of code begins: cycles,
/// and how many loads of global and of shared memory had to come first.
struct Moment {
  float Cycles = 0, Loads = 0, Shared = 0;
  void wait(const Moment &Other) {
    Cycles = std::max(Cycles, Other.Cycles);
    Loads = std::max(Loads, Other.Loads);
    Shared = std::max(Shared, Other.Shared);
  }
};

using AwaitSet = SmallPtrSet<const Instruction *, 4>;

/// Blocks that nvcc makes one stretch of instructions of: those under a short
/// condition are predicated, so that their loads are under way together.
struct Region {
  explicit Region(const AwaitSet &Awaits) : Awaits(Awaits) {}
  const AwaitSet &Awaits; ///< of copiesAwaited()
  DenseMap<const Value *, Moment> Ready;
  Moment Last;  ///< of all so far
  Moment Floor; ///< nothing moves above a barrier
  /// Loads stay behind a store that may write what they read.
  std::vector<std::pair<const Value *, Moment>> Stores;
};

constexpr unsigned PredicatedInstructions = 16;

bool canBePredicated(const BasicBlock &Block) {
  unsigned Count = 0;
  for (const Instruction &I : Block) {
    if (isa<DbgInfoIntrinsic>(I))
      continue;
    auto *Call = dyn_cast<CallInst>(&I);
    if (++Count > PredicatedInstructions ||
        (Call && (bringsThreadsTogether(*Call) || isMatrixOp(*Call))))
      return false;
  }
  auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  return Branch && Branch->isUnconditional() && Block.getSinglePredecessor();
}

/// The block in whose region \p Block goes on, or null: it begins one.
const BasicBlock *regionBefore(const BasicBlock &Block) {
  if (canBePredicated(Block)) {
    const BasicBlock *Head = Block.getSinglePredecessor(),
                     *Next = Block.getSingleSuccessor();
    if (is_contained(successors(Head), Next))
      return Head;
    for (const BasicBlock *Other : successors(Head))
      if (Other != &Block && canBePredicated(*Other) &&
          Other->getSingleSuccessor() == Next)
        return Head;
    return nullptr;
  }
  // Where the ways meet again.
  const BasicBlock *Head = nullptr;
  unsigned Ways = 0;
  for (const BasicBlock *Way : predecessors(&Block)) {
    const BasicBlock *From = canBePredicated(*Way) && regionBefore(*Way) &&
                                     Way->getSingleSuccessor() == &Block
                                 ? Way->getSinglePredecessor()
                                 : Way;
    if (Way == &Block || (Head && From != Head))
      return nullptr;
    Head = From;
    ++Ways;
  }
  return Ways == 2 ? Head : nullptr;
}

/// Whether \p Block and those that go on after it are one stretch of code, so
/// that predicates stand in for its branch.
bool isPredicated(const BasicBlock &Block) {
  auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (!Branch)
    return false;
  if (Branch->isUnconditional())
    return canBePredicated(Block) && regionBefore(Block);
  return any_of(successors(&Block), [&](const BasicBlock *Next) {
    return canBePredicated(*Next) && regionBefore(*Next) == &Block;
  });
}

bool mayAlias(const Value *A, const Value *B) {
  if (!A || !B)
    return true;
  bool SharedA = isSharedMemory(A), SharedB = isSharedMemory(B);
  if (SharedA != SharedB)
    return false;
  if (SharedA)
    return true;
  const Value *From = objectOf(A), *To = objectOf(B);
  if (From == To)
    return true;
  auto Apart = [](const Value *V) {
    auto *Parameter = dyn_cast<Argument>(V);
    return isa<AllocaInst>(V) || (Parameter && Parameter->hasNoAliasAttr());
  };
  auto *Variable = dyn_cast<GlobalVariable>(To);
  return !Apart(From) && !Apart(To) && !(Variable && Variable->isConstant());
}

float latencyOf(const Slots &S) {
  // Dependent instructions of the arithmetic units issue every 4 cycles.
  if (S.Where == Unit::Special)
    return 18 + 4 * (S.Float + S.Integer / 2);
  return std::max(4.0f, 4 * std::min(S.sum(), 1 + S.sum() / 2));
}

void addTo(Region &R, const Instruction &I, const Slots &S) {
  Moment At = R.Floor;
  if (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I)) {
    for (const Value *Operand : I.operands())
      if (auto Found = R.Ready.find(Operand); Found != R.Ready.end())
        At.wait(Found->second);
    R.Ready[&I] = At;
    return;
  }
  for (const Value *Operand : I.operands())
    if (auto Found = R.Ready.find(Operand); Found != R.Ready.end())
      At.wait(Found->second);
  const Value *Pointer = getLoadStorePointerOperand(&I);
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Store = dyn_cast<StoreInst>(&I);
  if ((Load && isAsyncCopy(*Load)) || (Store && isAsyncCopy(*Store))) {
    R.Ready[&I] = At;
    return;
  }
  if (Pointer && holdsMatrix(*objectOf(Pointer))) {
    Moment &There = R.Ready[objectOf(Pointer)];
    Store ? There.wait(At) : At.wait(There);
    R.Ready[&I] = At;
    return;
  }
  bool Waits = Load && !isNoLoad(*Load);
  if (Waits)
    for (const auto &[Where, When] : R.Stores)
      if (mayAlias(Where, Pointer))
        At.wait(When);
  auto *Call = dyn_cast<CallInst>(&I);
  if (Call && isMatrixOp(*Call)) {
    At.Cycles += MatrixLatency;
    R.Ready[Call->getArgOperand(Call->arg_size() - 1)] = At;
    R.Last.wait(At);
    return;
  }
  if (R.Awaits.contains(&I)) {
    At.wait(R.Last);
    At.Loads += 1;
    R.Floor = At;
  }
  if (Waits && !isa<AllocaInst>(objectOf(Pointer))) {
    if (isSharedMemory(Pointer))
      At.Shared += 1;
    else
      At.Loads += 1;
  } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I)) {
    // A sum that nobody asks for is sent off (RED).
    if (!Atomic->use_empty())
      (isSharedMemory(Atomic->getPointerOperand()) ? At.Shared : At.Loads) += 1;
  } else if (isa<AtomicCmpXchgInst>(I)) {
    At.Loads += 1;
  } else if (Call && bringsThreadsTogether(*Call)) {
    if (Call->getCalledFunction()->getName().starts_with(
            "__stark_sim_shuffle")) {
      At.Shared += 1;
      R.Ready[&I] = At;
      R.Last.wait(At);
      return;
    }
    At.wait(R.Last);
    R.Floor = At;
  } else if (isa<StoreInst>(I)) {
    R.Stores.push_back({Pointer, At});
  } else if (I.isTerminator() || (isa<ICmpInst>(I) && I.hasOneUse() &&
                                  isa<BranchInst>(*I.user_begin()))) {
    return; // what steers runs beside what is computed
  } else if (S.sum() > 0) {
    At.Cycles += latencyOf(S);
  }
  R.Ready[&I] = At;
  R.Last.wait(At);
}
} // namespace

/// Whether a copy is begun between what is last computed before \p Wait, of the
/// loop \p L, and there.
static bool followsCopies(const Instruction &Wait, const Loop *L) {
  SmallVector<const Instruction *, 8> Open = {&Wait};
  SmallPtrSet<const BasicBlock *, 8> Seen;
  while (!Open.empty()) {
    const Instruction *From = Open.pop_back_val();
    const BasicBlock *Block = From->getParent();
    bool Computes = false;
    for (const Instruction *I = From; I && !Computes; I = I->getPrevNode()) {
      auto *Load = dyn_cast<LoadInst>(I);
      if (Load && isAsyncCopy(*Load))
        return true;
      auto *Call = dyn_cast<CallInst>(I);
      Computes = (Load && isSharedMemory(Load->getPointerOperand())) ||
                 (Call && isMatrixOp(*Call));
    }
    for (const BasicBlock *Before : predecessors(Block))
      if (!Computes && (!L || L->contains(Before)) &&
          Seen.insert(Before).second)
        Open.push_back(Before->getTerminator());
  }
  return false;
}

/// Where threads wait for copies that they have just begun. Others go on while
/// something is computed, which takes longer.
static AwaitSet copiesAwaited(const Function &F) {
  auto Is = [](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && awaitsCopies(*Call);
  };
  AwaitSet Found;
  if (none_of(instructions(F), Is))
    return Found;
  DominatorTree Tree(const_cast<Function &>(F));
  LoopInfo Loops(Tree);
  for (const Instruction &I : instructions(F))
    if (Is(I) && followsCopies(I, Loops.getLoopFor(I.getParent())))
      Found.insert(&I);
  return Found;
}

DenseMap<const BasicBlock *, CodeBlock> stark::sim::costsOf(const Function &F) {
  DenseMap<const BasicBlock *, CodeBlock> Out;
  DenseMap<const BasicBlock *, std::shared_ptr<Region>> Regions;
  const AwaitSet Awaits = copiesAwaited(F);
  ReversePostOrderTraversal<const Function *> Order(&F);
  for (const BasicBlock *Block : Order) {
    CodeBlock &C = Out[Block];
    std::shared_ptr<Region> &R = Regions[Block];
    if (const BasicBlock *Head = regionBefore(*Block))
      if (auto Found = Regions.find(Head); Found != Regions.end())
        R = Found->second;
    if (!R)
      R = std::make_shared<Region>(Awaits);
    Moment Before = R->Last;
    for (const Instruction &I : *Block) {
      Slots S = I.isTerminator() && isPredicated(*Block) ? Slots{} : costOf(I);
      C.Slots[unsigned(S.Where)] += S.Count;
      C.Slots[unsigned(Unit::Float)] += S.Float;
      C.Slots[unsigned(Unit::Integer)] += S.Integer;
      addTo(*R, I, S);
    }
    // The stack, the descriptors of memory, parameters.
    if (Block == &F.getEntryBlock())
      C.Slots[unsigned(Unit::Integer)] += 4;
    C.Path = R->Last.Cycles - Before.Cycles;
    C.LoadDepth = R->Last.Loads - Before.Loads;
    C.SharedDepth = R->Last.Shared - Before.Shared;
  }
  return Out;
}
