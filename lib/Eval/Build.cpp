//===- Build.cpp - From a candidate to a shared library ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text --Builder--> objects -> symbol gate --Builder--> library
///
//===----------------------------------------------------------------------===//

#include "stark/Eval/Build.h"
#include "Builder.h"
#include "CompilerOutput.h"
#include "HostFlags.h"
#include "HostSyscalls.h"
#include "Precision.h"
#include "SymbolGate.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

ProcessSpec Builder::nvcc() const {
  ProcessSpec Spec;
  Spec.Program = Cuda.Nvcc;
  Spec.TimeoutMs = Options.TimeoutMs;
  Spec.MemoryLimit = Options.MemoryLimit;
  Spec.WorkingFolder =
      Of.Parse.Folder.empty() ? std::string() : Of.Parse.Folder;
  Spec.Environment = environmentWithin(Folder);
  Spec.Arguments = nvccFlagsOf(Of.NvccFlags);
  Spec.Arguments.push_back("-arch=" + Options.Arch);
  return Spec;
}

void Builder::keepPtx(ProcessSpec &Spec) const {
  // Where it cannot be made, nvcc says so.
  llvm::consumeError(createFolders(keptFolder()));
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"--keep", "--keep-dir", keptFolder()});
}

std::string Builder::fileName() const {
  return (Folder + "/" + llvm::sys::path::filename(Of.SourcePath)).str();
}

std::string Builder::home() const {
  return llvm::sys::path::parent_path(Of.SourcePath).str();
}

std::string Builder::inUserTerms(std::string Text) const {
  for (const std::string &Prefix :
       {Folder + "/host/", Folder + "/" + HomeLink + "/", Folder + "/"})
    for (size_t At; (At = Text.find(Prefix)) != std::string::npos;)
      Text.erase(At, Prefix.size());
  return Text;
}

static llvm::Expected<std::unique_ptr<Builder>>
makeBuilder(const Task &T, const BuildOptions &Options, const Toolkit &Found,
            std::string Folder) {
  if (isTensorEntry(T.Entry))
    return makeTorchBuilder(T, Options, Found, std::move(Folder));
  return makePlainBuilder(T, Options, Found, std::move(Folder));
}

/// Where nvcc is; for the simulator there may be none.
static llvm::Expected<Toolkit> toolkitFor(const BuildOptions &Options) {
  std::optional<Toolkit> Found = findToolkit(Options.Toolkit);
  if (Found && (Options.Simulated || !Found->Nvcc.empty()))
    return std::move(*Found);
  if (Options.Simulated)
    return Toolkit();
  std::string Places;
  for (const std::string &P : toolkitPlaces())
    Places += (Places.empty() ? "" : ", ") + P;
  return failed("no nvcc found; looked at " +
                (Options.Toolkit.empty() ? Places : Options.Toolkit));
}

/// The first of the runtime's that stark-sim-host has not; empty: none.
static std::string notInSimulator(const std::vector<std::string> &Imports) {
  static const llvm::StringSet<> Known = {
#define STARK_RUNTIME_FUNCTION(Name) #Name,
#include "stark/SimHost/Runtime.def"
  };
  for (const std::string &Name : Imports)
    if (llvm::StringRef(Name).starts_with("cuda") && !Known.contains(Name))
      return Name;
  return "";
}

llvm::Error stark::buildObserver(const Task &T, llvm::StringRef Library,
                                 const BuildOptions &Options) {
  TraceScope Traced("build observer");
  llvm::Expected<TemporaryFolder> Work = TemporaryFolder::create("stark-build");
  if (!Work)
    return Work.takeError();
  llvm::Expected<Toolkit> Cuda = toolkitFor(Options);
  if (!Cuda)
    return Cuda.takeError();
  llvm::Expected<ProcessResult> How =
      compileObserver(T, Options, *Cuda, Work->path().str(), Library);
  if (!How)
    return How.takeError();
  if (How->ok())
    return llvm::Error::success();
  if (Options.Host == HostCompiler::Own) {
    BuildOptions Other = Options;
    Other.Host = HostCompiler::Users;
    return buildObserver(T, Library, Other);
  }
  return failed("the simulator's observer of libtorch cannot be built: " +
                trimForWindow(How->Err, 600));
}

namespace {
/// From objects to a library that may be run.
struct LibraryMaker {
  const Task &Of;
  const BuildOptions &Options;
  Builder &By;
  std::string Library;
  SourceBuild AskSource;
  const BuildResult *Source = nullptr; ///< once it has been asked for

  llvm::Expected<BuildResult> make(const Compiled &From);
  /// What the objects have goes to \p Out, and why they may not be run.
  llvm::Expected<ObjectFacts> look(llvm::ArrayRef<std::string> Objects,
                                   BuildResult &Out);
  /// Why it may not be run; empty when it may.
  std::string forbidden(const ObjectFacts &Facts,
                        llvm::ArrayRef<std::string> Precision) const;
};
} // namespace

std::string
LibraryMaker::forbidden(const ObjectFacts &Facts,
                        llvm::ArrayRef<std::string> Precision) const {
  if (!Source)
    return "";
  if (Of.Load.SourcePrecision && !Precision.empty())
    return "the candidate rounds where the source does not, and the workload's "
           "\"precision\" is as-source: " +
           llvm::join(Precision, ", ");
  if (std::optional<GateFinding> Why = gate(Facts, *Source))
    return describe(*Why);
  if (Of.Load.Calls == CallRule::Kernels)
    for (const std::string &Operator : operatorsIn(Facts))
      if (!onlyMovesOrViews(Operator))
        return "the candidate calls ATen's operator '" + Operator +
               "'; the workload's \"calls\" allows kernels alone";
  return "";
}

llvm::Expected<ObjectFacts>
LibraryMaker::look(llvm::ArrayRef<std::string> Objects, BuildResult &Out) {
  llvm::Expected<ObjectFacts> Facts = readObjects(Objects);
  if (!Facts)
    return Facts;
  Out.Imports = Facts->Imports;
  llvm::erase_if(Out.Imports, [&](const std::string &Import) {
    return By.isOfTheCalls(Import);
  });
  Out.Initializers = Facts->Initializers;
  Out.HasDeviceCode = Facts->HasDeviceCode;
  PtxFacts Ptx = ptxFactsIn(By.keptFolder());
  Out.Precision = std::move(Ptx.Precision);
  Out.AsyncBarriers = Ptx.AsyncBarriers;
  if (Source)
    Out.Precision = newPrecision(Out.Precision, Source->Precision);
  Out.Diagnostics = forbidden(*Facts, Out.Precision);
  if (Source && Out.Diagnostics.empty()) {
    llvm::Expected<std::string> Calls = systemCallsIn(Objects);
    if (!Calls)
      return Calls.takeError();
    Out.Diagnostics = std::move(*Calls);
  }
  return Facts;
}

llvm::Expected<BuildResult> LibraryMaker::make(const Compiled &From) {
  BuildResult Out;
  Out.Host = Options.Host;
  Out.KernelsFailed = From.KernelsFailed;
  if (!From.Refused.empty()) {
    Out.Kind = VerdictKind::Unsupported;
    Out.Diagnostics = From.Refused;
    return Out;
  }
  Out.Device = From.Device;
  // Whatever it is that our own compiler has: the user's is asked.
  if (!From.How.ok() && Options.Host == HostCompiler::Own)
    return Out;
  std::string Said = By.inUserTerms(From.How.Out + From.How.Err);
  if (From.How.TimedOut) {
    Out.Diagnostics = "the compiler did not finish in time";
    return Out;
  }
  if (From.How.OutOfMemory) {
    Out.Diagnostics = "the compiler took more than " +
                      std::to_string(Options.MemoryLimit >> 20) + " MiB";
    return Out;
  }
  if (!From.How.ok()) {
    if (compilerItselfFailed(From.How, Said))
      return failed("the compiler failed: " + trimForWindow(Said, 600));
    Out.Diagnostics = compilerErrors(Said);
    return Out;
  }
  if (AskSource) {
    llvm::Expected<const BuildResult *> Asked = AskSource();
    if (!Asked)
      return Asked.takeError();
    Source = *Asked;
  }
  llvm::Expected<ObjectFacts> Facts = look(From.Objects, Out);
  if (!Facts)
    return Facts.takeError();
  if (!Out.Diagnostics.empty()) {
    Out.Kind = VerdictKind::Forbidden;
    return Out;
  }
  if (std::string Name = Options.Simulated ? notInSimulator(Out.Imports) : "";
      !Name.empty()) {
    Out.Kind = VerdictKind::Unsupported;
    Out.Diagnostics = "the simulator cannot run " + Name + " beside ATen";
    return Out;
  }
  llvm::Expected<ProcessResult> Linked = [&] {
    TraceScope Traced("link");
    return By.link(From.Objects, Library);
  }();
  if (!Linked)
    return Linked.takeError();
  if (!Linked->ok()) {
    Out.Diagnostics = "the library could not be linked:\n" +
                      linkerErrors(By.inUserTerms(Linked->Out + Linked->Err));
    return Out;
  }
  Out.Ok = true;
  Out.Library = Library;
  Out.Diagnostics = describeResources(Said);
  if (Source && !Out.Precision.empty())
    Out.Diagnostics +=
        "rounds where the source does not: " + llvm::join(Out.Precision, ", ") +
        "\n";
  if (!isTensorEntry(Of.Entry))
    return Out;
  std::vector<std::string> Operators = operatorsIn(*Facts);
  Out.Diagnostics +=
      Operators.empty()
          ? "calls none of ATen's operators\n"
          : "calls of ATen's operators: " + llvm::join(Operators, ", ") + "\n";
  if (From.WhyWhole)
    Out.Diagnostics += "kernels and host code were compiled together, which "
                       "takes longer: " +
                       *From.WhyWhole + "\n";
  return Out;
}

llvm::Expected<BuildResult>
stark::buildLibrary(const Task &T, llvm::StringRef Text,
                    llvm::StringRef OutputFolder, llvm::StringRef LibraryName,
                    const BuildOptions &Options, SourceBuild Source,
                    const BuildResult *First) {
  TraceScope Traced("build", LibraryName);
  llvm::Expected<Toolkit> Found = toolkitFor(Options);
  if (!Found)
    return Found.takeError();
  if (Options.Arch.empty())
    return failed("cannot build: no GPU architecture is known; name one, such "
                  "as sm_90");
  llvm::Expected<TemporaryFolder> Work = TemporaryFolder::create("stark-build");
  if (!Work)
    return Work.takeError();
  if (llvm::Error E = createFolders(OutputFolder))
    return E;

  llvm::Expected<std::unique_ptr<Builder>> Made =
      makeBuilder(T, Options, *Found, Work->path().str());
  if (!Made)
    return Made.takeError();
  LibraryMaker Maker{T, Options, **Made,
                     (OutputFolder + "/" + LibraryName).str(), Source};
  BuildResult Apart;
  // The halves for nvcc are the same, whoever compiles host code.
  if (!First || !First->KernelsFailed) {
    llvm::Expected<Compiled> Objects = (*Made)->compile(Text, !Source);
    if (!Objects)
      return Objects.takeError();
    llvm::Expected<BuildResult> Out = Maker.make(*Objects);
    bool LastWord = Out && (Out->Ok || Out->Kind != VerdictKind::NotCompiled);
    bool FirstWord = Options.Host == HostCompiler::Own;
    if (!Out || FirstWord || LastWord || Objects->WhyWhole)
      return Out;
    Apart = std::move(*Out);
  }
  // A half may lack what the whole has: the whole has the last word.
  llvm::Expected<std::optional<Compiled>> Whole =
      (*Made)->compileOtherwise(Text, !Source);
  if (!Whole)
    return Whole.takeError();
  return *Whole ? Maker.make(**Whole) : std::move(Apart);
}
