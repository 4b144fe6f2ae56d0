//===- Costs.cpp - What a GPU issues for one instruction ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Slots are what nvcc 13.0 issues for sm_90, counted in its machine code.
///
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "Divisors.h"
#include "TensorOps.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace stark::sim;

namespace {
unsigned lanes(const Type *T) {
  auto *V = dyn_cast<FixedVectorType>(T);
  return V ? V->getNumElements() : 1;
}

Unit unitOf(const Type *T) {
  const Type *Scalar = T->getScalarType();
  if (Scalar->isDoubleTy())
    return Unit::Double;
  if (Scalar->isHalfTy() || Scalar->isBFloatTy())
    return Unit::Half;
  return Scalar->isFloatTy() ? Unit::Float : Unit::Integer;
}

} // namespace

/// Whether \p I only widens an index: one multiplication and addition
/// (IMAD.WIDE, or LEA) takes it, the width of an element and the base.
bool stark::sim::feedsAddressesOnly(const Instruction &I) {
  return !I.use_empty() && all_of(I.users(), [](const User *U) {
    if (isa<GetElementPtrInst>(U))
      return true;
    auto *Next = dyn_cast<CastInst>(U);
    return Next && feedsAddressesOnly(*Next);
  });
}

bool stark::sim::isOurs(const Value *Pointer) {
  auto *G = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts());
  return G && G->getName().starts_with("__stark_sim");
}

bool stark::sim::isOperand(const LoadInst &Load) {
  const DataLayout &Layout = Load.getModule()->getDataLayout();
  APInt Offset(64, 0);
  auto *G = dyn_cast<GlobalVariable>(
      Load.getPointerOperand()->stripAndAccumulateConstantOffsets(
          Layout, Offset, true));
  return G && G->hasAttribute(BankedNote) && !Offset.isNegative() &&
         Offset.getZExtValue() +
                 Layout.getTypeStoreSize(Load.getType()).getFixedValue() <=
             Layout.getTypeAllocSize(G->getValueType()).getFixedValue();
}

bool stark::sim::isNoLoad(const LoadInst &Load) {
  return isOurs(Load.getPointerOperand()) || isOperand(Load);
}

const Value *stark::sim::objectOf(const Value *Pointer) {
  return getUnderlyingObject(Pointer, 12);
}

bool stark::sim::isSharedMemory(const Value *Pointer) {
  auto *Base = dyn_cast<LoadInst>(objectOf(Pointer));
  return Base && isOurs(Base->getPointerOperand());
}

bool stark::sim::isMatrixOp(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && (Callee->getName() == "__stark_sim_matrix" ||
                    Callee->getName() == "__stark_sim_fragments");
}

bool stark::sim::holdsMatrix(const Value &Array) {
  return isa<AllocaInst>(Array) && any_of(Array.users(), [](const User *U) {
           auto *Call = dyn_cast<CallInst>(U);
           return Call && isMatrixOp(*Call);
         });
}

/// Of one number another that is the same, or a part.
static bool isForm(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return isa<CastInst, InsertElementInst, ExtractElementInst>(I) ||
         (I.getOpcode() == Instruction::LShr &&
          isa<ConstantInt>(I.getOperand(1))) ||
         (Callee && Call->arg_size() == 1 && isInstruction(*Callee));
}

static bool comesFromMatrix(const Value *V) {
  while (auto *I = dyn_cast<Instruction>(V)) {
    if (auto *From = dyn_cast<LoadInst>(I))
      return holdsMatrix(*objectOf(From->getPointerOperand()));
    if (!isForm(*I))
      return false;
    V = I->getOperand(0);
  }
  return false;
}

/// Whether \p I only brings a number into the form in which the simulator's
/// matrices have it, or from it: a GPU has it in a register as it is.
static bool isOfMatrix(const Instruction &I) {
  if (const Value *Pointer = getLoadStorePointerOperand(&I))
    return holdsMatrix(*objectOf(Pointer));
  if (!isForm(I))
    return false;
  return comesFromMatrix(&I) ||
         (!I.use_empty() && all_of(I.users(), [](const User *U) {
           auto *Next = dyn_cast<Instruction>(U);
           return Next && isOfMatrix(*Next);
         }));
}

static bool isBegun(const Value *To, const BasicBlock &Block) {
  return any_of(To->users(), [&](const User *U) {
    auto *Call = dyn_cast<CallInst>(U);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && Callee->getName() == "__stark_sim_async_begun" &&
           Call->getParent() == &Block && Call->getArgOperand(0) == To;
  });
}

bool stark::sim::isAsyncCopy(const StoreInst &Store) {
  auto *From = dyn_cast<LoadInst>(Store.getValueOperand());
  return From && From->hasOneUse() &&
         isBegun(Store.getPointerOperand(), *Store.getParent());
}

bool stark::sim::isAsyncCopy(const LoadInst &Load) {
  if (!Load.hasOneUse())
    return false;
  auto *To = dyn_cast<StoreInst>(*Load.user_begin());
  return To && To->getValueOperand() == &Load && isAsyncCopy(*To);
}

bool stark::sim::awaitsCopies(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->getName() != "__stark_sim_async_wait")
    return false;
  auto *Left = dyn_cast<ConstantInt>(Call.getArgOperand(0));
  return Left && Left->isZero();
}

/// A quotient of floating-point numbers: a reciprocal, its refinement, and
/// whether that was allowed (MUFU.RCP, FFMA x 5, FCHK, BSSY, BRA, two moves).
static Slots divisionCost(const Instruction &I) {
  const Type *T = I.getType();
  float N = float(lanes(T));
  if (T->getScalarType()->isDoubleTy())
    return {Unit::Double, 18, 0};
  if (I.hasApproxFunc())
    return {Unit::Special, N, N};
  return {Unit::Special, N, 5.0f * N, 5.0f * N};
}

/// Whether an operand is a product of its own, which one instruction makes
/// together with this sum.
static bool usesProduct(const Instruction &I, unsigned Opcode) {
  for (const Value *Operand : I.operands())
    if (auto *Product = dyn_cast<BinaryOperator>(Operand))
      if (Product->getOpcode() == Opcode && Product->hasOneUse())
        return true;
  return false;
}

static Slots floatCost(const Instruction &I) {
  const Type *T = I.getType();
  Unit Of = unitOf(T);
  bool Sum =
      I.getOpcode() == Instruction::FAdd || I.getOpcode() == Instruction::FSub;
  if (Sum && I.hasAllowContract() && usesProduct(I, Instruction::FMul))
    return {Of, 0, 0};
  // Two halves go through one instruction.
  return {Of, Of == Unit::Half ? float(lanes(T) + 1) / 2 : float(lanes(T)), 0};
}

static Slots conversionCost(const Instruction &I) {
  const Type *T = I.getType();
  bool Double = unitOf(T) == Unit::Double ||
                unitOf(I.getOperand(0)->getType()) == Unit::Double;
  return {Double ? Unit::Double : Unit::Integer, float(lanes(T)), 0};
}

static Slots integerDivisionCost(const Instruction &I) {
  bool Signed =
      I.getOpcode() == Instruction::SDiv || I.getOpcode() == Instruction::SRem;
  if (isa<ConstantInt>(I.getOperand(1)))
    return {Unit::Multiply, 2, 0, Signed ? 2.0f : 1.0f};
  if (I.getType()->getIntegerBitWidth() > 32) {
    // Numbers that fit in 32 bits go a way of their own; a remainder is made of
    // the quotient, where there is one.
    if (I.getOpcode() == Instruction::SRem ||
        I.getOpcode() == Instruction::URem)
      for (const User *Other : I.getOperand(0)->users())
        if (auto *Quotient = dyn_cast<BinaryOperator>(Other))
          if (Quotient->getOpcode() ==
                  (Signed ? Instruction::SDiv : Instruction::UDiv) &&
              Quotient->getOperand(0) == I.getOperand(0) &&
              Quotient->getOperand(1) == I.getOperand(1))
            return {Unit::Multiply, 2, 0};
    return {Unit::Multiply, 5, 0, 19};
  }
  // The reciprocal of a divisor from elsewhere is made once for a loop.
  auto *Divisor = dyn_cast<Instruction>(I.getOperand(1));
  bool Once = !Divisor || Divisor->getParent() != I.getParent();
  return {Unit::Multiply, Once ? 2.0f : 5.0f, 0,
          (Once ? 6.0f : 12.0f) + (Signed ? 4.0f : 0.0f)};
}

static Slots integerCost(const Instruction &I) {
  const Type *T = I.getType();
  bool Adds =
      I.getOpcode() == Instruction::Add || I.getOpcode() == Instruction::Sub;
  if (Adds && usesProduct(I, Instruction::Mul))
    return {Unit::Integer, 0, 0};
  // Predicates are joined by the comparison that makes the second one.
  if (T->isIntegerTy(1))
    return {};
  // IADD3 and LOP3 take three operands.
  float Both = 1;
  if (I.hasOneUse())
    if (auto *Next = dyn_cast<BinaryOperator>(*I.user_begin()))
      if (Next->getOpcode() == I.getOpcode())
        Both = 0.5f;
  return {Unit::Integer,
          float(lanes(T)) * Both *
              (T->getScalarType()->isIntegerTy(64) ? 2.0f : 1.0f),
          0};
}

static Slots wordsCost(const Instruction &I) {
  // One predicate of two; of more, they are joined where they are made.
  if (isa<SelectInst>(I) && I.getType()->isIntegerTy(1))
    return {};
  bool Long = I.getOperand(0)->getType()->isIntegerTy(64);
  return {Unit::Integer, float(lanes(I.getType())) * (Long ? 2.0f : 1.0f), 0};
}

static Slots extensionCost(const Instruction &I) {
  // A predicate becomes a number by a move on the unit of products.
  if (I.getOperand(0)->getType()->isIntegerTy(1))
    return {Unit::Multiply, 1, 0};
  return {Unit::Integer,
          isa<SExtInst>(I) && !feedsAddressesOnly(I) ? 1.0f : 0.0f, 0};
}

static Slots addressCost(const GetElementPtrInst &I) {
  if (I.hasAllConstantIndices() || isa<AllocaInst>(objectOf(&I)))
    return {};
  // Shared memory has 32-bit addresses; their scale mostly goes into the
  // arithmetic of the index.
  if (isSharedMemory(&I))
    return {Unit::Integer, 0.5f, 0};
  return {Unit::Multiply, 1, 0};
}

/// Products that tensor cores make while the units of half precision issue one
/// instruction: 1024 of sixteen bits a cycle and SM by mma (NVIDIA H100 Tensor
/// Core GPU Architecture; not compared with a GPU).
static Slots matrixCost(const CallInst &Call) {
  constexpr float Products = 512;
  auto *Given = dyn_cast<ConstantInt>(Call.getArgOperand(0));
  if (!Given)
    return {Unit::Half, 8, 0};
  auto Code = uint32_t(Given->getZExtValue());
  if (Call.getCalledFunction()->getName() == "__stark_sim_fragments")
    return {Unit::Half,
            float((Code & 0xff) * (Code >> 8 & 0xff) * (Code >> 16 & 0xff)) /
                Products,
            0};
  MatrixOp Op = MatrixOp::decode(Code);
  return {Unit::Half,
          float(Op.M * Op.N * Op.K) / Products * float(bitsOf(Op.A)) / 16, 0};
}

static Slots callCost(const CallInst &Call) {
  const Type *T = Call.getType();
  Function *Callee = Call.getCalledFunction();
  if (!Callee || isa<DbgInfoIntrinsic>(Call) || isa<LifetimeIntrinsic>(Call) ||
      isa<AssumeInst>(Call))
    return {};
  StringRef Name = Callee->getName();
  if (Name.starts_with(HiddenDivisor))
    return {};
  if (Name == "__stark_sim_sreg")
    return {Unit::Integer, 0.5f, 0};
  if (isInstruction(*Callee))
    return instructionCost(*Callee);
  if (Name.starts_with("__stark_sim_shuffle"))
    return {Unit::Memory, 1, 0};
  // What notes that a copy is in flight is no instruction.
  if (Name == "__stark_sim_async_begun" || Name == "__stark_sim_async_bulk" ||
      Name == "__stark_sim_gather")
    return {};
  if (isMatrixOp(Call))
    return matrixCost(Call);
  if (Name.starts_with("__stark_sim_"))
    return {Unit::Control, 1, 0};
  if (isa<MemIntrinsic>(Call))
    return {Unit::Memory, 4, 0};
  if (T->getScalarType()->isFloatingPointTy())
    return libraryCost(Name, T);
  if (T->getScalarType()->isIntegerTy())
    return {Unit::Integer, float(lanes(T)), 0};
  return {Unit::Control, 2, 0};
}

Slots stark::sim::costOf(const Instruction &I) {
  if (isOfMatrix(I))
    return {};
  switch (I.getOpcode()) {
  case Instruction::FDiv:
    return divisionCost(I);
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FRem:
    return floatCost(I);
  case Instruction::FPTrunc:
  case Instruction::FPExt:
  case Instruction::FCmp:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    return conversionCost(I);
  case Instruction::SDiv:
  case Instruction::SRem:
  case Instruction::UDiv:
  case Instruction::URem:
    return integerDivisionCost(I);
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return integerCost(I);
  case Instruction::Shl:
    if (feedsAddressesOnly(I) && isa<ConstantInt>(I.getOperand(1)))
      return {};
    return wordsCost(I);
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::ICmp:
  case Instruction::Select:
    return wordsCost(I);
  case Instruction::SExt:
  case Instruction::ZExt:
    return extensionCost(I);
  case Instruction::Mul:
    if (feedsAddressesOnly(I) && isa<ConstantInt>(I.getOperand(1)))
      return {};
    return {Unit::Multiply, I.getType()->isIntegerTy(64) ? 4.0f : 1.0f, 0};
  case Instruction::GetElementPtr:
    return addressCost(cast<GetElementPtrInst>(I));
  case Instruction::Load:
    if (isNoLoad(cast<LoadInst>(I)))
      return {};
    return {Unit::Memory, 1, 0};
  case Instruction::Store:
    if (isAsyncCopy(cast<StoreInst>(I)))
      return {};
    return {Unit::Memory, 1, 0};
  case Instruction::AtomicRMW:
  case Instruction::AtomicCmpXchg:
    return {Unit::Memory, 1, 0};
  case Instruction::Br:
    return {Unit::Control, cast<BranchInst>(I).isConditional() ? 1.0f : 0.25f,
            0};
  case Instruction::Switch:
    return {Unit::Control, 4, 0};
  case Instruction::Ret:
    return {Unit::Control, 1, 0};
  case Instruction::Call:
    return callCost(cast<CallInst>(I));
  default:
    return {};
  }
}

bool stark::sim::bringsThreadsTogether(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() &&
         Callee->getName().starts_with("__stark_sim_") &&
         Callee->getName() != "__stark_sim_sreg" &&
         Callee->getName() != "__stark_sim_gather" && !isMatrixOp(Call) &&
         !Callee->getName().starts_with("__stark_sim_async_");
}
