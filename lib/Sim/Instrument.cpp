//===- Instrument.cpp - Device code that tells what it does --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Each access calls the runtime before it is made, each basic block counts
/// itself, each meeting of threads names its site first. Shared variables
/// become offsets in the block's arena.
///
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "Costs.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <algorithm>

using namespace llvm;
using namespace stark;
using namespace stark::sim;

namespace {
constexpr unsigned MaxSites = 60000;
/// Between shared variables, so that one that is overrun does not reach the
/// next.
constexpr uint64_t RedZone = 256;

/// "f(float*, int)::partial" -> "partial"
std::string plainName(StringRef Symbol) {
  std::string Whole = demangle(Symbol);
  StringRef Name(Whole);
  size_t Colon = Name.rfind("::");
  if (Colon != StringRef::npos)
    Name = Name.drop_front(Colon + 2);
  return Name.str();
}

/// "void (anonymous namespace)::k<4>(float*)" -> "k<4>"
std::string functionName(StringRef Symbol) {
  ItaniumPartialDemangler Parts;
  std::string Mangled = Symbol.str();
  if (Parts.partialDemangle(Mangled.c_str()))
    return Mangled;
  size_t Size = 0;
  char *Base = Parts.getFunctionBaseName(nullptr, &Size);
  std::string Name = Base ? Base : Mangled;
  std::free(Base);
  return Name;
}

class Instrumenter {
public:
  Instrumenter(Module &M, StringRef UserFile)
      : M(M), UserFile(UserFile), C(M.getContext()), Layout(M.getDataLayout()) {
  }
  llvm::Expected<Tables> run();

private:
  void listVariables();
  void layOutShared();
  void listFunctions();
  void instrumentFunction(Function &F, unsigned Index);
  void addAccess(Instruction &I, Value *Pointer, Type *Accessed, SiteKind Kind,
                 bool Volatile, Value *Stored);
  void addRange(MemIntrinsic &I);
  bool addLocal(Instruction &I, Value *Pointer, uint64_t Bytes);
  void addSync(CallInst &Call, StringRef Name);
  void expandRegister(CallInst &Call);
  unsigned newSite(const Instruction &I, SiteKind Kind, uint64_t Bytes);
  unsigned lineOf(const Instruction &I) const;
  Value *global(IRBuilder<> &B, StringRef Name, Type *T);
  FunctionCallee callee(StringRef Name, ArrayRef<Type *> Parameters);

  Module &M;
  StringRef UserFile;
  LLVMContext &C;
  const DataLayout &Layout;
  Tables Out;
  DenseMap<const GlobalVariable *, unsigned> SharedIndex;
  GlobalVariable *SharedBase = nullptr;
  DenseMap<const Function *, unsigned> FunctionIndex;
  DenseMap<const BasicBlock *, unsigned> BlockIndex;
};
} // namespace

/// The innermost line of the user's file: an inlined header is where it is
/// used.
unsigned Instrumenter::lineOf(const Instruction &I) const {
  for (const DILocation *L = I.getDebugLoc().get(); L; L = L->getInlinedAt())
    if (L->getFilename().ends_with(UserFile))
      return L->getLine();
  return 0;
}

unsigned Instrumenter::newSite(const Instruction &I, SiteKind Kind,
                               uint64_t Bytes) {
  sim::Site S;
  S.Kind = Kind;
  S.Bytes = unsigned(Bytes);
  S.Line = lineOf(I);
  Out.Sites.push_back(std::move(S));
  unsigned Number = unsigned(Out.Sites.size() - 1);
  if (auto Found = BlockIndex.find(I.getParent()); Found != BlockIndex.end())
    Out.Blocks[Found->second].Sites.push_back(Number);
  return Number;
}

Value *Instrumenter::global(IRBuilder<> &B, StringRef Name, Type *T) {
  return B.CreateLoad(T, M.getOrInsertGlobal(Name, T), Name);
}

FunctionCallee Instrumenter::callee(StringRef Name,
                                    ArrayRef<Type *> Parameters) {
  return M.getOrInsertFunction(
      Name, FunctionType::get(Type::getVoidTy(C), Parameters, false));
}

/// Which variables are __shared__: those that say so, and arrays without a size
/// that are declared only, which is what `extern __shared__` leaves.
void Instrumenter::listVariables() {
  DenseSet<const GlobalVariable *> Marked, Constants;
  if (GlobalVariable *Notes = M.getGlobalVariable("llvm.global.annotations"))
    if (auto *List = dyn_cast<ConstantArray>(Notes->getInitializer()))
      for (const Use &Item : List->operands()) {
        auto *Note = dyn_cast<ConstantStruct>(Item);
        auto *What = Note ? dyn_cast<GlobalVariable>(
                                Note->getOperand(0)->stripPointerCasts())
                          : nullptr;
        auto *Text = Note ? dyn_cast<GlobalVariable>(
                                Note->getOperand(1)->stripPointerCasts())
                          : nullptr;
        auto *Bytes = Text && Text->hasInitializer()
                          ? dyn_cast<ConstantDataArray>(Text->getInitializer())
                          : nullptr;
        if (What && Bytes && Bytes->isCString()) {
          if (Bytes->getAsCString() == "stark_shared")
            Marked.insert(What);
          if (Bytes->getAsCString() == "stark_constant")
            Constants.insert(What);
        }
      }
  uint64_t Offset = 0;
  for (GlobalVariable &V : M.globals()) {
    if (V.getName().starts_with("llvm.") ||
        V.getName().starts_with("__stark") || V.getSection() == "llvm.metadata")
      continue;
    Type *T = V.getValueType();
    bool Open =
        V.isDeclaration() && T->isArrayTy() && T->getArrayNumElements() == 0;
    if (Open) {
      SharedIndex[&V] = ~0u;
      continue;
    }
    if (Marked.count(&V)) {
      SharedVariable S;
      S.Symbol = V.getName().str();
      S.Name = plainName(V.getName());
      S.Bytes = Layout.getTypeAllocSize(T);
      S.Offset = Offset = alignTo(Offset, Align(256));
      Offset += S.Bytes + RedZone;
      SharedIndex[&V] = unsigned(Out.Shared.size());
      Out.Shared.push_back(std::move(S));
      continue;
    }
    if (V.isDeclaration())
      continue;
    DeviceVariable D;
    D.Symbol = V.getName().str();
    D.Name = plainName(V.getName());
    D.Bytes = Layout.getTypeAllocSize(T);
    D.Constant = V.isConstant() || Constants.count(&V);
    D.Banked = Constants.count(&V);
    if (V.hasLocalLinkage()) {
      // The runtime looks it up by name.
      V.setLinkage(GlobalValue::ExternalLinkage);
      V.setDSOLocal(true);
      if (V.getName().empty())
        V.setName("stark.constant");
      D.Symbol = V.getName().str();
    }
    V.setComdat(nullptr);
    Out.Variables.push_back(std::move(D));
  }
  Out.SharedEnd = alignTo(Offset, Align(1024));
  if (GlobalVariable *Notes = M.getGlobalVariable("llvm.global.annotations"))
    Notes->eraseFromParent();
}

void Instrumenter::layOutShared() {
  Type *Pointer = PointerType::getUnqual(C);
  for (auto &[Variable, Index] : SharedIndex) {
    auto *V = const_cast<GlobalVariable *>(Variable);
    convertUsersOfConstantsToInstructions({V});
    std::vector<Use *> Uses;
    for (Use &U : V->uses())
      Uses.push_back(&U);
    for (Use *U : Uses) {
      auto *I = dyn_cast<Instruction>(U->getUser());
      if (!I)
        continue;
      Instruction *Before = I;
      if (auto *Phi = dyn_cast<PHINode>(I))
        Before = Phi->getIncomingBlock(*U)->getTerminator();
      IRBuilder<> B(Before);
      B.SetCurrentDebugLocation(DebugLoc());
      Value *Base = global(B, "__stark_sim_shared", Pointer);
      uint64_t Offset = Index == ~0u ? Out.SharedEnd : Out.Shared[Index].Offset;
      U->set(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, Offset));
      DeviceFunction &F = Out.Functions[FunctionIndex[I->getFunction()]];
      if (Index == ~0u)
        F.DynamicShared = true;
      else if (!is_contained(F.Shared, Index))
        F.Shared.push_back(Index);
    }
  }
}

void Instrumenter::listFunctions() {
  for (Function &F : M)
    if (!F.isDeclaration()) {
      FunctionIndex[&F] = unsigned(Out.Functions.size());
      DeviceFunction D;
      D.Symbol = F.getName().str();
      D.Name = plainName(StringRef(D.Symbol));
      D.Name = functionName(D.Symbol);
      if (F.hasLocalLinkage())
        F.setLinkage(GlobalValue::ExternalLinkage);
      F.setComdat(nullptr);
      Out.Functions.push_back(std::move(D));
    }
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I)) {
        Function *Callee = Call->getCalledFunction();
        auto Found = Callee ? FunctionIndex.find(Callee) : FunctionIndex.end();
        if (Found != FunctionIndex.end()) {
          auto &Calls = Out.Functions[FunctionIndex[&F]].Calls;
          if (!is_contained(Calls, Found->second))
            Calls.push_back(Found->second);
        }
      }
}

/// An access to a thread's own array: one that cannot miss it needs no check.
bool Instrumenter::addLocal(Instruction &I, Value *Pointer, uint64_t Bytes) {
  APInt Offset(64, 0);
  const Value *Base = Pointer->stripAndAccumulateConstantOffsets(
      Layout, Offset, /*AllowNonInbounds=*/true);
  if (auto *A = dyn_cast<AllocaInst>(Base)) {
    std::optional<TypeSize> Size = A->getAllocationSize(Layout);
    if (Size && Offset.isNonNegative() &&
        Offset.getZExtValue() + Bytes <= Size->getFixedValue())
      return true;
  }
  auto *A = dyn_cast<AllocaInst>(getUnderlyingObject(Pointer));
  std::optional<TypeSize> Size =
      A ? A->getAllocationSize(Layout) : std::nullopt;
  if (!Size)
    return false;
  IRBuilder<> B(&I);
  unsigned Site =
      newSite(I, isa<StoreInst>(I) ? SiteKind::Store : SiteKind::Load, Bytes);
  B.CreateCall(
      callee("__stark_sim_local", {B.getInt32Ty(), B.getPtrTy(), B.getInt64Ty(),
                                   B.getPtrTy(), B.getInt32Ty()}),
      {B.getInt32(Site), const_cast<AllocaInst *>(A),
       B.getInt64(Size->getFixedValue()), Pointer,
       B.getInt32(unsigned(Bytes))});
  return true;
}

void Instrumenter::addAccess(Instruction &I, Value *Pointer, Type *Accessed,
                             SiteKind Kind, bool Volatile, Value *Stored) {
  uint64_t Bytes = Layout.getTypeStoreSize(Accessed);
  if (auto *G = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts()))
    if (G->getName().starts_with("__stark_sim"))
      return;
  if (addLocal(I, Pointer, Bytes))
    return;
  IRBuilder<> B(&I);
  unsigned Number = newSite(I, Kind, Bytes);
  Out.Sites[Number].Volatile = Volatile;
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I)) {
    Out.Sites[Number].Float = Atomic->isFloatingPointOperation();
    Out.Sites[Number].Counts = Atomic->use_empty() &&
                               Atomic->getOperation() == AtomicRMWInst::Add &&
                               isa<ConstantInt>(Atomic->getValOperand());
  }
  // An atomic must be aligned to its size, whatever the code promises.
  Out.Sites[Number].Align = isa<LoadInst>(I) || isa<StoreInst>(I)
                                ? unsigned(getLoadStoreAlignment(&I).value())
                                : unsigned(PowerOf2Ceil(Bytes));
  std::vector<Type *> Types{B.getInt32Ty(), B.getPtrTy(), B.getInt32Ty()};
  std::vector<Value *> Arguments{B.getInt32(Number), Pointer,
                                 B.getInt32(unsigned(Bytes))};
  const char *Name = Kind == SiteKind::Load     ? "__stark_sim_load"
                     : Kind == SiteKind::Atomic ? "__stark_sim_atomic"
                                                : "__stark_sim_store";
  if (Kind == SiteKind::Store) {
    // Two threads that store the same value do not race.
    Value *Bits = B.getInt64(0);
    if (Bytes <= 8) {
      Type *Whole = B.getIntNTy(unsigned(Layout.getTypeSizeInBits(Accessed)));
      Bits = Accessed->isPointerTy() ? B.CreatePtrToInt(Stored, Whole)
                                     : B.CreateBitCast(Stored, Whole);
      Bits = B.CreateZExt(Bits, B.getInt64Ty());
    }
    Types.push_back(B.getInt64Ty());
    Arguments.push_back(Bits);
  }
  B.CreateCall(callee(Name, Types), Arguments);
}

void Instrumenter::addRange(MemIntrinsic &I) {
  auto Add = [&](Value *Pointer, SiteKind Kind) {
    if (isa<AllocaInst>(Pointer->stripInBoundsOffsets()))
      return;
    IRBuilder<> B(&I);
    unsigned Number = newSite(I, Kind, 0);
    B.CreateCall(callee("__stark_sim_range",
                        {B.getInt32Ty(), B.getPtrTy(), B.getInt64Ty()}),
                 {B.getInt32(Number), Pointer,
                  B.CreateZExtOrTrunc(I.getLength(), B.getInt64Ty())});
  };
  if (auto *Copy = dyn_cast<MemTransferInst>(&I))
    Add(Copy->getRawSource(), SiteKind::Load);
  Add(I.getRawDest(), SiteKind::Store);
}

/// Names the site before the runtime is asked to bring threads together.
void Instrumenter::addSync(CallInst &Call, StringRef Name) {
  IRBuilder<> B(&Call);
  unsigned Number = newSite(Call, SiteKind::Sync, 0);
  Out.Sites[Number].What = Name.drop_front(strlen("__stark_sim_")).str();
  B.CreateStore(B.getInt32(Number),
                M.getOrInsertGlobal("__stark_sim_site", B.getInt32Ty()));
}

void Instrumenter::expandRegister(CallInst &Call) {
  IRBuilder<> B(&Call);
  Value *Lane = global(B, "__stark_sim_lane", B.getPtrTy());
  Value *Slot =
      B.CreateInBoundsGEP(B.getInt32Ty(), Lane, Call.getArgOperand(0));
  Call.replaceAllUsesWith(B.CreateLoad(B.getInt32Ty(), Slot));
  Call.eraseFromParent();
}

void Instrumenter::instrumentFunction(Function &F, unsigned Index) {
  DeviceFunction &D = Out.Functions[Index];
  D.FirstBlock = unsigned(Out.Blocks.size());
  D.LiveRegisters = estimateRegisters(F);
  std::vector<Instruction *> Work;
  auto Costs = costsOf(F);
  for (BasicBlock &Block : F) {
    CodeBlock Cost = Costs.lookup(&Block);
    Cost.Function = Index;
    for (Instruction &I : Block) {
      unsigned Line = lineOf(I);
      if (Line && !Cost.Line)
        Cost.Line = Line;
      if (Line && !D.Line)
        D.Line = Line;
      Work.push_back(&I);
    }
    if (auto *Branch = dyn_cast<BranchInst>(Block.getTerminator()))
      Cost.Branches = Branch->isConditional();
    unsigned Number = unsigned(Out.Blocks.size());
    Out.Blocks.push_back(Cost);
    BlockIndex[&Block] = Number;
    IRBuilder<> B(&*Block.getFirstInsertionPt());
    // Allocas stay together at the head of the function.
    if (&Block == &F.getEntryBlock())
      B.SetInsertPoint(Block.getFirstNonPHIOrDbgOrAlloca());
    B.SetCurrentDebugLocation(DebugLoc());
    Value *Counts = global(B, "__stark_sim_counts", B.getPtrTy());
    Value *Slot = B.CreateConstInBoundsGEP1_32(B.getInt32Ty(), Counts, Number);
    B.CreateStore(
        B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Slot), B.getInt32(1)), Slot);
  }
  D.Blocks = unsigned(Out.Blocks.size()) - D.FirstBlock;
  for (Instruction *I : Work) {
    if (auto *L = dyn_cast<LoadInst>(I))
      addAccess(*I, L->getPointerOperand(), L->getType(), SiteKind::Load,
                L->isVolatile() || L->isAtomic(), nullptr);
    else if (auto *S = dyn_cast<StoreInst>(I))
      addAccess(*I, S->getPointerOperand(), S->getValueOperand()->getType(),
                SiteKind::Store, S->isVolatile() || S->isAtomic(),
                S->getValueOperand());
    else if (auto *A = dyn_cast<AtomicRMWInst>(I))
      addAccess(*I, A->getPointerOperand(), A->getType(), SiteKind::Atomic,
                false, nullptr);
    else if (auto *X = dyn_cast<AtomicCmpXchgInst>(I))
      addAccess(*I, X->getPointerOperand(), X->getNewValOperand()->getType(),
                SiteKind::Atomic, false, nullptr);
    else if (auto *R = dyn_cast<MemIntrinsic>(I))
      addRange(*R);
    else if (auto *Call = dyn_cast<CallInst>(I)) {
      Function *Callee = Call->getCalledFunction();
      StringRef Name = Callee ? Callee->getName() : "";
      if (Name == "__stark_sim_sreg")
        expandRegister(*Call);
      else if (Callee && Callee->isDeclaration() &&
               Name.starts_with("__stark_sim_"))
        addSync(*Call, Name);
    }
  }
}

llvm::Expected<Tables> Instrumenter::run() {
  listVariables();
  listFunctions();
  layOutShared();
  std::vector<Function *> Bodies;
  for (Function &F : M)
    if (!F.isDeclaration())
      Bodies.push_back(&F);
  for (Function *F : Bodies)
    if (!isInstruction(*F))
      instrumentFunction(*F, FunctionIndex[F]);
  if (Out.Sites.size() > MaxSites)
    return failed("the device code has " + std::to_string(Out.Sites.size()) +
                  " accesses, the simulator numbers up to " +
                  std::to_string(MaxSites));
  return std::move(Out);
}

llvm::Expected<Tables> stark::sim::instrument(Module &M, StringRef UserFile) {
  return Instrumenter(M, UserFile).run();
}

std::vector<unsigned> Tables::reached(unsigned Function) const {
  std::vector<unsigned> List{Function};
  for (size_t I = 0; I < List.size(); ++I)
    for (unsigned Callee : Functions[List[I]].Calls)
      if (!is_contained(List, Callee))
        List.push_back(Callee);
  return List;
}

const char *stark::sim::unitName(Unit U) {
  static const char *Names[Units] = {
      "integer", "fp32",   "fp64",    "half",
      "special", "memory", "control", "integer multiply"};
  return Names[unsigned(U)];
}
