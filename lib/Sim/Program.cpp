//===- Program.cpp - A CUDA program that runs on this CPU -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> two modules (Compile.h) -> linked by kernels' stubs
///   (KernelStubs.h), PTX translated, optimized, instrumented -> JIT
/// Each side has a namespace of the JIT: some functions are for both.
///
//===----------------------------------------------------------------------===//

#include "stark/Sim/Program.h"
#include "HostStubs.h"
#include "Instrument.h"
#include "KernelStubs.h"
#include "LaunchBounds.h"
#include "Machine.h"
#include "Ptx.h"
#include "Symbols.h"
#include "stark/Posix/Stack.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include <csignal>
#include <map>
#include <set>
#include <utility>

using namespace llvm;
using namespace stark;
using namespace stark::sim;

struct Program::Image {
  Tables T;
  std::string Said; ///< by the JIT, of what it could not do
  std::unique_ptr<orc::LLJIT> Jit;
  orc::JITDylib *Host = nullptr, *Device = nullptr;
  std::vector<Kernel> Kernels;
  std::map<std::string, unsigned> KernelOfName;
  std::vector<char *> VariableAddress;
  std::unordered_map<const void *, unsigned> KernelOfStub, VariableOfShadow;

  // While it is built.
  std::vector<KernelLink> Links;
  bool Partial = false;
  std::vector<std::string> Lacking;
  std::vector<std::string> Shadows; ///< the host's copies of device variables

  llvm::Error prepare(Module &HostCode, Module &DeviceCode, StringRef UserFile);
  llvm::Error prepareDevice(Module &DeviceCode, StringRef UserFile);
  llvm::Error makeJit();
  llvm::Error addSymbols(orc::JITDylib &To, const SymbolList &List);
  llvm::Error add(orc::JITDylib &To, CompileResult Code);
  bool findDevice();
  void findShadows();
};

Program::Program() : I(std::make_unique<Image>()) {}
Program::~Program() = default;
const Tables &Program::tables() const { return I->T; }
bool Program::isPartial() const { return I->Partial; }
const std::vector<std::string> &Program::lacking() const { return I->Lacking; }

static void *lookup(orc::LLJIT &Jit, orc::JITDylib &In, StringRef Name) {
  llvm::Expected<orc::ExecutorAddr> Found = Jit.lookup(In, Name);
  if (!Found) {
    consumeError(Found.takeError());
    return nullptr;
  }
  return Found->toPtr<void *>();
}

/// Links both sides by name, and turns device code into what runs here.
llvm::Error Program::Image::prepare(Module &HostCode, Module &DeviceCode,
                                    StringRef UserFile) {
  Links = rewriteStubs(HostCode, DeviceCode);
  Shadows = exportShadows(HostCode, DeviceCode);
  tellLaunchLines(HostCode, UserFile);
  tellNames(HostCode);
  stubMissingHost(HostCode, hostSymbols());
  return prepareDevice(DeviceCode, UserFile);
}

llvm::Error Program::Image::prepareDevice(Module &DeviceCode,
                                          StringRef UserFile) {
  noteAnnotations(DeviceCode);
  translatePtx(DeviceCode);
  // Kernels stay as they are named, whatever the optimizer thinks of them.
  StringSet<> Named;
  for (const KernelLink &L : Links)
    Named.insert(L.Symbol);
  for (Function &F : DeviceCode)
    if (!F.isDeclaration() && !Named.contains(F.getName())) {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.setComdat(nullptr);
    }
  optimizeDevice(DeviceCode);
  stubMissingDevice(DeviceCode, deviceSymbols());
  llvm::Expected<Tables> Found = instrument(DeviceCode, UserFile);
  if (!Found)
    return Found.takeError();
  T = std::move(*Found);
  for (KernelLink &L : Links)
    addAdapter(DeviceCode, L);
  return llvm::Error::success();
}

llvm::Error Program::Image::makeJit() {
  llvm::Expected<std::unique_ptr<orc::LLJIT>> Made =
      orc::LLJITBuilder().create();
  if (!Made)
    return Made.takeError();
  Jit = std::move(*Made);
  Jit->getExecutionSession().setErrorReporter([this](llvm::Error E) {
    Said += (Said.empty() ? "" : "; ") + llvm::toString(std::move(E));
  });
  llvm::Expected<orc::JITDylib &> Second = Jit->createJITDylib("device");
  if (!Second)
    return Second.takeError();
  Host = &Jit->getMainJITDylib();
  Device = &*Second;
  if (llvm::Error E = addSymbols(*Host, hostSymbols()))
    return E;
  return addSymbols(*Device, deviceSymbols());
}

llvm::Error Program::Image::addSymbols(orc::JITDylib &To,
                                       const SymbolList &List) {
  orc::SymbolMap Map;
  for (const auto &[Name, Address] : List)
    Map[Jit->mangleAndIntern(Name)] = {orc::ExecutorAddr::fromPtr(Address),
                                       JITSymbolFlags::Exported};
  if (llvm::Error E = To.define(orc::absoluteSymbols(std::move(Map))))
    return E;
  auto FromProcess = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      Jit->getDataLayout().getGlobalPrefix());
  if (!FromProcess)
    return FromProcess.takeError();
  To.addGenerator(std::move(*FromProcess));
  return llvm::Error::success();
}

llvm::Error Program::Image::add(orc::JITDylib &To, CompileResult Side) {
  Side.Code->setDataLayout(Jit->getDataLayout());
  return Jit->addIRModule(
      To, orc::ThreadSafeModule(std::move(Side.Code), std::move(Side.Context)));
}

static KernelResources needsOf(const Tables &T, unsigned Kernel) {
  const DeviceFunction &Own = T.Functions[Kernel];
  KernelResources R;
  R.Symbol = Own.Symbol;
  // A variable may be named in several functions: a kernel's in its lambdas.
  std::set<unsigned> Shared;
  for (unsigned F : T.reached(Kernel)) {
    R.Registers = std::max(R.Registers, T.Functions[F].LiveRegisters);
    R.StackBytes += T.Functions[F].LocalBytes;
    Shared.insert(T.Functions[F].Shared.begin(), T.Functions[F].Shared.end());
  }
  for (unsigned S : Shared)
    R.SharedBytes += alignTo(T.Shared[S].Bytes, Align(16));
  R.Registers = withinBounds(
      R.Registers, {Own.BoundThreads, Own.BoundBlocks, Own.BoundRegisters});
  return R;
}

/// False when one cannot be linked; Said says why.
bool Program::Image::findDevice() {
  for (const DeviceVariable &V : T.Variables)
    VariableAddress.push_back(
        static_cast<char *>(lookup(*Jit, *Device, V.Symbol)));
  for (const KernelLink &L : Links) {
    if (L.Adapter.empty())
      continue;
    void *Adapter = lookup(*Jit, *Device, L.Adapter);
    if (!Adapter)
      return false;
    Kernel K;
    for (unsigned F = 0; F < T.Functions.size(); ++F)
      if (T.Functions[F].Symbol == L.Symbol)
        K.Function = F;
    K.Name = T.Functions[K.Function].Name;
    K.Call = reinterpret_cast<void (*)(void *)>(Adapter);
    K.HostStub = L.Stub.empty() ? nullptr : lookup(*Jit, *Host, L.Stub);
    const DeviceFunction &Own = T.Functions[K.Function];
    KernelResources Needs = needsOf(T, K.Function);
    K.Registers = Needs.Registers;
    K.StaticShared = Needs.SharedBytes;
    K.BoundThreads = Own.BoundThreads;
    K.Cluster = {Own.Cluster[0], Own.Cluster[1], Own.Cluster[2]};
    K.ParameterOffsets = L.Offsets;
    K.ParameterBytes = L.Bytes;
    K.ParameterNames = L.Names;
    K.PlainParameters = L.Plain;
    K.ClosureBytes = L.ClosureBytes;
    if (K.HostStub)
      KernelOfStub[K.HostStub] = unsigned(Kernels.size());
    KernelOfName[L.Symbol] = unsigned(Kernels.size());
    Kernels.push_back(std::move(K));
  }
  return true;
}

void Program::Image::findShadows() {
  for (const std::string &Name : Shadows)
    if (void *Shadow = lookup(*Jit, *Host, Name))
      for (unsigned V = 0; V < T.Variables.size(); ++V)
        if (T.Variables[V].Symbol == Name)
          VariableOfShadow[Shadow] = V;
}

static void setUpTarget() {
  static const bool Ready = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)Ready;
}

llvm::Expected<std::unique_ptr<Program>>
Program::build(const CompileRequest &Request, std::string &Diagnostics,
               std::optional<Unsupported> &Missing) {
  setUpTarget();
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
  std::unique_ptr<Program> Out(new Program);
  Image &I = *Out->I;
  for (const CompileResult &Side : Sides) {
    I.Partial |= Side.Skipped || !Side.Lacking.empty();
    I.Lacking.insert(I.Lacking.end(), Side.Lacking.begin(), Side.Lacking.end());
  }
  if (llvm::Error E = I.prepare(*Sides[1].Code, *Sides[0].Code,
                                sys::path::filename(Request.Path)))
    return E;
  if (llvm::Error E = I.makeJit())
    return E;
  if (llvm::Error E = I.add(*I.Device, std::move(Sides[0])))
    return E;
  if (llvm::Error E = I.add(*I.Host, std::move(Sides[1])))
    return E;
  // Everything is made now, before any child is.
  if (!I.findDevice()) {
    Missing = {UnsupportedKind::DeviceSymbol, I.Said};
    return std::unique_ptr<Program>();
  }
  I.findShadows();
  if (!lookup(*I.Jit, *I.Host, "stark_call")) {
    Missing = {UnsupportedKind::HostSymbol, I.Said};
    return std::unique_ptr<Program>();
  }
  return Out;
}

llvm::Expected<std::unique_ptr<Program>> Program::buildDevice(
    const CompileRequest &Request, const std::vector<std::string> &Kernels,
    std::string &Diagnostics, std::optional<Unsupported> &Missing) {
  setUpTarget();
  llvm::Expected<CompileResult> Code = compileFor(Side::Device, Request);
  if (!Code)
    return Code.takeError();
  if (!Code->Code) {
    Diagnostics = std::move(Code->Diagnostics);
    Missing = std::move(Code->Missing);
    return std::unique_ptr<Program>();
  }
  std::unique_ptr<Program> Out(new Program);
  Image &I = *Out->I;
  for (const std::string &Name : Kernels) {
    const Function *F = Code->Code->getFunction(Name);
    if (!F || F->isDeclaration())
      continue;
    KernelLink L;
    L.Symbol = Name;
    I.Links.push_back(std::move(L));
  }
  if (llvm::Error E =
          I.prepareDevice(*Code->Code, sys::path::filename(Request.Path)))
    return E;
  if (llvm::Error E = I.makeJit())
    return E;
  if (llvm::Error E = I.add(*I.Device, std::move(*Code)))
    return E;
  if (I.findDevice())
    return Out;
  Missing = {UnsupportedKind::DeviceSymbol, I.Said};
  return std::unique_ptr<Program>();
}

llvm::Expected<ResourceTable>
stark::sim::estimateResources(const CompileRequest &Request,
                              std::string &Diagnostics) {
  llvm::Expected<CompileResult> Code = compileFor(Side::Device, Request);
  if (!Code)
    return Code.takeError();
  ResourceTable All;
  Diagnostics = std::move(Code->Diagnostics);
  if (!Code->Code)
    return All;
  Program::Image I;
  for (const Function &F : *Code->Code)
    if (isKernel(F) && !F.isDeclaration()) {
      I.Links.emplace_back();
      I.Links.back().Symbol = F.getName().str();
    }
  if (llvm::Error E =
          I.prepareDevice(*Code->Code, sys::path::filename(Request.Path)))
    return E;
  for (unsigned F = 0; F < I.T.Functions.size(); ++F)
    if (I.T.Functions[F].Kernel)
      All.Kernels.push_back(needsOf(I.T, F));
  return All;
}

bool Program::has(const char *Entry) const {
  return lookup(*I->Jit, *I->Host, Entry) != nullptr;
}

static void setResources(Machine &M, const ResourceTable &T) {
  for (const auto &[Symbol, Index] : *M.KernelOfName)
    if (const KernelResources *R = findResources(T, Symbol)) {
      Kernel &K = M.Kernels[Index];
      K.Exact = *R;
      K.Registers = R->Registers;
      K.StaticShared = R->SharedBytes;
    }
}

/// Host code that touches the device's memory gets a signal.
static void onFault(int Signal, siginfo_t *Where, void *) {
  if (Machine *M = theMachine())
    M->hostTouched(static_cast<const char *>(Where->si_addr));
  // It was something else: the process dies of it.
  std::signal(Signal, SIG_DFL);
}

static void tellHostTouches() {
  struct sigaction Action = {};
  Action.sa_sigaction = onFault;
  Action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &Action, nullptr);
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
  return runWith(
      this,
      [&](Machine &M) {
        M.ProtectsFromHost = true;
        tellHostTouches();
        // Constructors of the host's variables are part of the program.
        if (llvm::Error E = I->Jit->initialize(*I->Host)) {
          consumeError(std::move(E));
          Hooks.OnUnsupported({UnsupportedKind::HostSymbol, I->Said});
        }
        for (uint64_t Made = 1, Kept = 0;; ++Made) {
          M.beginCall();
          M.protect(true);
          posix::scribbleStack(Made);
          Call(Arguments);
          M.protect(false);
          // What leaks is known after two, and not to be had a hundred times.
          uint64_t Before = std::exchange(Kept, M.keptBytes());
          bool Leaks = Made > 1 && Kept > Before;
          if (Leaks || !Hooks.Again || !Hooks.Again(M.instructions()))
            break;
        }
      },
      Gpu, Mode, Buffers, Hooks);
}

void Program::runPart(const GpuDescription &Gpu, Team &Of,
                      unsigned Number) const {
  Machine M(I->T, Gpu);
  M.Kernels = I->Kernels;
  setMachine(&M);
  M.runPart(Of, Number);
}

RunProfile Program::runWith(const Program *Of,
                            const std::function<void(Machine &)> &Body,
                            const GpuDescription &Gpu, RunMode Mode,
                            const std::vector<DeviceBuffer> &Buffers,
                            const RunHooks &Hooks) {
  static const Image Nothing;
  const Image &I = Of ? *Of->I : Nothing;
  Machine M(I.T, Gpu);
  M.setMode(Mode == RunMode::Check ? sim::Mode::Check : sim::Mode::Profile);
  M.OnFinding = Hooks.OnFinding;
  M.OnUnsupported = Hooks.OnUnsupported;
  M.AccessLimit = Hooks.AccessLimit;
  M.OnLimit = Hooks.OnLimit;
  M.Undefined = Hooks.Undefined;
  M.Reach = Hooks.Reach;
  M.Wrote.Wanted = Hooks.Written && Mode == RunMode::Profile;
  M.Others = Hooks.Others;
  M.SpreadAfter = Hooks.SpreadAfter.value_or(M.SpreadAfter);
  M.KnownLater = Hooks.ResourcesLater;
  M.Kernels = I.Kernels;
  M.KernelOfStub = I.KernelOfStub;
  M.KernelOfName = &I.KernelOfName;
  if (Hooks.Resources)
    setResources(M, *Hooks.Resources);
  M.VariableOfShadow = I.VariableOfShadow;
  M.VariableAddress = I.VariableAddress;
  for (unsigned V = 0; V < I.T.Variables.size(); ++V)
    if (I.VariableAddress[V]) {
      Allocation &A = M.adopt(I.VariableAddress[V], I.T.Variables[V].Bytes,
                              I.T.Variables[V].Name, 1, /*Holds=*/true);
      A.Constant = I.T.Variables[V].Constant;
      A.Banked = I.T.Variables[V].Banked;
    }
  for (const DeviceBuffer &B : Buffers) {
    Allocation &A = M.adopt(B.Data, B.Bytes, B.Name, B.ElementBytes, B.Holds);
    A.Argument = int(&B - Buffers.data());
    A.Constant = B.ReadOnly;
    A.OfCaller = B.OwnPages;
  }
  setMachine(&M);
  Body(M);
  setMachine(nullptr);
  RunProfile Ran = M.takeProfile();
  Ran.Accesses = M.Accesses;
  Ran.Suspicion = M.Suspicion;
  return Ran;
}
