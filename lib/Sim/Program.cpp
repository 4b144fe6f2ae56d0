//===- Program.cpp - A CUDA program that runs on this CPU -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Host and device code lie in two namespaces of the JIT, as both have the
/// functions that are for both. A kernel's stub on the host packs its
/// parameters and asks for a launch; an adapter on the device unpacks them for
/// each thread.
///
//===----------------------------------------------------------------------===//

#include "stark/Sim/Program.h"
#include "Instrument.h"
#include "Machine.h"
#include "Ptx.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include <map>

using namespace llvm;
using namespace stark;
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

/// What calls \p Kernel with the parameters of a closure.
std::string addAdapter(Function &Kernel) {
  Module &M = *Kernel.getParent();
  LLVMContext &C = M.getContext();
  std::string Name = ("__stark_adapter_" + Kernel.getName()).str();
  auto *Adapter = Function::Create(
      FunctionType::get(Type::getVoidTy(C), {PointerType::getUnqual(C)}, false),
      GlobalValue::ExternalLinkage, Name, M);
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
  return Name;
}

struct KernelLink {
  std::string Stub, Symbol, Adapter, Name;
  Packing Layout; ///< only the offsets are used later
  std::vector<uint64_t> Bytes;
  bool Plain = true;
};

/// Tells the runtime the line of each launch before it is made.
void tellLines(Module &Host, StringRef UserFile) {
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
} // namespace

struct Program::Image {
  Tables T;
  std::string Said; ///< by the JIT, of what it could not do
  std::unique_ptr<orc::LLJIT> Jit;
  orc::JITDylib *Host = nullptr, *Device = nullptr;
  std::vector<Kernel> Kernels;
  std::map<std::string, unsigned> KernelOfName;
  std::vector<char *> VariableAddress;
  std::vector<const void *> VariableShadow;
  std::unordered_map<const void *, unsigned> KernelOfStub, VariableOfShadow;
};

Program::Program() : I(std::make_unique<Image>()) {}
Program::~Program() = default;
const Tables &Program::tables() const { return I->T; }

static orc::SymbolMap
symbolMap(orc::LLJIT &Jit,
          const std::vector<std::pair<std::string, void *>> &List) {
  orc::SymbolMap Map;
  for (const auto &[Name, Address] : List)
    Map[Jit.mangleAndIntern(Name)] = {orc::ExecutorAddr::fromPtr(Address),
                                      JITSymbolFlags::Exported};
  return Map;
}

static void *lookup(orc::LLJIT &Jit, orc::JITDylib &In, StringRef Name) {
  llvm::Expected<orc::ExecutorAddr> Found = Jit.lookup(In, Name);
  if (!Found) {
    consumeError(Found.takeError());
    return nullptr;
  }
  return Found->toPtr<void *>();
}

llvm::Expected<std::unique_ptr<Program>>
Program::build(const CompileRequest &Request, std::string &Diagnostics,
               std::optional<Unsupported> &Missing) {
  static bool Ready = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)Ready;
  CompileResult Sides[2];
  for (Side S : {Side::Device, Side::Host}) {
    llvm::Expected<CompileResult> R = compileFor(S, Request);
    if (!R)
      return R.takeError();
    if (!R->Code) {
      Diagnostics = std::move(R->Diagnostics);
      Missing = std::move(R->Missing);
      return std::unique_ptr<Program>();
    }
    Sides[S == Side::Host] = std::move(*R);
  }
  Module &Device = *Sides[0].Code, &Host = *Sides[1].Code;
  std::unique_ptr<Program> Out(new Program);
  Image &I = *Out->I;

  // Kernels by their stubs.
  std::vector<KernelLink> Links;
  std::vector<std::string> Shadows;
  for (Function &F : Host)
    if (!F.isDeclaration()) {
      std::string Name = kernelOfStub(F.getName());
      if (Name.empty())
        continue;
      rewriteStub(F, Name);
      if (Function *K = Device.getFunction(Name); K && !K->isDeclaration()) {
        KernelLink L;
        L.Stub = F.getName().str();
        L.Symbol = Name;
        Links.push_back(std::move(L));
      }
    }
  for (GlobalVariable &V : Host.globals())
    if (GlobalVariable *D = Device.getGlobalVariable(V.getName(), true);
        D && !D->isDeclaration() && !V.getName().starts_with("llvm.") &&
        V.hasName() && !V.isDeclaration() && !V.isConstant()) {
      V.setLinkage(GlobalValue::ExternalLinkage);
      V.setComdat(nullptr);
      Shadows.push_back(V.getName().str());
    }
  tellLines(Host, sys::path::filename(Request.Path));
  translatePtx(Device);
  // Kernels stay as they are named, whatever the optimizer thinks of them.
  for (Function &F : Device)
    if (!F.isDeclaration() &&
        !is_contained(map_range(Links,
                                [](const KernelLink &L) -> StringRef {
                                  return L.Symbol;
                                }),
                      F.getName()))
      F.setLinkage(GlobalValue::InternalLinkage), F.setComdat(nullptr);
  optimizeDevice(Device);
  llvm::Expected<Tables> T =
      instrument(Device, sys::path::filename(Request.Path));
  if (!T)
    return T.takeError();
  I.T = std::move(*T);
  for (KernelLink &L : Links) {
    Function *K = Device.getFunction(L.Symbol);
    if (!K)
      continue;
    L.Layout = packingOf(*K);
    L.Adapter = addAdapter(*K);
    for (Type *Parameter : L.Layout.Types) {
      L.Bytes.push_back(Device.getDataLayout().getTypeAllocSize(Parameter));
      // A struct may have been taken apart: then the list is another.
      L.Plain &= Parameter->isSingleValueType() && !Parameter->isVectorTy();
    }
  }

  llvm::Expected<std::unique_ptr<orc::LLJIT>> Jit =
      orc::LLJITBuilder().create();
  if (!Jit)
    return Jit.takeError();
  I.Jit = std::move(*Jit);
  I.Jit->getExecutionSession().setErrorReporter([&I](llvm::Error E) {
    I.Said += (I.Said.empty() ? "" : "; ") + llvm::toString(std::move(E));
  });
  Sides[0].Code->setDataLayout(I.Jit->getDataLayout());
  Sides[1].Code->setDataLayout(I.Jit->getDataLayout());
  I.Host = &I.Jit->getMainJITDylib();
  llvm::Expected<orc::JITDylib &> Second = I.Jit->createJITDylib("device");
  if (!Second)
    return Second.takeError();
  I.Device = &*Second;
  char Prefix = I.Jit->getDataLayout().getGlobalPrefix();
  for (orc::JITDylib *D : {I.Host, I.Device}) {
    auto List = D == I.Host ? hostSymbols() : deviceSymbols();
    if (llvm::Error E =
            D->define(orc::absoluteSymbols(symbolMap(*I.Jit, List))))
      return E;
    auto FromProcess =
        orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(Prefix);
    if (!FromProcess)
      return FromProcess.takeError();
    D->addGenerator(std::move(*FromProcess));
  }
  for (unsigned S = 0; S < 2; ++S)
    if (llvm::Error E = I.Jit->addIRModule(
            S ? *I.Host : *I.Device,
            orc::ThreadSafeModule(std::move(Sides[S].Code),
                                  std::move(Sides[S].Context))))
      return E;

  // Everything is made now, before any child is.
  for (unsigned V = 0; V < I.T.Variables.size(); ++V)
    I.VariableAddress.push_back(static_cast<char *>(
        lookup(*I.Jit, *I.Device, I.T.Variables[V].Symbol)));
  for (const KernelLink &L : Links) {
    if (L.Adapter.empty())
      continue;
    llvm::Expected<orc::ExecutorAddr> Adapter =
        I.Jit->lookup(*I.Device, L.Adapter);
    if (!Adapter) {
      consumeError(Adapter.takeError());
      Missing = {UnsupportedKind::DeviceSymbol, I.Said};
      return std::unique_ptr<Program>();
    }
    Kernel K;
    for (unsigned F = 0; F < I.T.Functions.size(); ++F)
      if (I.T.Functions[F].Symbol == L.Symbol)
        K.Function = F;
    K.Name = I.T.Functions[K.Function].Name;
    K.Call = Adapter->toPtr<void (*)(void *)>();
    K.HostStub = lookup(*I.Jit, *I.Host, L.Stub);
    for (unsigned F : I.T.reached(K.Function)) {
      K.Registers = std::max(K.Registers, I.T.Functions[F].LiveRegisters);
      for (unsigned S : I.T.Functions[F].Shared)
        K.StaticShared += (I.T.Shared[S].Bytes + 15) / 16 * 16;
    }
    K.ParameterOffsets = L.Layout.Offsets;
    K.ParameterBytes = L.Bytes;
    K.PlainParameters = L.Plain;
    K.ClosureBytes = L.Layout.Bytes;
    I.KernelOfStub[K.HostStub] = unsigned(I.Kernels.size());
    I.KernelOfName[L.Symbol] = unsigned(I.Kernels.size());
    I.Kernels.push_back(std::move(K));
  }
  for (const std::string &Name : Shadows) {
    void *Shadow = lookup(*I.Jit, *I.Host, Name);
    for (unsigned V = 0; V < I.T.Variables.size(); ++V)
      if (I.T.Variables[V].Symbol == Name && Shadow)
        I.VariableOfShadow[Shadow] = V;
  }
  if (llvm::Error E = I.Jit->initialize(*I.Host)) {
    consumeError(std::move(E));
    Missing = {UnsupportedKind::HostSymbol, I.Said};
    return std::unique_ptr<Program>();
  }
  return Out;
}

bool Program::has(const char *Entry) const {
  return lookup(*I->Jit, *I->Host, Entry) != nullptr;
}

RunProfile Program::run(const char *Entry, void **Arguments,
                        const GpuDescription &Gpu, RunMode Mode,
                        const std::vector<DeviceBuffer> &Buffers,
                        const RunHooks &Hooks) {
  auto *Call =
      reinterpret_cast<void (*)(void **)>(lookup(*I->Jit, *I->Host, Entry));
  if (!Call) {
    Hooks.OnUnsupported({UnsupportedKind::HostSymbol, Entry});
    return {};
  }
  Machine M(I->T, Gpu);
  M.setMode(Mode == RunMode::Check ? sim::Mode::Check : sim::Mode::Profile);
  M.OnFinding = Hooks.OnFinding;
  M.OnUnsupported = Hooks.OnUnsupported;
  M.AccessLimit = Hooks.AccessLimit;
  M.OnLimit = Hooks.OnLimit;
  M.Kernels = I->Kernels;
  M.KernelOfStub = I->KernelOfStub;
  M.KernelOfName = &I->KernelOfName;
  M.VariableOfShadow = I->VariableOfShadow;
  M.VariableAddress = I->VariableAddress;
  for (unsigned V = 0; V < I->T.Variables.size(); ++V)
    if (I->VariableAddress[V]) {
      Allocation &A = M.adopt(I->VariableAddress[V], I->T.Variables[V].Bytes,
                              I->T.Variables[V].Name, 1, /*Holds=*/true);
      A.Constant = I->T.Variables[V].Constant;
      A.Banked = I->T.Variables[V].Banked;
    }
  for (const DeviceBuffer &B : Buffers) {
    Allocation &A = M.adopt(B.Data, B.Bytes, B.Name, B.ElementBytes, B.Holds);
    A.Constant = B.ReadOnly;
  }
  setMachine(&M);
  Call(Arguments);
  setMachine(nullptr);
  RunProfile Ran = M.takeProfile();
  Ran.Accesses = M.Accesses;
  return Ran;
}
