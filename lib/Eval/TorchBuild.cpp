//===- TorchBuild.cpp - Libraries for entries of tensors ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text --> host half --Clang or g++, precompiled headers--> object --+
///        `-> device half --nvcc, without libtorch--> object ----------+-->
///        library
/// nvcc takes twenty seconds for libtorch's headers alone. What cannot be taken
/// apart is compiled by it as a whole, with g++ beside it. Beside Clang nvcc
/// makes the device's code alone (KernelRegistration.h): its host code takes
/// longer than that. For the simulator the host half is all that is compiled
/// here; its kernels stay a text.
///
//===----------------------------------------------------------------------===//

#include "Builder.h"
#include "CompilerOutput.h"
#include "HostCommand.h"
#include "HostFlags.h"
#include "HostObjects.h"
#include "KernelRegistration.h"
#include "SimulatedNames.h"
#include "TensorObserver.h"
#include "TextsAhead.h"
#include "TorchHeaders.h"
#include "stark/AST/Halves.h"
#include "stark/AST/Torch.h"
#include "stark/HostCode/OwnCompiler.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <thread>

using namespace stark;

namespace {
constexpr const char *StatusFunction = R"cpp(
#include <cuda_runtime_api.h>
extern "C" __attribute__((visibility("default"))) int stark_last_error() {
  // Of no interest where tensors lie in the host's memory.
  return stark_tensors::stark_now().stark_device == at::kCUDA
             ? (int)cudaGetLastError()
             : 0;
}
)cpp";

constexpr const char *ExportList =
    "{ global: stark_call; stark_reference; stark_last_error; stark_prepare; "
    "stark_collect; stark_problem; stark_note; local: *; };\n";
constexpr const char *ObserverExports =
    "{ global: stark_observe*; _ZN3c104cuda*; _ZNK3c104cuda*; _ZN2at4cuda*; "
    "local: *; };\n";
/// What nvcc makes beside our own compiler.
constexpr const char *DeviceCode = "device.fatbin";
/// A kernel is known by its symbol.
constexpr const char *SimulatedExports = "{ global: *; };\n";

class TorchBuilder : public Builder {
public:
  TorchBuilder(const Task &Of, const BuildOptions &Options, const Toolkit &Cuda,
               std::string Folder, posix::Libtorch Torch)
      : Builder(Of, Options, Cuda, std::move(Folder)), Torch(std::move(Torch)),
        Compiler(hostCommand(Options)) {
    // Its headers need the toolkit's.
    this->Torch.Cuda &= !Cuda.Root.empty();
  }
  llvm::Expected<Compiled> compile(llvm::StringRef Text,
                                   bool IsSource) override;
  llvm::Expected<std::optional<Compiled>>
  compileOtherwise(llvm::StringRef Text, bool IsSource) override;
  llvm::Expected<ProcessResult> link(llvm::ArrayRef<std::string> Objects,
                                     llvm::StringRef Library) override;
  /// The reference turns TF32 off and on.
  bool isOfTheCalls(llvm::StringRef Import) const override {
    return Import.starts_with("_ZN2at7Context") &&
           Import.contains("setAllowTF32") &&
           !llvm::StringRef(Of.SourceText).contains("setAllowTF32");
  }
  llvm::Expected<ProcessResult> observer(llvm::StringRef Library);

private:
  std::string calls(bool IsSource) const;
  std::vector<std::string> hostFlags() const;
  std::vector<std::string> includes() const;
  /// Of libtorch, precompiled; empty where it cannot be kept.
  std::string header() const {
    return torchHeader(Compiler, hostFlags(), Torch);
  }
  llvm::Expected<Compiled> compileHost(llvm::StringRef Text);
  ProcessSpec hostCall(const std::string &Header) const;
  llvm::Expected<Compiled> compileDevice(llvm::StringRef Text);
  llvm::Expected<Compiled> compileHalves(const Halves &Text,
                                         llvm::StringRef Calls);
  llvm::Expected<Compiled> compileWhole(llvm::StringRef Text, std::string Why);
  llvm::Expected<TakenApart> takeApart(const std::string &Text);
  llvm::Expected<Compiled> compileSimulated(TakenApart Taken,
                                            llvm::StringRef Text,
                                            llvm::StringRef Calls);
  llvm::Expected<ProcessResult> linkAs(llvm::ArrayRef<std::string> Objects,
                                       llvm::StringRef Library,
                                       llvm::StringRef ExportedNames) const;
  /// \p Flag says what \p Made is to be.
  llvm::Expected<Compiled> run(ProcessSpec Spec, llvm::StringRef File,
                               llvm::StringRef Text, const std::string &Made,
                               const char *Flag = "-c");
  bool byOwn() const { return Options.Host == HostCompiler::Own; }

  posix::Libtorch Torch;
  HostCommand Compiler; ///< of host code
};
} // namespace

std::string TorchBuilder::calls(bool IsSource) const {
  // In the simulator tensors lie in the host's memory, whatever libtorch has.
  return std::string(Options.Simulated ? NoLongerSimulated : "") +
         "\n#line 1 \"stark-trampoline\"\n" + makeTrampoline(Of) +
         (IsSource ? makeReferenceTrampoline(Of) : "") +
         (Torch.Cuda && !Options.Simulated ? StatusFunction : "");
}

std::vector<std::string> TorchBuilder::includes() const {
  std::vector<std::string> Flags;
  for (const std::string &Folder : Torch.Includes)
    Flags.insert(Flags.end(), {"-isystem", Folder});
  if (!Cuda.Root.empty())
    Flags.insert(Flags.end(), {"-isystem", Cuda.Root + "/include"});
  return Flags;
}

std::vector<std::string> TorchBuilder::hostFlags() const {
  std::vector<std::string> Flags = {"-fPIC", "-O2", "-w"};
  std::vector<std::string> Given = hostFlagsOf(Of.NvccFlags);
  bool HasStandard = llvm::any_of(
      Given, [](llvm::StringRef Flag) { return Flag.starts_with("-std="); });
  if (!HasStandard)
    Given.push_back("-std=c++17");
  if (Torch.Cuda)
    Given.push_back("-DSTARK_TORCH_CUDA");
  for (const std::vector<std::string> &More : {Given, includes()})
    Flags.insert(Flags.end(), More.begin(), More.end());
  return Flags;
}

llvm::Expected<Compiled>
TorchBuilder::run(ProcessSpec Spec, llvm::StringRef File, llvm::StringRef Text,
                  const std::string &Made, const char *Flag) {
  if (llvm::Error E = writeFileAtomically(File, Text, /*Flush=*/false))
    return E;
  Spec.Arguments.insert(Spec.Arguments.end(), {Flag, "-o", Made, File.str()});
  llvm::Expected<ProcessResult> How = runProcess(Spec);
  if (!How)
    return How.takeError();
  return Compiled{std::move(*How), {Made}, std::nullopt};
}

/// Or one whose name a macro gives.
static bool hasQuotedInclude(llvm::StringRef Text) {
  for (size_t At = 0; (At = Text.find("include", At)) != llvm::StringRef::npos;)
    if (!Text.substr(At += 7).ltrim(" \t").starts_with("<"))
      return true;
  return false;
}

ProcessSpec TorchBuilder::hostCall(const std::string &Header) const {
  ProcessSpec Spec;
  Spec.Program = Compiler.Program;
  Spec.TimeoutMs = Options.TimeoutMs;
  Spec.MemoryLimit = Options.MemoryLimit;
  Spec.WorkingFolder = Of.Parse.Folder;
  Spec.Environment = environmentWithin(Folder);
  for (const std::vector<std::string> &More :
       {Compiler.First,
        {"-include", Header.empty() ? "ATen/ATen.h" : Header},
        hostFlags(),
        {"-iquote", home(), "-x", "c++"}})
    Spec.Arguments.insert(Spec.Arguments.end(), More.begin(), More.end());
  return Spec;
}

llvm::Expected<Compiled> TorchBuilder::compileHost(llvm::StringRef Text) {
  TraceScope Traced("compile host half",
                    llvm::sys::path::filename(Compiler.Program));
  std::string Header = header();
  std::string Inner = Folder + "/host", Object = Folder + "/host.o";
  if (llvm::Error E = createFolders(Inner))
    return E;
  // The header's folder is that of the compiler and its flags.
  HostObjects Kept(llvm::sys::path::parent_path(Header).str());
  DigestBuilder Around;
  Around.add("name", llvm::sys::path::filename(fileName()));
  // Where the text and the flags are is of account for what they find there.
  if (hasQuotedInclude(Text) || !Of.NvccFlags.empty())
    Around.add("home", home()).add("folder", Of.Parse.Folder);
  for (const std::string &File : Of.Headers) {
    llvm::Expected<std::string> Bytes = readFile(File);
    if (!Bytes)
      return Bytes.takeError();
    Around.add(File, *Bytes);
  }
  std::string Key = Kept.key(Text, std::move(Around));
  if (Kept.fetch(Key, Object))
    return Compiled{{}, {Object}, std::nullopt};
  std::string File = Inner + "/" + llvm::sys::path::filename(fileName()).str();
  llvm::Expected<Compiled> Made = run(hostCall(Header), File, Text, Object);
  if (Made && byOwn() && Made->How.ExitCode == StaleHeaderCode) {
    forgetHeader(Compiler, Header);
    Made = run(hostCall(header()), File, Text, Object);
  }
  if (Made && Made->How.ok())
    Kept.keep(Key, Object);
  return Made;
}

llvm::Expected<Compiled> TorchBuilder::compileDevice(llvm::StringRef Text) {
  TraceScope Traced("compile kernels");
  ProcessSpec Spec = nvcc();
  for (const std::vector<std::string> &Flags : {deviceFlags(Cuda), includes()})
    Spec.Arguments.insert(Spec.Arguments.end(), Flags.begin(), Flags.end());
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-x", "cu", "-Xptxas", "-v", "-Xcompiler", "-fPIC",
                         "-Xcompiler",
                         "-iquote," + pathForHost(home(), Folder)});
  keepPtx(Spec);
  if (byOwn())
    return run(std::move(Spec), fileName(), Text, Folder + "/" + DeviceCode,
               "-fatbin");
  return run(std::move(Spec), fileName(), Text, Folder + "/device.o");
}

llvm::Expected<Compiled> TorchBuilder::compileWhole(llvm::StringRef Text,
                                                    std::string Why) {
  TraceScope Traced("compile whole", Why);
  ProcessSpec Spec = nvcc();
  std::vector<std::string> Folders = includes();
  Spec.Arguments.insert(Spec.Arguments.end(), Folders.begin(), Folders.end());
  // What the halves are given, the whole is given.
  std::string Header = Folder + "/stark_torch.h";
  if (llvm::Error E = writeFileAtomically(Header, torchHeaders(Torch),
                                          /*Flush=*/false))
    return E;
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-x", "cu", "-w", "-include", Header,
                         "--expt-relaxed-constexpr", "--expt-extended-lambda",
                         "-Xptxas", "-v", "-Xcompiler", "-fPIC", "-Xcompiler",
                         "-iquote," + pathForHost(home(), Folder)});
  keepPtx(Spec);
  if (Torch.Cuda)
    Spec.Arguments.push_back("-DSTARK_TORCH_CUDA");
  llvm::Expected<Compiled> Made =
      run(std::move(Spec), fileName(), Text, Folder + "/whole.o");
  if (Made)
    Made->WhyWhole = std::move(Why);
  return Made;
}

/// The user's compilers are asked.
static Compiled notByOwn() {
  Compiled None;
  None.How.ExitCode = 1;
  return None;
}

/// Both halves, at the same time. Not ok() where either is not.
llvm::Expected<Compiled> TorchBuilder::compileHalves(const Halves &Text,
                                                     llvm::StringRef Calls) {
  std::optional<llvm::Expected<Compiled>> OfDevice;
  std::thread Device(
      traced([&] { OfDevice.emplace(compileDevice(Text.Device)); }));
  llvm::Expected<Compiled> Host = compileHost(Text.Host + Calls.str());
  Device.join();
  if (!Host || !*OfDevice)
    return llvm::joinErrors(Host ? llvm::Error::success() : Host.takeError(),
                            *OfDevice ? llvm::Error::success()
                                      : OfDevice->takeError());
  Host->KernelsFailed = (*OfDevice)->KernelsFailed = !(*OfDevice)->How.ok();
  if (!Host->How.ok())
    return Host;
  if (byOwn() && (*OfDevice)->How.ok()) {
    std::string &Code = (*OfDevice)->Objects.front();
    std::string Registration = Folder + "/registration.o";
    const ProcessResult &How = (*OfDevice)->How;
    llvm::Expected<bool> Done =
        registerKernels({Host->Objects.front(), Code, How.Out + "\n" + How.Err},
                        Registration, Options.TimeoutMs);
    if (!Done)
      return Done.takeError();
    if (!*Done)
      return notByOwn();
    Code = Registration;
  }
  (*OfDevice)->Objects.push_back(Host->Objects.front());
  return std::move(*OfDevice);
}

llvm::Expected<Compiled> TorchBuilder::compileSimulated(TakenApart Taken,
                                                        llvm::StringRef Text,
                                                        llvm::StringRef Calls) {
  std::optional<Halves> &Apart = Taken.Apart;
  bool HasKernels =
      Apart ? !Apart->Device.empty() : Text.contains("__global__");
  if (HasKernels && Cuda.Root.empty())
    return Compiled{{},
                    {},
                    "",
                    "the simulator cannot run this: kernels beside "
                    "tensors need a CUDA toolkit's headers"};
  if (HasKernels && !Taken.Errors.empty()) {
    ProcessResult Refused;
    Refused.ExitCode = 1;
    Refused.Err = Taken.Errors;
    return Compiled{Refused, {}};
  }
  if (HasKernels && !Apart)
    return Compiled{{},
                    {},
                    "",
                    "the simulator cannot run this: its kernels "
                    "cannot be told from host code: " +
                        Taken.WhyNot};
  if (!HasKernels)
    return compileHost(withSimulatedNames(Text) + Calls.str());
  llvm::Expected<Compiled> Made =
      compileHost(withSimulatedNames(Apart->Host) + Calls.str());
  if (Made)
    Made->Device = std::move(Apart->Device);
  return Made;
}

llvm::Expected<TakenApart> TorchBuilder::takeApart(const std::string &Text) {
  KernelsOfHost Kernels = Options.Simulated || byOwn()
                              ? KernelsOfHost::Stubs
                              : KernelsOfHost::Declared;
  return Options.Ahead ? Options.Ahead->take(Of, Text, Torch.Includes, Kernels)
                       : takeApartInChild(Of, Text, Torch.Includes, Kernels);
}

llvm::Expected<Compiled> TorchBuilder::compile(llvm::StringRef Text,
                                               bool IsSource) {
  std::string Calls = calls(IsSource);
  llvm::Expected<TakenApart> Taken = takeApart(Text.str());
  if (!Taken)
    return Taken.takeError();
  if (Options.Simulated)
    return compileSimulated(std::move(*Taken), Text, Calls);
  const std::optional<Halves> &Apart = Taken->Apart;
  if (byOwn() && (!Apart || wantDeviceLinker(Of.NvccFlags)))
    return notByOwn();
  if (!Apart)
    return compileWhole((Text + Calls).str(), Taken->WhyNot);
  return Apart->Device.empty() ? compileHost((Text + Calls).str())
                               : compileHalves(*Apart, Calls);
}

llvm::Expected<std::optional<Compiled>>
TorchBuilder::compileOtherwise(llvm::StringRef Text, bool IsSource) {
  if (Options.Simulated)
    return std::nullopt;
  llvm::Expected<Compiled> Made = compileWhole((Text + calls(IsSource)).str(),
                                               "taken apart it is not good");
  if (!Made)
    return Made.takeError();
  return std::move(*Made);
}

llvm::Expected<ProcessResult>
TorchBuilder::link(llvm::ArrayRef<std::string> Objects,
                   llvm::StringRef Library) {
  return linkAs(Objects, Library,
                Options.Simulated ? SimulatedExports : ExportList);
}

llvm::Expected<ProcessResult>
TorchBuilder::linkAs(llvm::ArrayRef<std::string> Objects,
                     llvm::StringRef Library,
                     llvm::StringRef ExportedNames) const {
  std::string Exports = Folder + "/exports.map";
  if (llvm::Error E = writeFileAtomically(Exports, ExportedNames))
    return E;
  ProcessSpec Spec;
  Spec.Program = UsersCompiler;
  Spec.TimeoutMs = Options.TimeoutMs;
  Spec.Arguments = {"-shared", "-o", Library.str()};
  if (byOwn())
    llvm::append_range(Spec.Arguments, quickLinker());
  Spec.Arguments.insert(Spec.Arguments.end(), Objects.begin(), Objects.end());
  for (const std::string &File :
       Options.Simulated ? Torch.hostLibraryFiles() : Torch.libraryFiles())
    Spec.Arguments.push_back(File);
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-Wl,--version-script=" + Exports, "-Wl,-Bsymbolic",
                         "-Wl,--allow-shlib-undefined"});
  // What its process lacks, stark-sim-host tells when it loads the library.
  if (Options.Simulated)
    return runProcess(Spec);
  // The runtime that libtorch uses; by name, as the worker has it loaded.
  if (Torch.Cuda)
    Spec.Arguments.insert(Spec.Arguments.end(),
                          {"-L" + Cuda.Root + "/lib64", "-lcudart"});
  Spec.Arguments.push_back("-Wl,-z,defs");
  return runProcess(Spec);
}

llvm::Expected<ProcessResult> TorchBuilder::observer(llvm::StringRef Library) {
  llvm::Expected<Compiled> Made = compileHost(TensorObserver);
  if (!Made)
    return Made.takeError();
  if (!Made->How.ok())
    return std::move(Made->How);
  return linkAs(Made->Objects, Library, ObserverExports);
}

llvm::Expected<ProcessResult>
stark::compileObserver(const Task &T, const BuildOptions &Options,
                       const Toolkit &Cuda, std::string Folder,
                       llvm::StringRef Library) {
  llvm::Expected<posix::Libtorch> Torch = torchFor(T.Parse);
  if (!Torch)
    return Torch.takeError();
  return TorchBuilder(T, Options, Cuda, std::move(Folder), std::move(*Torch))
      .observer(Library);
}

llvm::Expected<std::unique_ptr<Builder>>
stark::makeTorchBuilder(const Task &T, const BuildOptions &Options,
                        const Toolkit &Cuda, std::string Folder) {
  llvm::Expected<posix::Libtorch> Torch = torchFor(T.Parse);
  if (!Torch)
    return withContext(Torch.takeError(),
                       "the entry '" + T.Entry.Name + "' takes tensors");
  return std::make_unique<TorchBuilder>(T, Options, Cuda, std::move(Folder),
                                        std::move(*Torch));
}
