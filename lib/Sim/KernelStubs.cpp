//===- KernelStubs.cpp - From a launch to a thread of a kernel -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelStubs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace stark::sim;

namespace {
constexpr char StubMark[] = "__device_stub__";

/// "_Z23__device_stub__softmaxPf" -> "_Z7softmaxPf"; empty when it is no stub.
std::string kernelOfStub(StringRef Stub) {
  size_t At = Stub.find(StubMark);
  if (At == StringRef::npos)
    return "";
  size_t Digits = At;
  while (Digits > 0 && isDigit(Stub[Digits - 1]))
    --Digits;
  std::string Rest = Stub.drop_front(At + sizeof(StubMark) - 1).str();
  unsigned Length = 0;
  if (Digits == At)
    return Stub.take_front(At).str() + Rest; // extern "C"
  if (Stub.slice(Digits, At).getAsInteger(10, Length) ||
      Length < sizeof(StubMark))
    return "";
  return Stub.take_front(Digits).str() +
         std::to_string(Length - (sizeof(StubMark) - 1)) + Rest;
}

/// How a function's parameters lie in a closure. A parameter that is passed in
/// memory lies there itself.
struct Packing {
  std::vector<Type *> Types;
  std::vector<uint64_t> Offsets;
  uint64_t Bytes = 0;
};

Packing packingOf(const Function &F) {
  Packing P;
  const DataLayout &Layout = F.getParent()->getDataLayout();
  for (const Argument &A : F.args()) {
    Type *T = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    uint64_t Align = std::max<uint64_t>(16, Layout.getABITypeAlign(T).value());
    P.Bytes = alignTo(P.Bytes, Align);
    P.Types.push_back(T);
    P.Offsets.push_back(P.Bytes);
    P.Bytes += Layout.getTypeAllocSize(T);
  }
  return P;
}

/// A stub of the host: pack, then __stark_sim_launch(name, closure, bytes).
void rewriteStub(Function &Stub, StringRef Kernel) {
  Module &M = *Stub.getParent();
  Stub.deleteBody();
  Stub.setLinkage(GlobalValue::ExternalLinkage);
  Stub.setComdat(nullptr);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "", &Stub));
  Packing P = packingOf(Stub);
  Value *Closure = B.CreateAlloca(
      ArrayType::get(B.getInt8Ty(), std::max<uint64_t>(P.Bytes, 16)));
  cast<AllocaInst>(Closure)->setAlignment(Align(64));
  for (Argument &A : Stub.args()) {
    unsigned I = A.getArgNo();
    Value *Slot = B.CreateConstGEP1_64(B.getInt8Ty(), Closure, P.Offsets[I]);
    if (A.hasByValAttr())
      B.CreateMemCpy(Slot, MaybeAlign(16), &A, A.getParamAlign(),
                     M.getDataLayout().getTypeAllocSize(P.Types[I]));
    else
      B.CreateAlignedStore(&A, Slot, Align(16));
  }
  FunctionCallee Launch =
      M.getOrInsertFunction("__stark_sim_launch", B.getVoidTy(), B.getPtrTy(),
                            B.getPtrTy(), B.getInt64Ty());
  B.CreateCall(Launch,
               {B.CreateGlobalString(Kernel), Closure, B.getInt64(P.Bytes)});
  B.CreateRetVoid();
}

} // namespace

std::vector<KernelLink> stark::sim::rewriteStubs(Module &Host,
                                                 const Module &Device) {
  std::vector<KernelLink> Links;
  for (Function &F : Host) {
    std::string Kernel = F.isDeclaration() ? "" : kernelOfStub(F.getName());
    if (Kernel.empty())
      continue;
    rewriteStub(F, Kernel);
    const Function *Of = Device.getFunction(Kernel);
    if (Of && !Of->isDeclaration()) {
      KernelLink L;
      L.Stub = F.getName().str();
      L.Symbol = Kernel;
      Links.push_back(std::move(L));
    }
  }
  return Links;
}

void stark::sim::addAdapter(Module &Device, KernelLink &L) {
  Function *Found = Device.getFunction(L.Symbol);
  if (!Found)
    return;
  Function &Kernel = *Found;
  LLVMContext &C = Device.getContext();
  L.Adapter = "__stark_adapter_" + L.Symbol;
  auto *Adapter = Function::Create(
      FunctionType::get(Type::getVoidTy(C), {PointerType::getUnqual(C)}, false),
      GlobalValue::ExternalLinkage, L.Adapter, Device);
  IRBuilder<> B(BasicBlock::Create(C, "", Adapter));
  Packing P = packingOf(Kernel);
  std::vector<Value *> Arguments;
  for (Argument &A : Kernel.args()) {
    unsigned I = A.getArgNo();
    Value *Slot =
        B.CreateConstGEP1_64(B.getInt8Ty(), Adapter->getArg(0), P.Offsets[I]);
    Arguments.push_back(A.hasByValAttr()
                            ? Slot
                            : B.CreateAlignedLoad(P.Types[I], Slot, Align(16)));
  }
  CallInst *Call = B.CreateCall(&Kernel, Arguments);
  Call->setAttributes(Kernel.getAttributes());
  Call->setCallingConv(Kernel.getCallingConv());
  B.CreateRetVoid();
  for (const Argument &A : Kernel.args())
    L.Names.push_back(A.getName().split('.').first.str());
  L.Offsets = P.Offsets;
  L.ClosureBytes = P.Bytes;
  for (Type *Parameter : P.Types) {
    L.Bytes.push_back(Device.getDataLayout().getTypeAllocSize(Parameter));
    // A struct may have been taken apart: then the list is another.
    L.Plain &= Parameter->isSingleValueType() && !Parameter->isVectorTy();
  }
}

void stark::sim::tellLaunchLines(Module &Host, StringRef UserFile) {
  Function *Push = Host.getFunction("__cudaPushCallConfiguration");
  if (!Push)
    return;
  std::vector<CallBase *> Calls;
  for (User *U : Push->users())
    if (auto *Call = dyn_cast<CallBase>(U))
      Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    const DILocation *L = Call->getDebugLoc().get();
    if (!L || !L->getFilename().ends_with(UserFile))
      continue;
    IRBuilder<> B(Call);
    B.CreateCall(Host.getOrInsertFunction("__stark_sim_launch_line",
                                          B.getVoidTy(), B.getInt32Ty()),
                 {B.getInt32(L->getLine())});
  }
}

std::vector<std::string> stark::sim::exportShadows(Module &Host,
                                                   const Module &Device) {
  std::vector<std::string> Shadows;
  for (GlobalVariable &V : Host.globals()) {
    const GlobalVariable *Of = Device.getGlobalVariable(V.getName(), true);
    if (!Of || Of->isDeclaration() || V.getName().starts_with("llvm.") ||
        !V.hasName() || V.isDeclaration() || V.isConstant())
      continue;
    V.setLinkage(GlobalValue::ExternalLinkage);
    V.setComdat(nullptr);
    Shadows.push_back(V.getName().str());
  }
  return Shadows;
}
