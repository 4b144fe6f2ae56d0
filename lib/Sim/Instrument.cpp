//===- Instrument.cpp - Device code that tells what it does --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Each access calls the runtime before it is made, each basic block counts
/// itself, each meeting of threads names its probe first. Shared variables
/// become offsets in the block's arena.
///
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "Costs.h"
#include "DeviceTables.h"
#include "Headers.h"
#include "LaunchBounds.h"
#include "Polls.h"
#include "Uniform.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;
using namespace stark;
using namespace stark::sim;

namespace {
constexpr unsigned MaxProbes = 60000;
class Instrumenter {
public:
  Instrumenter(Module &M, StringRef UserFile)
      : M(M), UserFile(UserFile), C(M.getContext()), Layout(M.getDataLayout()) {
  }
  llvm::Expected<Tables> run();

private:
  void instrumentFunction(Function &F, unsigned Index);
  void addCounter(BasicBlock &Block, unsigned Number);
  void instrument(Instruction &I);
  void addAccess(Instruction &I, Value *Pointer, Type *Accessed, ProbeKind Kind,
                 bool Volatile, Value *Stored);
  void addRange(MemIntrinsic &I);
  bool addLocal(Instruction &I, Value *Pointer, uint64_t Bytes);
  void addSync(CallInst &Call, StringRef Name);
  void expandRegister(CallInst &Call);
  unsigned newProbe(const Instruction &I, ProbeKind Kind, uint64_t Bytes);
  unsigned lineOf(const Instruction &I) const;
  Value *global(IRBuilder<> &B, StringRef Name, Type *T);
  FunctionCallee callee(StringRef Name, ArrayRef<Type *> Parameters);

  Module &M;
  StringRef UserFile;
  LLVMContext &C;
  const DataLayout &Layout;
  Tables Out;
  DenseMap<const BasicBlock *, unsigned> BlockIndex;
  SmallPtrSet<const Instruction *, 8> Joined; ///< atomics, one of a warp
  SmallPtrSet<const Instruction *, 4> Polls;  ///< of the function
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

/// Of what no line of the user's file leads to, as a kernel in a file that it
/// includes: the innermost that is not in a header of the system's or ours.
static const DILocation *elsewhere(const Instruction &I) {
  for (const DILocation *L = I.getDebugLoc().get(); L; L = L->getInlinedAt())
    if (!L->getFilename().starts_with("/usr/") &&
        !L->getFilename().starts_with(HeaderFolder))
      return L;
  return nullptr;
}

std::string Probe::place() const {
  return "line " + std::to_string(Line) + (File.empty() ? "" : " of " + File);
}

unsigned Instrumenter::newProbe(const Instruction &I, ProbeKind Kind,
                                uint64_t Bytes) {
  sim::Probe S;
  S.Kind = Kind;
  S.Bytes = unsigned(Bytes);
  S.Line = lineOf(I);
  if (const DILocation *L = S.Line ? nullptr : elsewhere(I)) {
    S.Line = L->getLine();
    S.File = sys::path::filename(L->getFilename()).str();
  }
  Out.Probes.push_back(std::move(S));
  unsigned Number = unsigned(Out.Probes.size() - 1);
  if (auto Found = BlockIndex.find(I.getParent()); Found != BlockIndex.end())
    Out.Blocks[Found->second].Probes.push_back(Number);
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
  unsigned Probe = newProbe(
      I, isa<StoreInst>(I) ? ProbeKind::Store : ProbeKind::Load, Bytes);
  B.CreateCall(
      callee("__stark_sim_local", {B.getInt32Ty(), B.getPtrTy(), B.getInt64Ty(),
                                   B.getPtrTy(), B.getInt64Ty()}),
      {B.getInt32(Probe), const_cast<AllocaInst *>(A),
       B.getInt64(Size->getFixedValue()), Pointer,
       B.getInt32(unsigned(Bytes))});
  return true;
}

/// What \p I does to a word of 4 or 8 bytes, where its result is not used.
static Update updateOf(const AtomicRMWInst &I) {
  unsigned Bits = unsigned(I.getType()->getPrimitiveSizeInBits());
  if (!I.use_empty() || (Bits != 32 && Bits != 64))
    return Update::None;
  switch (I.getOperation()) {
  case AtomicRMWInst::Add:
    return Update::Add;
  case AtomicRMWInst::Sub:
    return Update::Sub;
  case AtomicRMWInst::And:
    return Update::And;
  case AtomicRMWInst::Or:
    return Update::Or;
  case AtomicRMWInst::Xor:
    return Update::Xor;
  case AtomicRMWInst::Max:
    return Update::Max;
  case AtomicRMWInst::Min:
    return Update::Min;
  case AtomicRMWInst::UMax:
    return Update::UMax;
  case AtomicRMWInst::UMin:
    return Update::UMin;
  case AtomicRMWInst::FAdd:
    return Update::FAdd;
  case AtomicRMWInst::FSub:
    return Update::FSub;
  default:
    return Update::None;
  }
}

void Instrumenter::addAccess(Instruction &I, Value *Pointer, Type *Accessed,
                             ProbeKind Kind, bool Volatile, Value *Stored) {
  uint64_t Bytes = Layout.getTypeStoreSize(Accessed);
  if (auto *G = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts()))
    if (G->getName().starts_with("__stark_sim"))
      return;
  if (addLocal(I, Pointer, Bytes))
    return;
  // What an instruction names lies in the variable, and nobody writes to it.
  if (auto *Load = dyn_cast<LoadInst>(&I); Load && isOperand(*Load))
    return;
  IRBuilder<> B(&I);
  unsigned Number = newProbe(I, Kind, Bytes);
  Out.Probes[Number].Volatile = Volatile;
  Out.Probes[Number].Polls = Polls.contains(&I);
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I)) {
    Out.Probes[Number].Float = Atomic->isFloatingPointOperation();
    Out.Probes[Number].Counts = Atomic->use_empty() &&
                                Atomic->getOperation() == AtomicRMWInst::Add &&
                                isa<ConstantInt>(Atomic->getValOperand());
    Out.Probes[Number].Joined = Joined.contains(Atomic);
    Out.Probes[Number].Updates = updateOf(*Atomic);
    if (Out.Probes[Number].Updates != Update::None)
      Stored = Atomic->getValOperand();
  }
  // An atomic must be aligned to its size, whatever the code promises.
  Out.Probes[Number].Align = isa<LoadInst>(I) || isa<StoreInst>(I)
                                 ? unsigned(getLoadStoreAlignment(&I).value())
                                 : unsigned(PowerOf2Ceil(Bytes));
  std::vector<Type *> Types{B.getInt32Ty(), B.getPtrTy(), B.getInt32Ty()};
  std::vector<Value *> Arguments{B.getInt32(Number), Pointer,
                                 B.getInt32(unsigned(Bytes))};
  const char *Name = Kind == ProbeKind::Load     ? "__stark_sim_load"
                     : Kind == ProbeKind::Atomic ? "__stark_sim_atomic"
                                                 : "__stark_sim_store";
  // Two threads that store the same value do not race. What an atomic does may
  // be done again.
  if (Kind == ProbeKind::Atomic && Stored)
    Name = "__stark_sim_update";
  if (Stored && Bytes <= 8) {
    Type *Whole = B.getIntNTy(unsigned(Layout.getTypeSizeInBits(Accessed)));
    Value *Bits = Accessed->isPointerTy() ? B.CreatePtrToInt(Stored, Whole)
                                          : B.CreateBitCast(Stored, Whole);
    Types.push_back(B.getInt64Ty());
    Arguments.push_back(B.CreateZExt(Bits, B.getInt64Ty()));
  } else if (Kind == ProbeKind::Store) {
    Name = "__stark_sim_store_wide";
    BasicBlock &Entry = I.getFunction()->getEntryBlock();
    Value *Copy =
        IRBuilder<>(&Entry, Entry.begin()).CreateAlloca(Stored->getType());
    B.CreateStore(Stored, Copy);
    Types.push_back(B.getPtrTy());
    Arguments.push_back(Copy);
  }
  B.CreateCall(callee(Name, Types), Arguments);
}

void Instrumenter::addRange(MemIntrinsic &I) {
  auto Add = [&](Value *Pointer, ProbeKind Kind, Value *Source) {
    if (isa<AllocaInst>(Pointer->stripInBoundsOffsets()))
      return;
    IRBuilder<> B(&I);
    unsigned Number = newProbe(I, Kind, 0);
    Out.Probes[Number].Bulk = I.hasMetadata(BulkCopyNote);
    B.CreateCall(callee("__stark_sim_range",
                        {B.getInt32Ty(), B.getPtrTy(), B.getInt64Ty(),
                         B.getPtrTy(), B.getInt64Ty()}),
                 {B.getInt32(Number), Pointer,
                  B.CreateZExtOrTrunc(I.getLength(), B.getInt64Ty()), Source,
                  B.getInt64(isa<MemSetInst>(I) ? 0 : ~uint64_t(0))});
  };
  Value *Source = ConstantPointerNull::get(PointerType::getUnqual(C));
  if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
    Add(Copy->getRawSource(), ProbeKind::Load, Source);
    Source = Copy->getRawSource();
  }
  if (auto *Set = dyn_cast<MemSetInst>(&I)) {
    // Four bytes of what is set are known, for the words that follow.
    IRBuilder<> Entry(&*I.getFunction()->getEntryBlock().begin());
    Source = Entry.CreateAlloca(Entry.getInt32Ty());
    IRBuilder<> B(&I);
    Value *Byte = B.CreateZExt(Set->getValue(), B.getInt32Ty());
    B.CreateStore(B.CreateMul(Byte, B.getInt32(0x01010101)), Source);
  }
  Add(I.getRawDest(), ProbeKind::Store, Source);
}

/// Names the probe before the runtime is asked to bring threads together.
void Instrumenter::addSync(CallInst &Call, StringRef Name) {
  IRBuilder<> B(&Call);
  unsigned Number = newProbe(Call, ProbeKind::Sync, 0);
  Out.Probes[Number].What = Name.drop_front(strlen("__stark_sim_")).str();
  B.CreateStore(B.getInt32(Number),
                M.getOrInsertGlobal("__stark_sim_probe", B.getInt32Ty()));
}

void Instrumenter::expandRegister(CallInst &Call) {
  IRBuilder<> B(&Call);
  Value *Lane = global(B, "__stark_sim_lane", B.getPtrTy());
  Value *Slot =
      B.CreateInBoundsGEP(B.getInt32Ty(), Lane, Call.getArgOperand(0));
  Call.replaceAllUsesWith(B.CreateLoad(B.getInt32Ty(), Slot));
  Call.eraseFromParent();
}

/// Counts how often \p Block is entered.
void Instrumenter::addCounter(BasicBlock &Block, unsigned Number) {
  IRBuilder<> B(&*Block.getFirstInsertionPt());
  // Allocas stay together at the head of the function.
  if (Block.isEntryBlock())
    B.SetInsertPoint(Block.getFirstNonPHIOrDbgOrAlloca());
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Counts = global(B, "__stark_sim_counts", B.getPtrTy());
  Value *Slot = B.CreateConstInBoundsGEP1_32(B.getInt32Ty(), Counts, Number);
  B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Slot), B.getInt32(1)),
                Slot);
}

void Instrumenter::instrument(Instruction &I) {
  if (auto *L = dyn_cast<LoadInst>(&I))
    addAccess(I, L->getPointerOperand(), L->getType(), ProbeKind::Load,
              L->isVolatile() || L->isAtomic(), nullptr);
  else if (auto *S = dyn_cast<StoreInst>(&I))
    addAccess(I, S->getPointerOperand(), S->getValueOperand()->getType(),
              ProbeKind::Store, S->isVolatile() || S->isAtomic(),
              S->getValueOperand());
  else if (auto *A = dyn_cast<AtomicRMWInst>(&I))
    addAccess(I, A->getPointerOperand(), A->getType(), ProbeKind::Atomic, false,
              nullptr);
  else if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    addAccess(I, X->getPointerOperand(), X->getNewValOperand()->getType(),
              ProbeKind::Atomic, false, nullptr);
  else if (auto *R = dyn_cast<MemIntrinsic>(&I))
    addRange(*R);
  else if (auto *Call = dyn_cast<CallInst>(&I)) {
    Function *Callee = Call->getCalledFunction();
    StringRef Name = Callee ? Callee->getName() : "";
    if (Name == "__stark_sim_sreg")
      expandRegister(*Call);
    else if (Callee && Callee->isDeclaration() &&
             Name.starts_with("__stark_sim_"))
      addSync(*Call, Name);
  }
}

void Instrumenter::instrumentFunction(Function &F, unsigned Index) {
  DeviceFunction &D = Out.Functions[Index];
  D.FirstBlock = unsigned(Out.Blocks.size());
  LaunchBounds Bounds = launchBoundsOf(F);
  D.LiveRegisters = estimateRegisters(F);
  D.BoundThreads = Bounds.Threads;
  D.BoundBlocks = Bounds.Blocks;
  D.BoundRegisters = Bounds.Registers;
  D.Kernel = isKernel(F);
  for (const Instruction &I : instructions(F))
    if (auto *Array = dyn_cast<AllocaInst>(&I))
      if (auto Bytes = Array->getAllocationSize(Layout);
          Bytes && !Bytes->isScalable())
        D.LocalBytes += Bytes->getFixedValue();
  D.Cluster = clusterDimsOf(F);
  Polls = pollsOf(F);
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
      if (auto *A = dyn_cast<AtomicRMWInst>(&I); A && joinsWarp(*A))
        Joined.insert(A);
      Work.push_back(&I);
    }
    if (auto *Branch = dyn_cast<BranchInst>(Block.getTerminator()))
      Cost.Branches = Branch->isConditional();
    BlockIndex[&Block] = unsigned(Out.Blocks.size());
    Out.Blocks.push_back(Cost);
    addCounter(Block, BlockIndex[&Block]);
  }
  D.Blocks = unsigned(Out.Blocks.size()) - D.FirstBlock;
  for (Instruction *I : Work)
    instrument(*I);
}

llvm::Expected<Tables> Instrumenter::run() {
  std::vector<Function *> Bodies = listDevice(M, Out);
  for (unsigned I = 0; I < Bodies.size(); ++I)
    if (!isInstruction(*Bodies[I]))
      instrumentFunction(*Bodies[I], I);
  if (Out.Probes.size() > MaxProbes)
    return failed("the device code has " + std::to_string(Out.Probes.size()) +
                  " accesses, the simulator numbers up to " +
                  std::to_string(MaxProbes));
  return std::move(Out);
}

llvm::Expected<Tables> stark::sim::instrument(Module &M, StringRef UserFile) {
  return Instrumenter(M, UserFile).run();
}
