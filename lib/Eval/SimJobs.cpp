//===- SimJobs.cpp - What stark-sim is given of a task --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimJobs.h"
#include "JobProgram.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace stark;

static BuildOptions simulated(const Task &T, BuildOptions Options) {
  Options.Simulated = true;
  if (Options.Arch.empty())
    Options.Arch = T.Parse.Arch;
  return Options;
}

SimJobs::SimJobs(const Task &Of, std::string Gpu,
                 const EvaluatorOptions &Options)
    : Of(Of), Gpu(std::move(Gpu)), Options(Options),
      Libraries(Of, simulated(Of, Options.Build)) {
  const char *Said = std::getenv("STARK_SIM_REGISTERS");
  if (llvm::StringRef(this->Gpu).ends_with(sim::EstimatedRegisters) ||
      (Said && llvm::StringRef(Said) == "estimated"))
    return;
  Ptxas = std::make_unique<PtxasResources>(Of, this->Gpu,
                                           simulated(Of, Options.Build));
  if (!Ptxas->available())
    Ptxas.reset();
}

static std::string trampoline(const Task &T) {
  return "\n#line 1 \"stark-trampoline\"\n" + makeTrampoline(T);
}

void SimJobs::prepare(const Candidate &C) {
  if (!Ptxas || isTensorEntry(Of.Entry))
    return;
  // What cannot be begun now is told when it is asked for.
  llvm::Expected<std::string> File = Ptxas->begin(C.Text + trampoline(Of));
  if (!File)
    llvm::consumeError(File.takeError());
}

llvm::Expected<std::optional<sim::ResourceFiles>>
SimJobs::askPtxas(llvm::StringRef Source, llvm::StringRef Text) {
  if (!Ptxas)
    return std::nullopt;
  sim::ResourceFiles Files;
  Files.WaitMs = Ptxas->waitMs();
  for (auto [Of, File] :
       {std::pair(Source, &Files.Source), std::pair(Text, &Files.Candidate)}) {
    llvm::Expected<std::string> Begun = Ptxas->begin(Of);
    if (!Begun)
      return Begun.takeError();
    *File = std::move(*Begun);
  }
  return std::optional(std::move(Files));
}

llvm::Error SimJobs::write(const job::Job &J, const Candidate &C, bool Alone,
                           llvm::StringRef Folder) {
  std::string Text = C.Text + trampoline(Of),
              Source = Alone ? Text : Of.SourceText + trampoline(Of);
  llvm::Expected<std::optional<sim::ResourceFiles>> Resources =
      askPtxas(Source, Text);
  if (!Resources)
    return Resources.takeError();
  if (!Alone)
    Source += makeReferenceTrampoline(Of);
  return writeSimFolder(Of, J, Source, Text, Folder, std::nullopt,
                        std::move(*Resources));
}

llvm::Expected<std::string> SimJobs::observer() {
  if (!ObserverFolder) {
    llvm::Expected<TemporaryFolder> Made =
        TemporaryFolder::create("stark-observer");
    if (!Made)
      return Made.takeError();
    if (llvm::Error E = buildObserver(Of, (Made->path() + "/observer.so").str(),
                                      simulated(Of, Options.Build)))
      return E;
    ObserverFolder = std::make_unique<TemporaryFolder>(std::move(*Made));
  }
  return (ObserverFolder->path() + "/observer.so").str();
}

llvm::Error SimJobs::writeTensors(const job::Job &J, const Candidate &C,
                                  bool Alone, llvm::StringRef Folder,
                                  std::optional<Verdict> &NotBuilt) {
  std::lock_guard Lock(Guard);
  llvm::Expected<BuildResult> Built = Libraries.candidate(C);
  if (!Built)
    return Built.takeError();
  if (!Built->Ok) {
    NotBuilt = verdictOf(*Built);
    return llvm::Error::success();
  }
  llvm::Expected<const BuildResult *> Source = Libraries.source(*Built);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::string> Observer = observer();
  if (!Observer)
    return Observer.takeError();
  llvm::Expected<posix::Libtorch> Torch = torchFor(Of.Parse);
  if (!Torch)
    return Torch.takeError();
  const BuildResult &Reference = Alone ? *Built : **Source;
  sim::HostLibraries Host;
  Host.Source = "source.so";
  Host.Candidate = "candidate.so";
  Host.Preload = Torch->hostLibraryFiles();
  Host.Preload.push_back("observer.so");
  Host.SearchPath = Torch->searchPath();
  for (auto [From, To] : {std::pair(Reference.Library, Host.Source),
                          std::pair(Built->Library, Host.Candidate),
                          std::pair(*Observer, Host.Preload.back())})
    if (std::error_code E =
            llvm::sys::fs::copy_file(From, (Folder + "/" + To).str()))
      return failed("cannot copy " + From + ": " + E.message());
  llvm::Expected<std::optional<sim::ResourceFiles>> Resources =
      askPtxas(Reference.Device, Built->Device);
  if (!Resources)
    return Resources.takeError();
  return writeSimFolder(Of, J, Reference.Device, Built->Device, Folder, Host,
                        std::move(*Resources));
}

llvm::Expected<std::optional<job::Result>>
SimJobs::run(const job::Job &J, const Candidate &C, bool Alone,
             uint64_t LimitMs, std::optional<Verdict> &NotBuilt,
             std::string &Crash, Asked What) {
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("stark-sim");
  if (!Folder)
    return Folder.takeError();
  if (llvm::Error E = isTensorEntry(Of.Entry)
                          ? writeTensors(J, C, Alone, Folder->path(), NotBuilt)
                          : write(J, C, Alone, Folder->path()))
    return E;
  if (NotBuilt)
    return std::nullopt;
  std::vector<std::string> Arguments = {"--gpu=" + Gpu};
  if (Alone)
    Arguments.push_back(What == Asked::Reach ? "--reach" : "--counters");
  return runJob({Options.Sim, std::move(Arguments), LimitMs,
                 Options.SimMemoryLimit, &Crash},
                Folder->path());
}

llvm::Expected<EvaluatorOptions>
stark::withSim(const EvaluatorOptions &Options) {
  EvaluatorOptions Full = Options;
  if (Full.Sim.empty())
    Full.Sim = programFolder() + "/stark-sim";
  if (!llvm::sys::fs::can_execute(Full.Sim))
    return failed("no stark-sim at " + Full.Sim);
  return Full;
}
