//===- DeviceTables.cpp - Variables and functions of a device module ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTables.h"
#include "Costs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include <cstdlib>

using namespace llvm;
using namespace stark::sim;

namespace {
/// Between shared variables, so that one that is overrun does not reach the
/// next.
constexpr uint64_t RedZone = 256;

const Align SharedAlign(256), DynamicSharedAlign(1024);
constexpr unsigned DynamicShared = ~0u;

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

/// Variables that the headers have marked with \p Note.
DenseSet<const GlobalVariable *> annotated(const Module &M, StringRef Note) {
  DenseSet<const GlobalVariable *> Found;
  const GlobalVariable *Notes = M.getGlobalVariable("llvm.global.annotations");
  auto *List =
      Notes ? dyn_cast<ConstantArray>(Notes->getInitializer()) : nullptr;
  if (!List)
    return Found;
  auto Named = [](const ConstantStruct *Of, unsigned Operand) {
    return dyn_cast<GlobalVariable>(
        Of->getOperand(Operand)->stripPointerCasts());
  };
  for (const Use &Item : List->operands()) {
    auto *Of = dyn_cast<ConstantStruct>(Item);
    auto *What = Of ? Named(Of, 0) : nullptr;
    auto *Text = Of ? Named(Of, 1) : nullptr;
    auto *Bytes = Text && Text->hasInitializer()
                      ? dyn_cast<ConstantDataArray>(Text->getInitializer())
                      : nullptr;
    if (What && Bytes && Bytes->isCString() && Bytes->getAsCString() == Note)
      Found.insert(What);
  }
  return Found;
}

class Lister {
public:
  Lister(Module &M, Tables &Out) : M(M), Layout(M.getDataLayout()), Out(Out) {}
  std::vector<Function *> run();

private:
  void listVariables();
  void addShared(GlobalVariable &V);
  void addVariable(GlobalVariable &V, bool Banked);
  void listFunctions();
  void listCalls();
  void layOutShared();
  void layOut(Use &U, unsigned Index);

  Module &M;
  const DataLayout &Layout;
  Tables &Out;
  uint64_t Offset = 0; ///< where the next shared variable may begin
  /// DynamicShared is that of arrays without a size.
  DenseMap<GlobalVariable *, unsigned> SharedIndex;
  DenseMap<const Function *, unsigned> FunctionIndex;
};
} // namespace

void Lister::addShared(GlobalVariable &V) {
  SharedVariable S;
  S.Symbol = V.getName().str();
  S.Name = plainName(V.getName());
  S.Bytes = Layout.getTypeAllocSize(V.getValueType());
  S.Offset = Offset = alignTo(Offset, SharedAlign);
  Offset += S.Bytes + RedZone;
  SharedIndex[&V] = unsigned(Out.Shared.size());
  Out.Shared.push_back(std::move(S));
}

void Lister::addVariable(GlobalVariable &V, bool Banked) {
  DeviceVariable D;
  D.Name = plainName(V.getName());
  D.Bytes = Layout.getTypeAllocSize(V.getValueType());
  D.Constant = V.isConstant() || Banked;
  D.Banked = Banked;
  if (Banked)
    V.addAttribute(BankedNote);
  if (V.hasLocalLinkage()) {
    // The runtime looks it up by name.
    V.setLinkage(GlobalValue::ExternalLinkage);
    V.setDSOLocal(true);
    if (V.getName().empty())
      V.setName("stark.constant");
  }
  D.Symbol = V.getName().str();
  V.setComdat(nullptr);
  Out.Variables.push_back(std::move(D));
}

/// Which variables are __shared__: those that say so, and arrays without a size
/// that are declared only, which is what `extern __shared__` leaves.
void Lister::listVariables() {
  DenseSet<const GlobalVariable *> Shared = annotated(M, "stark_shared"),
                                   Constants = annotated(M, "stark_constant");
  for (GlobalVariable &V : M.globals()) {
    if (V.getName().starts_with("llvm.") ||
        V.getName().starts_with("__stark") || V.getSection() == "llvm.metadata")
      continue;
    Type *T = V.getValueType();
    if (V.isDeclaration() && T->isArrayTy() && T->getArrayNumElements() == 0)
      SharedIndex[&V] = DynamicShared;
    else if (Shared.count(&V))
      addShared(V);
    else if (!V.isDeclaration())
      addVariable(V, Constants.count(&V));
  }
  Out.SharedEnd = alignTo(Offset, DynamicSharedAlign);
  if (GlobalVariable *Notes = M.getGlobalVariable("llvm.global.annotations"))
    Notes->eraseFromParent();
}

/// What names the variable adds its offset to the base.
void Lister::layOut(Use &U, unsigned Index) {
  auto *I = dyn_cast<Instruction>(U.getUser());
  if (!I)
    return;
  Instruction *Before = I;
  if (auto *Phi = dyn_cast<PHINode>(I))
    Before = Phi->getIncomingBlock(U)->getTerminator();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Base = B.CreateLoad(
      B.getPtrTy(), M.getOrInsertGlobal("__stark_sim_shared", B.getPtrTy()));
  uint64_t At =
      Index == DynamicShared ? Out.SharedEnd : Out.Shared[Index].Offset;
  U.set(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, At));
  DeviceFunction &F = Out.Functions[FunctionIndex[I->getFunction()]];
  if (Index == DynamicShared)
    F.DynamicShared = true;
  else if (!is_contained(F.Shared, Index))
    F.Shared.push_back(Index);
}

void Lister::layOutShared() {
  for (auto &[V, Index] : SharedIndex) {
    convertUsersOfConstantsToInstructions({V});
    std::vector<Use *> Uses;
    for (Use &U : V->uses())
      Uses.push_back(&U);
    for (Use *U : Uses)
      layOut(*U, Index);
  }
}

void Lister::listFunctions() {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    FunctionIndex[&F] = unsigned(Out.Functions.size());
    DeviceFunction D;
    D.Symbol = F.getName().str();
    D.Name = functionName(D.Symbol);
    if (F.hasLocalLinkage())
      F.setLinkage(GlobalValue::ExternalLinkage);
    F.setComdat(nullptr);
    Out.Functions.push_back(std::move(D));
  }
}

void Lister::listCalls() {
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      auto Found = Call ? FunctionIndex.find(Call->getCalledFunction())
                        : FunctionIndex.end();
      if (Found == FunctionIndex.end())
        continue;
      auto &Calls = Out.Functions[FunctionIndex[&F]].Calls;
      if (!is_contained(Calls, Found->second))
        Calls.push_back(Found->second);
    }
}

std::vector<Function *> Lister::run() {
  listVariables();
  listFunctions();
  listCalls();
  layOutShared();
  std::vector<Function *> Bodies;
  for (Function &F : M)
    if (!F.isDeclaration())
      Bodies.push_back(&F);
  return Bodies;
}

std::vector<Function *> stark::sim::listDevice(Module &M, Tables &Out) {
  return Lister(M, Out).run();
}

std::vector<unsigned> Tables::reached(unsigned Function) const {
  std::vector<unsigned> List{Function};
  for (size_t I = 0; I < List.size(); ++I)
    for (unsigned Callee : Functions[List[I]].Calls)
      if (!is_contained(List, Callee))
        List.push_back(Callee);
  return List;
}

bool Tables::polls(unsigned Function) const {
  return any_of(reached(Function), [&](unsigned F) {
    ArrayRef<CodeBlock> Own =
        ArrayRef(Blocks).slice(Functions[F].FirstBlock, Functions[F].Blocks);
    return any_of(Own, [&](const CodeBlock &B) {
      return any_of(B.Probes, [&](unsigned P) { return Probes[P].Polls; });
    });
  });
}
