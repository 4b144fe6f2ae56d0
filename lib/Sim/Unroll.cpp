//===- Unroll.cpp - Which loops nvcc unrolls ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Unroll.h"
#include "Costs.h"
#include "Instrument.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace stark::sim;

namespace {
/// Issue slots of what a loop becomes; of one for which arrays leave memory,
/// instructions as nvcc counts them then: read off the stack that ptxas reports
/// for loops of 8 to 128 rounds with bodies of several lengths and functions.
constexpr unsigned Whole = 1000, ShortForArrays = 8000, LongForArrays = 2400,
                   ShortLength = 16, Part = 300, Tiny = 14, Small = 60;
/// Instructions, as nvcc counts them, of what a loop of unknown length becomes:
/// read off its PTX for loops of 2 to 60 sums of products with and without a
/// condition. What ptxas makes of tiny ones was counted in the cubins of these
/// and of some forty others.
constexpr unsigned UnknownPart = 200;
/// A call of more is no tiny loop's.
constexpr float LongCall = 10;
/// What a thread's registers can hold.
constexpr uint64_t MostArrayBytes = 255 * 4;

using LoopSet = SmallPtrSet<const Loop *, 8>;

/// Of arrays that can lie in registers.
struct Promoted {
  LoopSet Loops; ///< that must go for it
  /// That are gone with them: addresses, loads and stores.
  SmallPtrSet<const Instruction *, 32> Accesses;
};
} // namespace

/// Whether the program says how a loop is to be unrolled. `#pragma unroll` says
/// so of a loop whose length is known; of others nvcc does as it does without.
static bool isTold(const Loop &L, uint64_t Length) {
  const MDNode *Id = L.getLoopID();
  for (unsigned I = 1; Id && I < Id->getNumOperands(); ++I)
    if (auto *Hint = dyn_cast<MDNode>(Id->getOperand(I)))
      if (auto *Name = Hint->getNumOperands()
                           ? dyn_cast<MDString>(Hint->getOperand(0))
                           : nullptr)
        if (Name->getString().starts_with("llvm.loop.unroll.") &&
            (Length > 1 || Name->getString() != "llvm.loop.unroll.enable"))
          return true;
  return false;
}

static bool stridesByUnknown(const Loop &L, ScalarEvolution &Lengths) {
  for (PHINode &Phi : L.getHeader()->phis())
    if (Phi.getType()->isIntegerTy())
      if (auto *Step = dyn_cast<SCEVAddRecExpr>(Lengths.getSCEV(&Phi)))
        if (!isa<SCEVConstant>(Step->getStepRecurrence(Lengths)))
          return true;
  return false;
}

/// Whether \p Pointer is \p Array and what only counters of loops of known
/// length add to it, which are then among \p Needed.
static bool isCounted(Value *Pointer, const AllocaInst &Array,
                      ScalarEvolution &Lengths, LoopSet &Needed) {
  return !SCEVExprContains(Lengths.getSCEV(Pointer), [&](const SCEV *Part) {
    if (auto *Other = dyn_cast<SCEVUnknown>(Part))
      return Other->getValue() != &Array;
    if (auto *Counter = dyn_cast<SCEVAddRecExpr>(Part)) {
      Needed.insert(Counter->getLoop());
      return Lengths.getSmallConstantTripCount(Counter->getLoop()) == 0;
    }
    return isa<SCEVCouldNotCompute>(Part);
  });
}

/// What goes for \p Array to lie in registers; unset when it cannot.
static std::optional<Promoted> promote(AllocaInst &Array,
                                       ScalarEvolution &Lengths) {
  std::optional<TypeSize> Bytes =
      Array.getAllocationSize(Array.getModule()->getDataLayout());
  if (!Bytes || Bytes->isScalable() || Bytes->getFixedValue() > MostArrayBytes)
    return std::nullopt;
  Promoted Out;
  SmallVector<Value *, 8> Pointers = {&Array};
  while (!Pointers.empty()) {
    Value *Pointer = Pointers.pop_back_val();
    for (User *U : Pointer->users()) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I)
        return std::nullopt;
      if (I->isLifetimeStartOrEnd())
        continue;
      Out.Accesses.insert(I);
      if (isa<GetElementPtrInst>(I)) {
        Pointers.push_back(I);
        continue;
      }
      auto *S = dyn_cast<StoreInst>(I);
      bool Escapes = S && S->getValueOperand() == Pointer;
      auto *Range = dyn_cast<MemIntrinsic>(I);
      bool Known = S || isa<LoadInst>(I) ||
                   (Range && isa<ConstantInt>(Range->getLength()));
      if (!Known || Escapes || !isCounted(Pointer, Array, Lengths, Out.Loops))
        return std::nullopt;
    }
  }
  return Out;
}

static Promoted promoteArrays(Function &F, ScalarEvolution &Lengths) {
  Promoted All;
  for (Instruction &I : instructions(F))
    if (auto *Array = dyn_cast<AllocaInst>(&I))
      if (std::optional<Promoted> Of = promote(*Array, Lengths)) {
        All.Loops.insert(Of->Loops.begin(), Of->Loops.end());
        All.Accesses.insert(Of->Accesses.begin(), Of->Accesses.end());
      }
  return All;
}

/// Whether nothing is left of \p I once the loops of \p Gone are unrolled.
static bool isGone(const Instruction &I, const Promoted &Gone,
                   ScalarEvolution &Lengths) {
  if (Gone.Accesses.contains(&I))
    return true;
  if (Gone.Loops.empty() || !I.getType()->isIntegerTy() ||
      !Lengths.isSCEVable(I.getType()))
    return false;
  const SCEV *Value = Lengths.getSCEV(const_cast<Instruction *>(&I));
  return !SCEVExprContains(Value, [&](const SCEV *Part) {
    auto *Counter = dyn_cast<SCEVAddRecExpr>(Part);
    return isa<SCEVUnknown, SCEVCouldNotCompute>(Part) ||
           (Counter && !Gone.Loops.contains(Counter->getLoop()));
  });
}

/// What \p I is where nvcc decides for the sake of an array: quotients and
/// roots are one instruction until ptxas sees them, sums are not yet joined
/// with products, the functions of its library have been inlined.
static float sizeForArrays(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::SDiv:
  case Instruction::SRem:
  case Instruction::UDiv:
  case Instruction::URem:
    return 1;
  default:
    break;
  }
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  StringRef Name = Callee ? Callee->getName() : "";
  if (Name.contains("sqrt"))
    return 1;
  // Its argument is bounded, and the result scaled twice.
  Name.consume_front("llvm.");
  if (Name.starts_with("fmuladd"))
    return 2;
  if (Name.starts_with("exp"))
    return 15;
  if (Name.starts_with("log"))
    return 24;
  return costOf(I).sum();
}

namespace {
struct LoopSize {
  uint64_t Slots = 0; ///< instructions as a GPU has them
  uint64_t Seen = 0;  ///< of sizeForArrays()
  bool Meets = false, Writes = false;
  bool Heavy = false; ///< it calls what becomes many instructions
  void repeat(uint64_t Times) {
    Slots *= Times;
    Seen *= Times;
  }
};
using LoopSizes = DenseMap<const Loop *, LoopSize>;
} // namespace

static LoopSize measure(const Loop &L, const LoopInfo &Loops,
                        const LoopSizes &Sizes, const Promoted &Gone,
                        ScalarEvolution &Lengths) {
  LoopSize Size;
  for (const Loop *Inner : L.getSubLoops()) {
    Size.Slots += Sizes.lookup(Inner).Slots;
    Size.Seen += Sizes.lookup(Inner).Seen;
  }
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      auto *Call = dyn_cast<CallInst>(&I);
      Size.Meets |= Call && (bringsThreadsTogether(*Call) || isMatrixOp(*Call));
      Size.Writes |= I.mayWriteToMemory() && !Call;
      Size.Heavy |= Call && costOf(I).sum() > LongCall;
      if (Loops.getLoopFor(Block) == &L && !isGone(I, Gone, Lengths)) {
        Size.Slots += uint64_t(costOf(I).sum() + 0.5f);
        Size.Seen += uint64_t(sizeForArrays(I) + 0.5f);
      }
    }
  return Size;
}

/// By how much a loop of \p Length (0: not known) that is not unrolled as a
/// whole is.
static unsigned partOf(const Loop &L, uint64_t Length, const LoopSize &Of,
                       ScalarEvolution &Lengths) {
  uint64_t Size = Of.Slots;
  if (Length > 1) {
    unsigned Count = 1;
    while (Count < 64 && Length % (Count * 2) == 0 && Count * 2 * Size <= Part)
      Count *= 2;
    return Count == 1 && !Of.Meets && 4 * Size <= Part ? 4 : Count;
  }
  if (!L.isInnermost() || Of.Meets || !L.getExitingBlock() ||
      !Lengths.hasLoopInvariantBackedgeTakenCount(&L))
    return 1;
  if (stridesByUnknown(L, Lengths))
    return L.getNumBlocks() > 1 || Of.Writes || Size > Small ? 1 : 4;
  unsigned Count = 4;
  while (Count > 1 && Count * Of.Seen > UnknownPart)
    Count /= 2;
  return Count;
}

/// What \p L becomes is unrolled by 4 when loops are unrolled next.
static void unrollOnceMore(Loop &L) {
  LLVMContext &Context = L.getHeader()->getContext();
  auto *Four =
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Context), 4));
  MDNode *By = MDNode::get(
      Context, {MDString::get(Context, "llvm.loop.unroll.count"), Four});
  MDNode *Then = MDNode::get(
      Context,
      {MDString::get(Context, "llvm.loop.unroll.followup_unrolled"), By});
  L.setLoopID(
      makePostTransformationMetadata(Context, L.getLoopID(), {}, {Then}));
}

PreservedAnalyses UnrollAsNvcc::run(Function &F,
                                    FunctionAnalysisManager &Functions) {
  LoopInfo &Loops = Functions.getResult<LoopAnalysis>(F);
  ScalarEvolution &Lengths = Functions.getResult<ScalarEvolutionAnalysis>(F);
  Promoted Arrays = promoteArrays(F, Lengths);
  auto Nested = Loops.getLoopsInPreorder();
  // What an outer loop holds follows from how far the inner ones unroll.
  LoopSizes Sizes;
  for (Loop *L : reverse(Nested)) {
    LoopSize Size = measure(*L, Loops, Sizes, Arrays, Lengths);
    uint64_t Length = Lengths.getSmallConstantTripCount(L);
    LoopSize &All = Sizes[L] = Size;
    All.repeat(std::max<uint64_t>(Length, 1));
    if (isTold(*L, Length))
      continue;
    uint64_t Most = Length <= ShortLength ? ShortForArrays : LongForArrays;
    bool Frees = Arrays.Loops.contains(L) && All.Seen <= Most;
    if (Length > 1 && (Frees || All.Slots <= Whole)) {
      addStringMetadataToLoop(L, "llvm.loop.unroll.full");
      continue;
    }
    unsigned Count = partOf(*L, Length, Size, Lengths);
    Sizes[L] = Size;
    Sizes[L].repeat(Count);
    if (Count > 1)
      addStringMetadataToLoop(L, "llvm.loop.unroll.count", Count);
    // ptxas does once more what nvcc's front half has done.
    if (Length <= 1 && Count == 4 && Size.Slots <= Tiny && !Size.Heavy &&
        !stridesByUnknown(*L, Lengths))
      unrollOnceMore(*L);
  }
  return PreservedAnalyses::all();
}
