//===- Optimize.cpp - Device code before it is instrumented --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "Divisors.h"
#include "Indices.h"
#include "Instrument.h"
#include "Unroll.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TargetTransformInfoImpl.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace stark::sim;

/// The pipeline is a text, so that what runs is seen at a glance.
static constexpr char Pipeline[] =
    "function(sroa,stark-hide-divisors,early-cse,simplifycfg,"
    "instcombine<no-verify-fixpoint>),"
    // Functions that only compute stand in the way of no access.
    "cgscc(inline,function-attrs),"
    "function(sroa,stark-hide-divisors,early-cse<memssa>,instcombine<no-verify-"
    "fixpoint>,"
    "simplifycfg,"
    "loop-simplify,loop-mssa(loop-rotate,licm),gvn,instcombine<no-verify-"
    "fixpoint>,simplifycfg,"
    "loop-simplify,loop(indvars),stark-unroll-as-nvcc,"
    "loop-unroll<O2;no-runtime;no-partial>,simplifycfg,"
    // Loops that held only what has been unrolled.
    "loop-simplify,stark-unroll-as-nvcc,"
    "loop-unroll<O2;no-runtime;no-partial>,"
    "stark-show-numbers,"
    "sroa,early-cse<memssa>,gvn,instcombine<no-verify-fixpoint>,adce,"
    "simplifycfg,stark-show-divisors,"
    // Offsets that are known go into the access, and addresses are made ahead
    // of conditions, as the NVPTX backend does it.
    "stark-indices-as-sums,early-cse,separate-const-offset-from-gep,"
    "speculative-execution,slsr,early-cse,"
    "nary-reassociate,early-cse,"
    // Neighbours that are known to be aligned are one access for nvcc, too.
    "infer-alignment,load-store-vectorizer,early-cse,adce),"
    "globaldce";

namespace {
/// A GPU's accesses add an offset to one register, and sums of 64 bits are two
/// instructions, so that counters stay as narrow as they are written. Nothing
/// else of a target matters to the pipeline.
struct GpuAddressing : TargetTransformInfoImplCRTPBase<GpuAddressing> {
  explicit GpuAddressing(const DataLayout &Layout)
      : TargetTransformInfoImplCRTPBase<GpuAddressing>(Layout) {}
  bool isLegalAddressingMode(Type *, GlobalValue *Base, int64_t, bool HasBase,
                             int64_t Scale, unsigned, Instruction * = nullptr,
                             int64_t = 0) const {
    return !Base && (Scale == 0 || (Scale == 1 && !HasBase));
  }
  InstructionCost getArithmeticInstrCost(unsigned, Type *T,
                                         TargetTransformInfo::TargetCostKind,
                                         TargetTransformInfo::OperandValueInfo,
                                         TargetTransformInfo::OperandValueInfo,
                                         ArrayRef<const Value *>,
                                         const Instruction * = nullptr) const {
    return T->isIntegerTy(64) ? 2 : 1;
  }
};
} // namespace

/// nvcc lays shared variables out so that 16 bytes can be read at once.
static void alignShared(Module &M) {
  GlobalVariable *Notes = M.getGlobalVariable("llvm.global.annotations");
  auto *List =
      Notes ? dyn_cast<ConstantArray>(Notes->getInitializer()) : nullptr;
  if (!List)
    return;
  for (const Use &Item : List->operands())
    if (auto *Note = dyn_cast<ConstantStruct>(Item))
      if (auto *V = dyn_cast<GlobalVariable>(
              Note->getOperand(0)->stripPointerCasts()))
        V->setAlignment(std::max(V->getAlign().valueOrOne(), Align(16)));
}

/// Where a thread is has limits that nvcc knows: sums of indices do not
/// overflow, and constants in them go into the offset of an access.
static void limitIndices(Module &M) {
  Function *Register = M.getFunction("__stark_sim_sreg");
  if (!Register)
    return;
  MDBuilder Notes(M.getContext());
  for (User *U : Register->users()) {
    auto *Call = dyn_cast<CallInst>(U);
    auto *Which = Call && Call->arg_size() == 1
                      ? dyn_cast<ConstantInt>(Call->getArgOperand(0))
                      : nullptr;
    if (!Which || !Call->getType()->isIntegerTy(32))
      continue;
    // threadIdx, blockIdx, blockDim, gridDim by axis, the lane and the warp.
    uint64_t Kind = Which->getZExtValue() / 3;
    if (Which->getZExtValue() > 13)
      continue;
    static constexpr uint32_t Least[] = {0, 0, 1, 1, 0},
                              Past[] = {1024, 0x7fffffff, 1025, 0x80000000, 32};
    Call->setMetadata(
        LLVMContext::MD_range,
        Notes.createRange(APInt(32, Least[Kind]), APInt(32, Past[Kind])));
  }
}

static bool isPrivate(const Value *Pointer) {
  return isa<AllocaInst>(Pointer->stripInBoundsOffsets());
}

/// A copy of 8 or 16 aligned bytes from or to memory (`float4 v = p[i];`) is
/// one access; SROA would make one of each member.
static void makeVectorAccesses(Function &F) {
  std::vector<MemCpyInst *> Copies;
  for (Instruction &I : instructions(F))
    if (auto *C = dyn_cast<MemCpyInst>(&I))
      Copies.push_back(C);
  for (MemCpyInst *C : Copies) {
    auto *Length = dyn_cast<ConstantInt>(C->getLength());
    uint64_t Bytes = Length ? Length->getZExtValue() : 0;
    if (Bytes != 8 && Bytes != 16)
      continue;
    bool ToPrivate = isPrivate(C->getRawDest()),
         FromPrivate = isPrivate(C->getRawSource());
    Align Outer = ToPrivate ? C->getSourceAlign().valueOrOne()
                            : C->getDestAlign().valueOrOne();
    if (!ToPrivate && !FromPrivate)
      Outer = std::min(C->getSourceAlign().valueOrOne(),
                       C->getDestAlign().valueOrOne());
    // A table of constants needs no variable.
    auto *Table =
        dyn_cast<GlobalVariable>(C->getRawSource()->stripInBoundsOffsets());
    if ((ToPrivate && FromPrivate) || Outer.value() < Bytes ||
        (Table && Table->isConstant()))
      continue;
    IRBuilder<> B(C);
    // Elements as the variable has them, so that it can be taken apart again.
    const Value *Private = ToPrivate ? C->getRawDest() : C->getRawSource();
    Type *Element = B.getFloatTy();
    if (auto *A = dyn_cast<AllocaInst>(Private->stripInBoundsOffsets())) {
      Type *T = A->getAllocatedType();
      while (T->isStructTy() || T->isArrayTy())
        T = T->isStructTy() ? (cast<StructType>(T)->getNumElements()
                                   ? T->getStructElementType(0)
                                   : B.getFloatTy())
                            : T->getArrayElementType();
      if (T->isSingleValueType() && !T->isVectorTy() && !T->isPointerTy() &&
          T->getPrimitiveSizeInBits() >= 16)
        Element = T;
    }
    unsigned Size = unsigned(Element->getPrimitiveSizeInBits() / 8);
    Type *Vector = Size >= Bytes
                       ? Element
                       : FixedVectorType::get(Element, unsigned(Bytes / Size));
    Value *Loaded = B.CreateAlignedLoad(Vector, C->getRawSource(),
                                        C->getSourceAlign().valueOrOne());
    B.CreateAlignedStore(Loaded, C->getRawDest(),
                         C->getDestAlign().valueOrOne());
    C->eraseFromParent();
  }
}

/// The C library's functions with a result by pointer write it where nobody
/// looks: they get a variable of their own, which is then stored.
static void storeResults(Module &M) {
  for (const char *Name : {"modf", "modff", "frexp", "frexpf", "remquo",
                           "remquof", "lgamma_r", "lgammaf_r"}) {
    Function *F = M.getFunction(Name);
    if (!F || !F->isDeclaration() || F->arg_empty() ||
        !F->getArg(unsigned(F->arg_size()) - 1)->getType()->isPointerTy())
      continue;
    std::vector<CallInst *> Calls;
    for (User *U : F->users())
      if (auto *Call = dyn_cast<CallInst>(U);
          Call && Call->getCalledOperand() == F)
        Calls.push_back(Call);
    for (CallInst *Call : Calls) {
      unsigned Last = Call->arg_size() - 1;
      Value *Pointer = Call->getArgOperand(Last);
      IRBuilder<> Entry(
          &*Call->getFunction()->getEntryBlock().getFirstInsertionPt());
      Type *T = F->getName().starts_with("modf") ? Call->getType()
                                                 : Entry.getInt32Ty();
      Value *Own = Entry.CreateAlloca(T);
      Call->setArgOperand(Last, Own);
      IRBuilder<> B(Call->getNextNode());
      B.SetCurrentDebugLocation(Call->getDebugLoc());
      B.CreateStore(B.CreateLoad(T, Own), Pointer);
    }
  }
}

/// A closure's call. nvcc inlines it wherever it is called, so that what it
/// holds lies in registers.
static bool isClosure(const Function &F) {
  StringRef Name = F.getName();
  return (Name.contains("NKUl") || Name.contains("NUl")) &&
         Name.contains("_clE") && !F.hasFnAttribute(Attribute::NoInline);
}

/// What a warp multiplies lies in its arguments, and its lanes may come
/// together for more than memory: what is known of other memory stays known, as
/// nvcc has it for wmma and mma.
static void limitEffects(Module &M) {
  MemoryEffects Meets = MemoryEffects::inaccessibleMemOnly();
  if (Function *F = M.getFunction("__stark_sim_gather"))
    F->setMemoryEffects(Meets);
  for (const char *Name : {"__stark_sim_matrix", "__stark_sim_fragments"})
    if (Function *F = M.getFunction(Name))
      F->setMemoryEffects(Meets | MemoryEffects::argMemOnly());
}

void stark::sim::optimizeDevice(Module &M) {
  limitEffects(M);
  storeResults(M);
  alignShared(M);
  limitIndices(M);
  for (Function &F : M)
    if (!F.isDeclaration()) {
      makeVectorAccesses(F);
      if (isInstruction(F)) {
        F.removeFnAttr(Attribute::AlwaysInline);
        F.addFnAttr(Attribute::NoInline);
      } else if (isClosure(F)) {
        F.addFnAttr(Attribute::AlwaysInline);
      }
    }
  PipelineTuningOptions Tuning;
  Tuning.LoopVectorization = Tuning.SLPVectorization = false;
  PassBuilder Builder(nullptr, Tuning);
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Graph;
  ModuleAnalysisManager Modules;
  Functions.registerPass([] {
    return TargetIRAnalysis([](const Function &F) {
      return TargetTransformInfo(GpuAddressing(F.getParent()->getDataLayout()));
    });
  });
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Graph);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.registerPipelineParsingCallback(
      [](StringRef Name, FunctionPassManager &Into,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name == "stark-unroll-as-nvcc")
          Into.addPass(UnrollAsNvcc());
        else if (Name == "stark-hide-divisors")
          Into.addPass(HideDivisors());
        else if (Name == "stark-indices-as-sums")
          Into.addPass(IndicesAsSums());
        else if (Name == "stark-show-numbers")
          Into.addPass(ShowDivisors(/*All=*/false));
        else if (Name == "stark-show-divisors")
          Into.addPass(ShowDivisors(/*All=*/true));
        else
          return false;
        return true;
      });
  Builder.crossRegisterProxies(Loops, Functions, Graph, Modules);
  ModulePassManager Passes;
  if (llvm::Error E = Builder.parsePassPipeline(Passes, Pipeline))
    report_fatal_error(std::move(E)); // a text of our own
  Passes.run(M, Modules);
}
