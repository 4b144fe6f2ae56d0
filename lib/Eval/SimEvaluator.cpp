//===- SimEvaluator.cpp - A simulated GPU as the judge -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + candidate -> job folder -> stark-sim as a child -> verdict
///            candidate -> job folder -> stark-sim as a child -> counters
/// A job folder holds two texts; of entries of tensors, the kernels' texts and
/// two libraries of host code.
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "JobProgram.h"
#include "LibraryBuilder.h"
#include "PtxasResources.h"
#include "Reach.h"
#include "stark/AST/Torch.h"
#include "stark/Eval/Profiler.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <mutex>

using namespace stark;

namespace {
/// Bytes of counters that a plan agent is shown.
constexpr size_t CountersLimit = 4000;

/// What else a run of the candidate alone is to tell.
enum class Asked { Counters, Reach };

/// What stark-sim is given of a task: texts, and libraries where the entry
/// takes tensors.
class SimJobs {
public:
  SimJobs(const Task &Of, std::string Gpu, const EvaluatorOptions &Options);
  /// Runs stark-sim on \p J, for itself when \p Alone; unset when that takes
  /// longer than \p LimitMs, or too much memory, or when it crashes, which
  /// \p Crash then says. A verdict when \p C does not build.
  llvm::Expected<std::optional<job::Result>>
  run(const job::Job &J, const Candidate &C, bool Alone, uint64_t LimitMs,
      std::optional<Verdict> &NotBuilt, std::string &Crash,
      Asked What = Asked::Counters);
  /// What says nothing of \p C and runs nothing is begun.
  void prepare(const Candidate &C);

  const Task &Of;
  std::string Gpu;
  EvaluatorOptions Options;

private:
  llvm::Error write(const job::Job &J, const Candidate &C, bool Alone,
                    llvm::StringRef Folder);
  llvm::Error writeTensors(const job::Job &J, const Candidate &C, bool Alone,
                           llvm::StringRef Folder,
                           std::optional<Verdict> &NotBuilt);
  /// Has ptxas look at both texts, where there is an nvcc.
  llvm::Expected<std::optional<sim::ResourceFiles>>
  askPtxas(llvm::StringRef Source, llvm::StringRef Text);
  /// The path of the observer's library, built once.
  llvm::Expected<std::string> observer();

  std::unique_ptr<PtxasResources> Ptxas; ///< null: registers are estimated
  std::mutex Guard; ///< of what follows, for entries of tensors
  LibraryBuilder Libraries;
  std::unique_ptr<TemporaryFolder> ObserverFolder;
};

class SimEvaluator : public Evaluator {
public:
  SimEvaluator(const Task &Of, std::string Gpu, const EvaluatorOptions &Options)
      : Jobs(Of, std::move(Gpu), Options) {}
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  void prepare(const Candidate &C) override { Jobs.prepare(C); }
  std::string identity() const override { return "sim:" + Jobs.Gpu; }

private:
  SimJobs Jobs;
};

class SimProfiler : public Profiler {
public:
  SimProfiler(const Task &Of, std::string Gpu, const EvaluatorOptions &Options)
      : Jobs(Of, std::move(Gpu), Options) {}
  llvm::Expected<Counters> profile(const Candidate &C) override;

private:
  SimJobs Jobs;
};
} // namespace

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
  return runJob({Options.Sim, std::move(Arguments), LimitMs, -1,
                 Options.SimMemoryLimit, -1, &Crash},
                Folder->path());
}

/// What \p C does to the simulator is its own fault, unless it is the source.
static llvm::Expected<Verdict> notEnded(const Candidate &C,
                                        const EvaluatorOptions &Options,
                                        const std::string &Crash) {
  std::string Why =
      Crash.empty()
          ? "stark-sim did not end within " +
                std::to_string(Options.SimLimitMs / 1000) + " s and " +
                std::to_string(Options.SimMemoryLimit >> 20) + " MiB"
          : "stark-sim crashed on it with " + Crash;
  if (C.Node == 0)
    return failed(Why);
  Verdict V;
  // Its children are what runs a candidate: what crashes compiles.
  V.Kind = Crash.empty() ? VerdictKind::TimedOut : VerdictKind::NotCompiled;
  (Crash.empty() ? V.Run : V.Compiler) = std::move(Why);
  return V;
}

llvm::Expected<Verdict> SimEvaluator::evaluate(const Candidate &C) {
  llvm::Expected<job::Job> J = makeSimJob(Jobs.Of, C, Jobs.Options);
  if (!J)
    return J.takeError();
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R = Jobs.run(
      *J, C, /*Alone=*/false, Jobs.Options.SimLimitMs, NotBuilt, Crash);
  if (!R)
    return R.takeError();
  if (NotBuilt)
    return std::move(*NotBuilt);
  if (!*R)
    return notEnded(C, Jobs.Options, Crash);
  return verdictOf(Jobs.Of, *J, **R);
}

llvm::Expected<Counters> SimProfiler::profile(const Candidate &C) {
  const EvaluatorOptions &Options = Jobs.Options;
  llvm::Expected<job::Job> J = makeSimJob(Jobs.Of, C, Options);
  if (!J)
    return J.takeError();
  // It stands for itself: nothing is compared, and no other text is run.
  J->SourceDigest = J->CandidateDigest;
  J->Torch.clear();
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R =
      Jobs.run(*J, C, /*Alone=*/true, Options.TimeoutMs, NotBuilt, Crash);
  if (!R)
    return R.takeError();
  Counters Found;
  Found.Device = *R ? (*R)->Device : "simulated " + Jobs.Gpu;
  if (NotBuilt) {
    Found.Problem = trimForWindow(NotBuilt->Compiler + NotBuilt->Run, 600);
    return Found;
  }
  if (!Crash.empty()) {
    Found.Problem = "the simulator crashed on it with " + Crash;
    return Found;
  }
  if (*R && (*R)->End == job::Outcome::Correct) {
    Found.Text = trimForWindow((*R)->Diagnostics, CountersLimit);
    return Found;
  }
  Found.TooSlow = !*R || (*R)->End == job::Outcome::TimedOut;
  if (Found.TooSlow) {
    Found.Problem = "the simulator did not end within " +
                    std::to_string(Options.TimeoutMs / 1000) + " s";
  } else {
    Found.Problem = trimForWindow(
        (*R)->Diagnostics.empty() ? (*R)->Compiler : (*R)->Diagnostics, 600);
    if (Found.Problem.empty())
      Found.Problem =
          "the simulator found it " + std::string(nameOf((*R)->End));
  }
  return Found;
}

static llvm::Expected<EvaluatorOptions>
withSim(const EvaluatorOptions &Options) {
  EvaluatorOptions Full = Options;
  if (Full.Sim.empty())
    Full.Sim = programFolder() + "/stark-sim";
  if (!llvm::sys::fs::can_execute(Full.Sim))
    return failed("no stark-sim at " + Full.Sim);
  return Full;
}

/// Values that are all the same, so that none of them picks what is read.
static job::Init withoutChoice(const job::Init &Fill, job::DType Type) {
  job::Init Same;
  Same.Kind = job::InitKind::Constant;
  bool Whole = Fill.Kind == job::InitKind::Uniform ||
               Fill.Kind == job::InitKind::Integers ||
               Fill.Kind == job::InitKind::Constant;
  Same.Low = Whole && job::isWhole(Type) ? Fill.Low : 0;
  return Same;
}

/// The lines of "x 4096 4096 0".
static std::optional<WholeArguments> parseReach(llvm::StringRef Text) {
  WholeArguments Seen;
  for (llvm::StringRef Line : llvm::split(Text.trim(), '\n')) {
    llvm::SmallVector<llvm::StringRef> Parts;
    Line.split(Parts, ' ');
    uint64_t Bytes = 0, Read = 0, Written = 0;
    if (Parts.size() != 4 || Parts[1].getAsInteger(10, Bytes) ||
        Parts[2].getAsInteger(10, Read) || Parts[3].getAsInteger(10, Written))
      return std::nullopt;
    if (Read == Bytes)
      Seen.Read.insert(Parts[0].str());
    if (Written == Bytes)
      Seen.Written.insert(Parts[0].str());
  }
  return Seen;
}

llvm::Expected<std::optional<WholeArguments>>
stark::reachOfSource(const Task &T, bool SameValues,
                     const EvaluatorOptions &Options) {
  if (isTensorEntry(T.Entry))
    return std::nullopt;
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  Candidate C;
  C.Seed = 1;
  C.Text = T.SourceText;
  llvm::Expected<job::Job> J = makeSimJob(T, C, *Full);
  if (!J)
    return J.takeError();
  J->SourceDigest = J->CandidateDigest;
  for (size_t I = 0; SameValues && I < J->Leaves.size(); ++I) {
    job::Leaf &L = J->Leaves[I];
    for (job::Case &Each : J->Cases)
      if (Each.Values[I].Fill)
        Each.Values[I].Fill = withoutChoice(*Each.Values[I].Fill, L.Type);
    L.Fill = withoutChoice(L.Fill, L.Type);
  }
  SimJobs Jobs(T, std::string(sim::DefaultGpu) + sim::EstimatedRegisters,
               *Full);
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R = Jobs.run(
      *J, C, /*Alone=*/true, Full->SimLimitMs, NotBuilt, Crash, Asked::Reach);
  if (!R)
    return R.takeError();
  if (!*R || (*R)->End != job::Outcome::Correct)
    return std::nullopt;
  return parseReach((*R)->Diagnostics);
}

template <class Made>
static llvm::Expected<std::unique_ptr<Made>>
makeWithSim(const Task &T, llvm::StringRef Gpu,
            const EvaluatorOptions &Options) {
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  return std::make_unique<Made>(T, Gpu.str(), *Full);
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeSimEvaluator(const Task &T, llvm::StringRef Gpu,
                        const EvaluatorOptions &Options) {
  return makeWithSim<SimEvaluator>(T, Gpu, Options);
}

llvm::Expected<std::unique_ptr<Profiler>>
stark::makeSimProfiler(const Task &T, llvm::StringRef Gpu,
                       const EvaluatorOptions &Options) {
  if (isTensorEntry(T.Entry))
    return usageError("'" + T.Entry.Name +
                      "' takes tensors, which are simulated without counters");
  return makeWithSim<SimProfiler>(T, Gpu, Options);
}
