//===- Costs.cpp - What a GPU issues for a basic block -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "Headers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <algorithm>
#include <array>
#include <memory>

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

/// What the CUDA math library makes of a call, the path without exceptions: as
/// in the machine code that nvcc 13.0 makes for sm_90 (div, exp, sin counted).
Slots costOfCall(StringRef Name, const Type *Result) {
  Name.consume_front("llvm.");
  StringRef Base = Name.split('.').first;
  bool Double = Result->getScalarType()->isDoubleTy();
  StringRef Plain = Base;
  if (!Double && Plain.ends_with("f") && Plain != "erf")
    Plain = Plain.drop_back();
  auto [Special, Float, Integer] =
      StringSwitch<std::array<float, 3>>(Plain)
          .Cases("fabs", "copysign", {0, 0, 0})
          .Cases("fma", "fmuladd", {0, 1, 0})
          .Cases("fmax", "fmin", "maxnum", "minnum", {0, 0, 1})
          .Cases("floor", "ceil", "trunc", "rint", "nearbyint", "round",
                 {1, 0, 0})
          .Cases("sqrt", "__fsqrt_rn", {1, 6, 4})
          .Cases("rsqrt", "stark_rsqrt", {1, 2, 1})
          .Cases("exp", "exp2", {1, 6, 1})
          .Cases("log", "log2", "log10", {0, 12, 6})
          .Cases("sin", "cos", {1, 14, 14})
          .Cases("tanh", "expm1", {2, 10, 4})
          .Cases("pow", "powr", {2, 35, 10})
          .Cases("erf", "erfc", {1, 20, 5})
          .Default({1, 15, 5});
  Slots S;
  S.Where = Double ? Unit::Double : Special > 0 ? Unit::Special : Unit::Float;
  S.Count = Double ? Special * 10 + Float : Special > 0 ? Special : Float;
  S.Float = Double || Special <= 0 ? 0 : Float;
  S.Integer = Integer;
  return S;
}

/// Whether \p I only widens an index: one multiplication and addition
/// (IMAD.WIDE, or LEA) takes it, the width of an element and the base.
bool feedsAddressesOnly(const Instruction &I) {
  return !I.use_empty() && all_of(I.users(), [](const User *U) {
    if (isa<GetElementPtrInst>(U))
      return true;
    auto *Next = dyn_cast<CastInst>(U);
    return Next && feedsAddressesOnly(*Next);
  });
}

/// Functions of our headers by the GPU's instructions for them.
const StringMap<Slots> &instructionTable() {
  static const StringMap<Slots> Table = [] {
    StringMap<Slots> T;
    auto Add = [&](Slots S, std::initializer_list<const char *> Names) {
      for (const char *Name : Names)
        T[Name] = S;
    };
    const char *Arithmetic[] = {"add", "sub", "mul", "fma", "neg", "abs", "max",
                                "min", "lt",  "gt",  "le",  "ge",  "eq",  "ne"};
    for (const char *Name : Arithmetic)
      for (const char *Width : {"", "2"})
        for (const char *Form : {"", "_rn", "_sat", "_relu", "_nan"})
          T[std::string("__h") + Name + Width + Form] = {Unit::Half, 1, 0};
    Add({Unit::Integer, 1, 0}, {"__half2float",
                                "__float2half",
                                "__float2half_rn",
                                "__float2half_rz",
                                "__bfloat162float",
                                "__float2bfloat16",
                                "__float2bfloat16_rn",
                                "__float22half2_rn",
                                "__floats2half2_rn",
                                "__float22bfloat162_rn",
                                "__floats2bfloat162_rn",
                                "__byte_perm",
                                "__dp4a",
                                "__dp2a_lo",
                                "__dp2a_hi",
                                "__funnelshift_l",
                                "__funnelshift_r",
                                "__sad",
                                "__usad",
                                "__float2int_rn",
                                "__float2int_rz",
                                "__float2uint_rn",
                                "__float2uint_rz",
                                "__int2float_rn",
                                "__uint2float_rn",
                                "__half2int_rn",
                                "__int2half_rn"});
    Add({Unit::Multiply, 1, 0}, {"__mul24", "__umul24"});
    Add({Unit::Multiply, 2, 0}, {"__mulhi", "__umulhi"});
    Add({Unit::Integer, 2, 0}, {"__half22float2", "__bfloat1622float2",
                                "__vadd4", "__vsub4", "__vadd2", "__vsub2"});
    // A quarter of the integer rate.
    Add({Unit::Integer, 4, 0}, {"__popc", "__clz", "__ffs", "__brev"});
    Add({Unit::Integer, 8, 0}, {"__popcll", "__clzll", "__ffsll", "__brevll"});
    for (const char *Name : {"__fadd_", "__fsub_", "__fmul_", "__fmaf_"})
      for (const char *Rounding : {"rn", "rz", "ru", "rd"})
        T[std::string(Name) + Rounding] = {Unit::Float, 1, 0};
    for (const char *Name : {"__dadd_", "__dsub_", "__dmul_", "__fma_"})
      for (const char *Rounding : {"rn", "rz", "ru", "rd"})
        T[std::string(Name) + Rounding] = {Unit::Double, 1, 0};
    Add({Unit::Float, 1, 0}, {"__saturatef"});
    Add({Unit::Special, 1, 2, 2}, {"__fdividef"});
    Add({Unit::Special, 2, 1}, {"__powf"});
    Add({Unit::Special, 3, 1}, {"__tanf"});
    Add({Unit::Special, 1, 5}, {"__frcp_rn", "__frcp_rz", "__hdiv"});
    Add({Unit::Special, 1, 8}, {"__fsqrt_rn", "__fsqrt_rz"});
    Add({Unit::Special, 1, 7}, {"__fdiv_rn", "__fdiv_rz"});
    Add({Unit::Special, 1, 2},
        {"hexp", "hexp2", "hlog", "hlog2", "hrcp", "hrsqrt", "hsqrt", "htanh"});
    Add({Unit::Special, 2, 4},
        {"h2exp", "h2exp2", "h2log", "h2log2", "h2rcp", "h2rsqrt", "h2sqrt"});
    return T;
  }();
  return Table;
}

std::string baseName(StringRef Symbol) {
  ItaniumPartialDemangler Parts;
  std::string Mangled = Symbol.str();
  if (Parts.partialDemangle(Mangled.c_str()))
    return Mangled;
  char *Base = Parts.getFunctionBaseName(nullptr, nullptr);
  std::string Name = Base ? Base : "";
  std::free(Base);
  return Name;
}

} // namespace

bool stark::sim::isOurs(const Value *Pointer) {
  auto *G = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts());
  return G && G->getName().starts_with("__stark_sim");
}

const Value *stark::sim::objectOf(const Value *Pointer) {
  return getUnderlyingObject(Pointer, 12);
}

bool stark::sim::isSharedMemory(const Value *Pointer) {
  auto *Base = dyn_cast<LoadInst>(objectOf(Pointer));
  return Base && isOurs(Base->getPointerOperand());
}

Slots stark::sim::costOf(const Instruction &I) {
  Slots S;
  const Type *T = I.getType();
  switch (I.getOpcode()) {
  case Instruction::FDiv:
    // A reciprocal, its refinement, and whether that was allowed (MUFU.RCP,
    // FFMA x 5, FCHK, BSSY, BRA, two moves).
    if (T->getScalarType()->isDoubleTy())
      return {Unit::Double, 18, 0};
    if (I.hasApproxFunc())
      return {Unit::Special, float(lanes(T)), float(lanes(T))};
    return {Unit::Special, float(lanes(T)), 5.0f * float(lanes(T)),
            5.0f * float(lanes(T))};
  case Instruction::FAdd:
  case Instruction::FSub:
    // Contracted into the product that it uses.
    for (const Value *Operand : I.operands())
      if (auto *Product = dyn_cast<BinaryOperator>(Operand))
        if (Product->getOpcode() == Instruction::FMul && Product->hasOneUse() &&
            I.hasAllowContract())
          return {unitOf(T), 0, 0};
    [[fallthrough]];
  case Instruction::FMul:
  case Instruction::FRem:
    // Two halves go through one instruction.
    return {unitOf(T),
            unitOf(T) == Unit::Half ? float(lanes(T) + 1) / 2 : float(lanes(T)),
            0};
  case Instruction::FPTrunc:
  case Instruction::FPExt:
  case Instruction::FCmp:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    return {unitOf(T) == Unit::Double ||
                    unitOf(I.getOperand(0)->getType()) == Unit::Double
                ? Unit::Double
                : Unit::Integer,
            float(lanes(T)), 0};
  case Instruction::SDiv:
  case Instruction::SRem:
  case Instruction::UDiv:
  case Instruction::URem: {
    bool Signed = I.getOpcode() == Instruction::SDiv ||
                  I.getOpcode() == Instruction::SRem;
    if (isa<ConstantInt>(I.getOperand(1)))
      return {Unit::Multiply, 2, 0, Signed ? 2.0f : 1.0f};
    if (T->getIntegerBitWidth() > 32)
      return {Unit::Multiply, 20, 0, 50};
    // The reciprocal of a divisor from elsewhere is made once for a loop.
    auto *Divisor = dyn_cast<Instruction>(I.getOperand(1));
    bool Once = !Divisor || Divisor->getParent() != I.getParent();
    return {Unit::Multiply, Once ? 2.0f : 5.0f, 0,
            (Once ? 6.0f : 12.0f) + (Signed ? 4.0f : 0.0f)};
  }
  case Instruction::Add:
  case Instruction::Sub:
    // One instruction with the product that it uses.
    for (const Value *Operand : I.operands())
      if (auto *Product = dyn_cast<BinaryOperator>(Operand))
        if (Product->getOpcode() == Instruction::Mul && Product->hasOneUse())
          return {Unit::Integer, 0, 0};
    [[fallthrough]];
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor: {
    // Predicates are joined by the comparison that makes the second one.
    if (T->isIntegerTy(1))
      return S;
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
  case Instruction::Shl:
    if (feedsAddressesOnly(I) && isa<ConstantInt>(I.getOperand(1)))
      return S;
    [[fallthrough]];
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::ICmp:
  case Instruction::Select:
    return {Unit::Integer,
            float(lanes(T)) *
                (I.getOperand(0)->getType()->isIntegerTy(64) ? 2.0f : 1.0f),
            0};
  case Instruction::SExt:
  case Instruction::ZExt:
    // A predicate becomes a number by a move on the unit of products.
    if (I.getOperand(0)->getType()->isIntegerTy(1))
      return {Unit::Multiply, 1, 0};
    return {Unit::Integer,
            isa<SExtInst>(I) && !feedsAddressesOnly(I) ? 1.0f : 0.0f, 0};
  case Instruction::Mul:
    if (feedsAddressesOnly(I) && isa<ConstantInt>(I.getOperand(1)))
      return S;
    return {Unit::Multiply, T->isIntegerTy(64) ? 4.0f : 1.0f, 0};
  case Instruction::GetElementPtr:
    if (cast<GetElementPtrInst>(I).hasAllConstantIndices() ||
        isa<AllocaInst>(objectOf(&I)))
      return S;
    // Shared memory has 32-bit addresses; their scale mostly goes into the
    // arithmetic of the index.
    if (isSharedMemory(&I))
      return {Unit::Integer, 0.5f, 0};
    return {Unit::Multiply, 1, 0};
  case Instruction::Load:
    if (isOurs(cast<LoadInst>(I).getPointerOperand()))
      return S;
    return {Unit::Memory, 1, 0};
  case Instruction::Store:
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
  case Instruction::Call: {
    auto &Call = cast<CallInst>(I);
    Function *Callee = Call.getCalledFunction();
    if (!Callee || isa<DbgInfoIntrinsic>(I) || isa<LifetimeIntrinsic>(I) ||
        isa<AssumeInst>(I))
      return S;
    StringRef Name = Callee->getName();
    if (Name == "__stark_sim_sreg")
      return {Unit::Integer, 0.5f, 0};
    if (isInstruction(*Callee)) {
      auto Found = instructionTable().find(baseName(Name));
      return Found == instructionTable().end() ? Slots{Unit::Special, 1, 0}
                                               : Found->second;
    }
    if (Name.starts_with("__stark_sim_shuffle"))
      return {Unit::Memory, 1, 0};
    if (Name.starts_with("__stark_sim_"))
      return {Unit::Control, 1, 0};
    if (isa<MemIntrinsic>(I))
      return {Unit::Memory, 4, 0};
    if (T->getScalarType()->isFloatingPointTy())
      return costOfCall(Name, T);
    if (T->getScalarType()->isIntegerTy())
      return {Unit::Integer, float(lanes(T)), 0};
    return {Unit::Control, 2, 0};
  }
  default:
    return S;
  }
}

bool stark::sim::bringsThreadsTogether(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() &&
         Callee->getName().starts_with("__stark_sim_") &&
         Callee->getName() != "__stark_sim_sreg";
}

bool stark::sim::isInstruction(const Function &F) {
  if (F.isDeclaration())
    return false;
  const DISubprogram *Where = F.getSubprogram();
  if (!Where || !Where->getFilename().contains(HeaderFolder))
    return F.getName().contains("__stark_sim_unit_");
  std::string Base = baseName(F.getName());
  return StringRef(Base).starts_with("__stark_sim_unit_") ||
         instructionTable().contains(Base);
}

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
  for (unsigned Round = 0; Changed && Round < 20; ++Round) {
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
  return std::min(255u, Worst + 14);
}
