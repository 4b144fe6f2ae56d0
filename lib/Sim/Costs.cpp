//===- Costs.cpp - What a GPU issues for a basic block -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <algorithm>

using namespace llvm;
using namespace stark::sim;

namespace {
struct Slots {
  Unit Where = Unit::Integer;
  float Count = 0;
  /// Beside the special unit's: a range reduction or a polynomial.
  float Float = 0;
};

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

/// What the CUDA math library makes of a call: a few instructions of the
/// special unit (4 slots each, a quarter of the rate) and of the floating one.
Slots costOfCall(StringRef Name, const Type *Result) {
  Name.consume_front("llvm.");
  StringRef Base = Name.split('.').first;
  bool Double = Result->getScalarType()->isDoubleTy();
  StringRef Plain = Base;
  if (!Double && Plain.ends_with("f") && Plain != "erf")
    Plain = Plain.drop_back();
  auto [Special, Float] =
      StringSwitch<std::pair<float, float>>(Plain)
          .Cases("fabs", "copysign", {0, 0})
          .Cases("fma", "fmuladd", "fmax", "fmin", {0, 1})
          .Cases("maxnum", "minnum", "floor", "ceil", {0, 1})
          .Cases("trunc", "rint", "nearbyint", "round", {0, 1})
          .Cases("sqrt", "__fsqrt_rn", {1, 8})
          .Cases("rsqrt", "stark_rsqrt", {1, 3})
          .Cases("exp", "exp2", {1, 5})
          .Cases("log", "log2", "log10", {0, 14})
          .Cases("sin", "cos", {0, 22})
          .Cases("tanh", "expm1", {2, 12})
          .Cases("pow", "powr", {2, 40})
          .Cases("erf", "erfc", {1, 25})
          .Default({1, 20});
  Slots S;
  S.Where = Double ? Unit::Double : Special > 0 ? Unit::Special : Unit::Float;
  S.Count = Double ? Special * 10 + Float : Special;
  S.Float = Double ? 0 : Float;
  return S;
}

/// nvcc turns the index arithmetic of a loop into pointers that advance, and
/// what is constant into the offset of the access.
constexpr float AddressShare = 0.2f, ThreeOperands = 0.7f;

bool feedsAddressesOnly(const Instruction &I, unsigned Depth = 0) {
  if (I.use_empty() || Depth > 4)
    return false;
  return all_of(I.users(), [&](const User *U) {
    if (isa<GetElementPtrInst>(U))
      return true;
    auto *Next = dyn_cast<Instruction>(U);
    return Next && Next->getType()->isIntegerTy() &&
           (isa<CastInst>(Next) || isa<BinaryOperator>(Next)) &&
           feedsAddressesOnly(*Next, Depth + 1);
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
                                "__mul24",
                                "__umul24",
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
    Add({Unit::Integer, 2, 0},
        {"__half22float2", "__bfloat1622float2", "__mulhi", "__umulhi",
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
    Add({Unit::Special, 1, 1}, {"__fdividef"});
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

Slots costOf(const Instruction &I) {
  Slots S;
  const Type *T = I.getType();
  switch (I.getOpcode()) {
  case Instruction::FDiv:
    // A reciprocal and its refinement.
    return {T->getScalarType()->isDoubleTy() ? Unit::Double : Unit::Special,
            T->getScalarType()->isDoubleTy() ? 18.0f : float(lanes(T)),
            T->getScalarType()->isDoubleTy() ? 0.0f : 7.0f * float(lanes(T))};
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
  case Instruction::FNeg:
  case Instruction::FRem:
    // Two halves go through one instruction.
    return {unitOf(T),
            unitOf(T) == Unit::Half ? float(lanes(T) + 1) / 2 : float(lanes(T)),
            0};
  case Instruction::FCmp:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
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
  case Instruction::URem:
    if (isa<ConstantInt>(I.getOperand(1)))
      return {Unit::Integer, 3, 0};
    return {Unit::Integer, T->getIntegerBitWidth() > 32 ? 60.0f : 12.0f, 0};
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
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::ICmp:
  case Instruction::Select:
    if (feedsAddressesOnly(I))
      return {Unit::Integer, AddressShare, 0};
    return {Unit::Integer,
            // Three operands fit into one addition or logic operation.
            float(lanes(T)) * ThreeOperands *
                (I.getOperand(0)->getType()->isIntegerTy(64) ? 2.0f : 1.0f),
            0};
  case Instruction::Mul:
    if (feedsAddressesOnly(I))
      return {Unit::Integer, AddressShare, 0};
    return {Unit::Integer, T->isIntegerTy(64) ? 4.0f : 1.0f, 0};
  case Instruction::GetElementPtr:
    return {Unit::Integer,
            cast<GetElementPtrInst>(I).hasAllConstantIndices() ? 0.0f
                                                               : AddressShare,
            0};
  case Instruction::Load:
  case Instruction::Store:
  case Instruction::AtomicRMW:
  case Instruction::AtomicCmpXchg:
    return {Unit::Memory, 1, 0};
  case Instruction::Br:
    return {Unit::Control, cast<BranchInst>(I).isConditional() ? 1.0f : 0.5f,
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
      return {Unit::Integer, 0.25f, 0};
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
      return {Unit::Integer, 1, 0};
    return {Unit::Control, 2, 0};
  }
  default:
    return S;
  }
}
} // namespace

bool stark::sim::isInstruction(const Function &F) {
  if (F.isDeclaration())
    return false;
  const DISubprogram *Where = F.getSubprogram();
  if (!Where || !Where->getFilename().contains("/stark-sim/"))
    return F.getName().contains("__stark_sim_unit_");
  std::string Base = baseName(F.getName());
  return StringRef(Base).starts_with("__stark_sim_unit_") ||
         instructionTable().contains(Base);
}

/// `#pragma unroll 1`
static bool unrollDisabled(const BranchInst &Latch) {
  const MDNode *Loop = Latch.getMetadata(LLVMContext::MD_loop);
  for (unsigned I = 1; Loop && I < Loop->getNumOperands(); ++I)
    if (auto *Hint = dyn_cast<MDNode>(Loop->getOperand(I)))
      if (auto *Name = Hint->getNumOperands()
                           ? dyn_cast<MDString>(Hint->getOperand(0))
                           : nullptr)
        if (Name->getString() == "llvm.loop.unroll.disable")
          return true;
  return false;
}

CodeBlock stark::sim::costOf(const BasicBlock &Block) {
  CodeBlock Out;
  // When each value is ready, in cycles and in loads that had to come first.
  DenseMap<const Value *, std::pair<float, float>> Ready;
  for (const Instruction &I : Block) {
    Slots S = ::costOf(I);
    Out.Slots[unsigned(S.Where)] += S.Count;
    Out.Slots[unsigned(Unit::Float)] += S.Float;
    if (isa<PHINode>(I))
      continue;
    std::pair<float, float> At{0, 0};
    for (const Value *Operand : I.operands())
      if (auto Found = Ready.find(Operand); Found != Ready.end()) {
        At.first = std::max(At.first, Found->second.first);
        At.second = std::max(At.second, Found->second.second);
      }
    if (isa<LoadInst>(I) || isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I))
      At.second += 1;
    else if (S.Where == Unit::Control || isa<ICmpInst>(I))
      continue; // what steers a loop runs beside what it computes
    else if (S.Count + S.Float > 0)
      At.first += S.Where == Unit::Special  ? 18 + 4 * S.Float
                  : S.Where == Unit::Memory ? 25
                  : S.Count <= 4            ? 4
                                            : 4 * S.Count;
    Ready[&I] = At;
    Out.Path = std::max(Out.Path, At.first);
    Out.LoadDepth = std::max(Out.LoadDepth, At.second);
  }
  // nvcc unrolls a loop of one block by four where it does not know better.
  auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (Branch && Branch->isConditional() &&
      is_contained(successors(&Block), &Block) && !unrollDisabled(*Branch)) {
    Out.LoadDepth /= 4;
    Out.Slots[unsigned(Unit::Control)] /= 4;
    float &Integer = Out.Slots[unsigned(Unit::Integer)];
    Integer = std::max(0.0f, Integer - 1); // its counter and its end
  }
  return Out;
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
