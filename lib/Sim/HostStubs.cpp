//===- HostStubs.cpp - What simulated code names and nobody has -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostStubs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include <dlfcn.h>

using namespace llvm;
using namespace stark::sim;

static StringSet<> namesOf(const SymbolList &List) {
  StringSet<> Names;
  for (const auto &[Name, Address] : List)
    Names.insert(Name);
  return Names;
}

/// The JIT has names of its own, and the code generator takes some for
/// instructions.
static bool isElsewhere(const GlobalValue &V, const StringSet<> &Known) {
  StringRef Name = V.getName();
  if (Name.starts_with("llvm.") || Name.starts_with("__stark_") ||
      Name == "__dso_handle" || Name.starts_with("__cxa_") ||
      Name == "atexit" || Known.contains(Name))
    return true;
  // A name that a header has given by asm() begins so.
  Name.consume_front("\1");
  return dlsym(RTLD_DEFAULT, Name.str().c_str());
}

static bool isMissing(const GlobalValue &V, const StringSet<> &Known) {
  return V.isDeclaration() && !V.use_empty() && !isElsewhere(V, Known);
}

/// What a header says is in a library ("extern template") has a body for the
/// optimizer, which is not emitted. Where the library has it not, the body is.
static void keepBody(GlobalValue &V, const StringSet<> &Known) {
  if (V.hasAvailableExternallyLinkage() && !isElsewhere(V, Known))
    V.setLinkage(GlobalValue::InternalLinkage);
}

static std::string plainName(const GlobalValue &V) {
  std::string Name = demangle(V.getName());
  return Name.substr(0, Name.find('('));
}

/// Gives \p F a body that calls \p End with a text, and never returns.
static void makeStub(Function &F, StringRef End, StringRef Text) {
  Module &M = *F.getParent();
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "", &F));
  // What debug information there is, is that of a declaration.
  F.clearMetadata();
  F.setLinkage(GlobalValue::InternalLinkage);
  F.setComdat(nullptr);
  F.setDLLStorageClass(GlobalValue::DefaultStorageClass);
  B.CreateCall(M.getOrInsertFunction(End, B.getVoidTy(), B.getPtrTy()),
               {B.CreateGlobalString(Text)});
  B.CreateUnreachable();
}

/// Has each function that uses \p V end the run there: code that is compiled in
/// memory finds no other library's variables of threads.
static void refuseUses(GlobalVariable &V) {
  Module &M = *V.getParent();
  std::string Text = plainName(V) + ", a library's variable of each thread, "
                                    "which the simulator does not have";
  SmallVector<Instruction *, 8> Uses;
  SmallVector<User *, 8> Left(V.users());
  while (!Left.empty()) {
    User *U = Left.pop_back_val();
    if (auto *I = dyn_cast<Instruction>(U))
      Uses.push_back(I);
    else if (isa<ConstantExpr>(U))
      Left.append(U->user_begin(), U->user_end());
  }
  for (Instruction *I : Uses) {
    // A place before a phi is the end of a block that leads there.
    Instruction *Before = I;
    if (auto *Phi = dyn_cast<PHINode>(I))
      Before = &*Phi->getParent()->getFirstInsertionPt();
    IRBuilder<> B(Before);
    B.CreateCall(M.getOrInsertFunction("__stark_sim_host_unsupported",
                                       B.getVoidTy(), B.getPtrTy()),
                 {B.CreateGlobalString(Text)});
  }
  V.setInitializer(Constant::getNullValue(V.getValueType()));
  V.setLinkage(GlobalValue::InternalLinkage);
  V.setComdat(nullptr);
}

void stark::sim::stubMissingHost(Module &Host, const SymbolList &List) {
  StringSet<> Known = namesOf(List);
  for (GlobalValue &V : Host.global_values())
    keepBody(V, Known);
  for (Function &F : Host)
    if (!F.isIntrinsic() && isMissing(F, Known))
      makeStub(F, "__stark_sim_host_unsupported",
               plainName(F) + "(), which the host's code calls and the "
                              "simulator does not have");
  for (GlobalVariable &V : Host.globals())
    if (V.isThreadLocal() && V.isDeclaration() && V.getValueType()->isSized())
      refuseUses(V);
    else if (isMissing(V, Known) && V.getValueType()->isSized()) {
      V.setInitializer(Constant::getNullValue(V.getValueType()));
      V.setLinkage(GlobalValue::InternalLinkage);
      V.setComdat(nullptr);
    }
}

void stark::sim::stubMissingDevice(Module &Device, const SymbolList &List) {
  StringSet<> Known = namesOf(List);
  for (Function &F : Device) {
    if (F.isIntrinsic() || !isMissing(F, Known))
      continue;
    std::string Text = plainName(F) + "(), which is declared and not defined";
    SmallVector<CallBase *, 8> Calls;
    for (User *U : F.users())
      if (auto *Call = dyn_cast<CallBase>(U);
          Call && Call->getCalledFunction() == &F)
        Calls.push_back(Call);
    for (CallBase *Call : Calls) {
      IRBuilder<> B(Call);
      B.CreateCall(Device.getOrInsertFunction("__stark_sim_unsupported",
                                              B.getVoidTy(), B.getPtrTy()),
                   {B.CreateGlobalString(Text)});
    }
    makeStub(F, "__stark_sim_unsupported", Text);
  }
}

/// "d_x" of `cudaMalloc(&d_x, n)`, "" where that is not a plain variable.
static std::string variableName(const Value *Pointer) {
  const Value *Of = Pointer->stripInBoundsConstantOffsets();
  if (isa<GlobalVariable>(Of)) {
    std::string Name = demangle(Of->getName());
    size_t Colon = Name.rfind("::");
    return Colon == std::string::npos ? Name : Name.substr(Colon + 2);
  }
  StringRef Name = isa<AllocaInst>(Of) ? Of->getName() : "";
  Name.consume_back(".addr");
  // A number that makes the name the only one.
  return Name.rtrim("0123456789").empty() || Name.contains('.') ? ""
                                                                : Name.str();
}

void stark::sim::tellNames(Module &Host) {
  constexpr StringLiteral Allocating[] = {
      "cudaMalloc",     "cudaMallocAsync", "cudaMallocManaged",
      "cudaMallocHost", "cudaHostAlloc",   "cudaMallocPitch"};
  std::vector<std::pair<CallBase *, std::string>> Calls;
  for (Function &F : Host)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee || Call->arg_empty())
        continue;
      ItaniumPartialDemangler Parts;
      std::string Mangled = Callee->getName().str();
      if (Parts.partialDemangle(Mangled.c_str()))
        continue;
      char *Base = Parts.getFunctionBaseName(nullptr, nullptr);
      std::string Name = StringRef(Base ? Base : "").split('<').first.str();
      std::free(Base);
      if (!is_contained(Allocating, StringRef(Name)))
        continue;
      std::string Variable = variableName(Call->getArgOperand(0));
      if (!Variable.empty())
        Calls.push_back({Call, Variable});
    }
  for (auto &[Call, Name] : Calls) {
    IRBuilder<> B(Call);
    B.CreateCall(Host.getOrInsertFunction("__stark_sim_host_name",
                                          B.getVoidTy(), B.getPtrTy()),
                 {B.CreateGlobalString(Name)});
  }
}
