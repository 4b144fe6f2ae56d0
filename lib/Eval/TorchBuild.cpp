//===- TorchBuild.cpp - Libraries for entries of tensors ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text --> both halves (HalvesBuilder.h) --> library
/// What cannot be taken apart is compiled by nvcc as a whole, with g++ beside
/// it. For the simulator the host half is all that is compiled here; its
/// kernels stay a text.
///
//===----------------------------------------------------------------------===//

#include "HalvesBuilder.h"
#include "HostFlags.h"
#include "SimulatedNames.h"
#include "TensorObserver.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"

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
/// A kernel is known by its symbol.
constexpr const char *SimulatedExports = "{ global: *; };\n";

class TorchBuilder : public HalvesBuilder {
public:
  TorchBuilder(const Task &Of, const BuildOptions &Options, const Toolkit &Cuda,
               std::string Folder, posix::Libtorch Torch)
      : HalvesBuilder(Of, Options, Cuda, std::move(Folder)),
        Torch(std::move(Torch)) {
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
  HeaderSet headers() const override {
    return {"torch", Torch.Root + " " + Torch.Version, torchHeaders(Torch)};
  }
  std::vector<std::string> includes() const override;
  std::vector<std::string> moreHostFlags() const override {
    return Torch.Cuda ? std::vector<std::string>{"-DSTARK_TORCH_CUDA"}
                      : std::vector<std::string>{};
  }
  std::string calls(bool IsSource) const;
  llvm::Expected<Compiled> compileWhole(llvm::StringRef Text, std::string Why);
  llvm::Expected<Compiled> compileSimulated(TakenApart Taken,
                                            llvm::StringRef Text,
                                            llvm::StringRef Calls);
  llvm::Expected<ProcessResult> linkAs(llvm::ArrayRef<std::string> Objects,
                                       llvm::StringRef Library,
                                       llvm::StringRef ExportedNames) const;

  posix::Libtorch Torch;
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
  for (std::string &Flag : HalvesBuilder::includes())
    Flags.push_back(std::move(Flag));
  return Flags;
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

llvm::Expected<Compiled> TorchBuilder::compile(llvm::StringRef Text,
                                               bool IsSource) {
  std::string Calls = calls(IsSource);
  llvm::Expected<TakenApart> Taken = takeApart(Text.str(), Torch.Includes);
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
