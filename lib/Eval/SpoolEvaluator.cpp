//===- SpoolEvaluator.cpp - A GPU somewhere else -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   build -> DIR/jobs/ID, complete at once by a rename -> later
///   DIR/results/ID.json
/// The source's library is the same in all jobs of a run, so it is in
/// DIR/libraries, once. Who works them off comes by itself, or is seen to by
/// SpoolWorkers.
/// The same command finds its job or its result again, because the id follows
/// from the content.
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "JobProgram.h"
#include "LibraryBuilder.h"
#include "SlurmWorkers.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

using namespace stark;
using llvm::sys::fs::exists;

/// How often is looked for a result: after a share of what was waited already.
static constexpr std::chrono::milliseconds LookSoonest(2), LookLatest(100);
static constexpr unsigned LookShare = 20;
/// How long a source's library stays.
static constexpr std::chrono::hours KeepLibraries(30 * 24);

namespace {
class SpoolEvaluator : public Evaluator {
public:
  SpoolEvaluator(const Task &Of, std::string Folder, EvaluatorOptions Options,
                 Clock &Time, std::unique_ptr<SpoolWorkers> Workers)
      : Of(Of), Folder(std::move(Folder)), Options(std::move(Options)),
        Time(Time), Workers(std::move(Workers)),
        Libraries(Of, this->Options.Build) {}
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  void prepare(const Candidate &C) override { Libraries.prepare(C); }
  void begin(const Candidate &C) override;
  std::string identity() const override { return Workers->identity(); }

private:
  /// Sees to it that the job is in the folder, or its result. A verdict where
  /// it does not come to that.
  llvm::Expected<std::optional<Verdict>> ensure(job::Job &J,
                                                const Candidate &C);
  llvm::Expected<std::optional<Verdict>> make(job::Job &J, const Candidate &C);
  llvm::Error submit(job::Job &J, const Candidate &C, const BuildResult &Built);
  /// Puts a source's library into the folder, unless it is there. Its digest.
  llvm::Expected<std::string> post(llvm::StringRef Library);
  llvm::Error wait(const job::Job &J, llvm::StringRef File, const Candidate &C);
  /// \p Awaited: it has just come.
  llvm::Expected<Verdict> read(const job::Job &J, llvm::StringRef File,
                               bool Awaited);
  std::string resultOf(const job::Job &J) const {
    return Folder + "/results/" + J.Id + ".json";
  }

  const Task &Of;
  std::string Folder;
  EvaluatorOptions Options;
  Clock &Time;
  std::unique_ptr<SpoolWorkers> Workers;
  LibraryBuilder Libraries;
  std::mutex Guard;               ///< of what follows
  std::set<std::string> Building; ///< jobs that are built and put there now
  std::condition_variable Built;
  std::map<std::string, Verdict> NotBuilt;   ///< by job, of this process
  std::mutex Posting;                        ///< guards what follows
  std::map<std::string, std::string> Posted; ///< digests, by library
};

/// Whoever has a GPU starts `stark-worker --spool`.
class StartedByHand : public SpoolWorkers {
public:
  explicit StartedByHand(std::string Folder) : Folder(std::move(Folder)) {}
  void posted() override {}
  llvm::Error attend() override { return llvm::Error::success(); }
  std::string waitsFor() override { return ""; }
  std::string identity() const override { return "spool"; }
  llvm::Error late(const std::string &Job) override {
    return suspended(Job + " waits in " + Folder +
                     "/jobs; have `stark-worker --spool " + Folder +
                     "` work it off on the machine with the GPU, then run the "
                     "same command again");
  }
  std::string interrupted() const override {
    return "goes on; the same command waits for its result again";
  }

private:
  std::string Folder;
};
} // namespace

/// Removes what was posted long ago; a search that goes on posts its own again.
static void removeUnused(llvm::StringRef Libraries) {
  std::error_code Error;
  auto Oldest = std::chrono::system_clock::now() - KeepLibraries;
  for (llvm::sys::fs::directory_iterator I(Libraries, Error), End;
       I != End && !Error; I.increment(Error)) {
    llvm::sys::fs::file_status Status;
    if (!llvm::sys::fs::status(I->path(), Status, /*follow=*/false) &&
        Status.getLastModificationTime() < Oldest)
      llvm::sys::fs::remove(I->path());
  }
}

llvm::Expected<std::string> SpoolEvaluator::post(llvm::StringRef Library) {
  std::lock_guard<std::mutex> Held(Posting);
  std::string Libraries = Folder + "/libraries";
  auto Known = Posted.find(Library.str());
  if (Known != Posted.end() && exists(Libraries + "/" + Known->second + ".so"))
    return Known->second;
  llvm::Expected<std::string> Bytes = readFile(Library);
  if (!Bytes)
    return Bytes.takeError();
  std::string Digest = sha256(*Bytes);
  if (llvm::Error E =
          writeFileAtomically(Libraries + "/" + Digest + ".so", *Bytes))
    return E;
  removeUnused(Libraries);
  Posted.insert_or_assign(Library.str(), Digest);
  return Digest;
}

llvm::Error SpoolEvaluator::submit(job::Job &J, const Candidate &C,
                                   const BuildResult &Built) {
  llvm::Expected<const BuildResult *> Source = Libraries.source(Built);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::string> Shared = post((*Source)->Library);
  if (!Shared)
    return Shared.takeError();
  J.SharedSource = std::move(*Shared);
  J.Compiler = Built.Diagnostics;
  J.Precision = Built.Precision;
  J.AsyncBarriers = Built.AsyncBarriers;
  // A name with a leading dot is not a job yet.
  std::string Made = Folder + "/jobs/." + J.Id + "-" +
                     std::to_string(llvm::sys::Process::getProcessId());
  llvm::Error E = writeJob(Of, J, C, Made);
  if (!E)
    E = copyFile(Built.Library, Made + "/" + J.CandidateLibrary);
  if (!E)
    if (std::error_code Code =
            llvm::sys::fs::rename(Made, Folder + "/jobs/" + J.Id);
        Code && !exists(Folder + "/jobs/" + J.Id))
      E = failed(Folder + "/jobs/" + J.Id +
                 ": cannot be created: " + Code.message());
  llvm::sys::fs::remove_directories(Made);
  if (!E)
    Workers->posted();
  return E;
}

llvm::Expected<Verdict>
SpoolEvaluator::read(const job::Job &J, llvm::StringRef File, bool Awaited) {
  llvm::Expected<job::Result> R = readResult(File);
  if (!R)
    return R.takeError();
  if (Awaited)
    traceStages("stark-worker", *R);
  llvm::Expected<Verdict> V = verdictOf(Of, J, *R);
  if (V || R->End != job::Outcome::Infrastructure)
    return V;
  // Kept to look at, but out of the way: the next run asks again.
  std::string Aside = (File + ".failed").str();
  if (!llvm::sys::fs::rename(File, Aside))
    return withContext(V.takeError(), Aside);
  return V;
}

llvm::Expected<std::optional<Verdict>>
SpoolEvaluator::ensure(job::Job &J, const Candidate &C) {
  std::unique_lock<std::mutex> Held(Guard);
  // The same text may be another attempt's, too.
  Built.wait(Held, [&] { return !Building.count(J.Id); });
  if (exists(resultOf(J)) || exists(Folder + "/jobs/" + J.Id) ||
      exists(Folder + "/claimed/" + J.Id))
    return std::nullopt;
  if (auto Known = NotBuilt.find(J.Id); Known != NotBuilt.end())
    return Known->second;
  Building.insert(J.Id);
  Held.unlock();
  llvm::Expected<std::optional<Verdict>> Made = make(J, C);
  Held.lock();
  Building.erase(J.Id);
  if (Made && *Made)
    NotBuilt.emplace(J.Id, **Made);
  Built.notify_all();
  return Made;
}

/// A verdict where it is not built.
llvm::Expected<std::optional<Verdict>>
SpoolEvaluator::make(job::Job &J, const Candidate &C) {
  llvm::Expected<BuildResult> Found = Libraries.candidate(C);
  if (!Found)
    return Found.takeError();
  if (!Found->Ok)
    return verdictOf(*Found);
  if (llvm::Error E = submit(J, C, *Found))
    return E;
  return std::nullopt;
}

void SpoolEvaluator::begin(const Candidate &C) {
  llvm::Expected<job::Job> J = makeJob(Of, C, Options);
  if (!J)
    return llvm::consumeError(J.takeError());
  llvm::Expected<std::optional<Verdict>> Refused = ensure(*J, C);
  if (!Refused)
    llvm::consumeError(Refused.takeError());
}

llvm::Expected<Verdict> SpoolEvaluator::evaluate(const Candidate &C) {
  llvm::Expected<job::Job> J = makeJob(Of, C, Options);
  if (!J)
    return J.takeError();
  std::string File = resultOf(*J);
  bool Here = exists(File);
  if (!Here) {
    llvm::Expected<std::optional<Verdict>> Refused = ensure(*J, C);
    if (!Refused)
      return Refused.takeError();
    if (*Refused)
      return std::move(**Refused);
    if (llvm::Error E = wait(*J, File, C))
      return E;
  }
  return read(*J, File, /*Awaited=*/!Here);
}

llvm::Error SpoolEvaluator::wait(const job::Job &J, llvm::StringRef File,
                                 const Candidate &C) {
  TraceScope Traced("wait for worker", J.Id);
  const std::string Job = "job " + J.Id;
  bool Told = !C.OnWait;
  const Clock::Time Start = Time.now();
  const Clock::Duration Most = std::chrono::milliseconds(Options.WaitMs);
  while (!exists(File)) {
    if (interruptFlag())
      return interrupted(Job + " " + Workers->interrupted());
    if (llvm::Error E = Workers->attend())
      return E;
    if (std::string Why = Told ? "" : Workers->waitsFor(); !Why.empty()) {
      C.OnWait(Why);
      Told = true;
    }
    const Clock::Duration Waited = Time.now() - Start, Left = Most - Waited;
    if (Left <= Clock::Duration())
      return Workers->late(Job);
    Time.sleep(
        std::min(Left, std::clamp<Clock::Duration>(Waited / LookShare,
                                                   LookSoonest, LookLatest)));
  }
  return llvm::Error::success();
}

llvm::Error stark::makeSpool(const std::string &Folder) {
  for (const char *Part : {"/jobs", "/libraries", "/results"})
    if (llvm::Error E = createFolders(Folder + Part))
      return E;
  return llvm::Error::success();
}

/// Makes what a spool has, and fills in the architecture of its workers' GPU.
/// \p Name: the evaluator's. \p Start: what else the user can do.
static llvm::Error prepareFolder(const std::string &Folder,
                                 const std::string &Name,
                                 const std::string &Start,
                                 EvaluatorOptions &Options) {
  if (llvm::Error E = makeSpool(Folder))
    return E;
  if (!Options.Build.Arch.empty())
    return llvm::Error::success();
  std::string File = Folder + "/device.json";
  llvm::Expected<std::string> Text = readText(File);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return usageError(Name +
                      ": no worker has said yet which GPU it has; name "
                      "its architecture, such as --arch sm_90" +
                      Start);
  }
  llvm::Expected<gpu::DeviceFacts> D = parseDevice(*Text, File);
  if (!D)
    return D.takeError();
  Options.Build.Arch = D->Arch;
  return llvm::Error::success();
}

std::unique_ptr<Evaluator>
stark::makeSpoolEvaluator(const Task &T, llvm::StringRef Folder,
                          const EvaluatorOptions &Options, Clock &Time,
                          std::unique_ptr<SpoolWorkers> Workers) {
  return std::make_unique<SpoolEvaluator>(T, Folder.str(), Options, Time,
                                          std::move(Workers));
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeSpoolEvaluator(const Task &T, llvm::StringRef Folder,
                          const EvaluatorOptions &Options, Clock &Time) {
  EvaluatorOptions Full = Options;
  std::string Where = absolutePath(Folder);
  if (llvm::Error E = prepareFolder(
          Where, ("spool:" + Folder).str(),
          (", or start `stark-worker --spool " + Folder + "` first").str(),
          Full))
    return E;
  return makeSpoolEvaluator(T, Where, Full, Time,
                            std::make_unique<StartedByHand>(Where));
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeSlurmEvaluator(const Task &T, const EvaluatorSpec &Spec,
                          const EvaluatorOptions &Options, Clock &Time) {
  EvaluatorOptions Full = Options;
  std::string Where = absolutePath(Spec.folder());
  std::string Worker = Spec.Slurm.Worker;
  if (Worker.empty())
    Worker = absolutePath(workerPath(Options));
  llvm::Expected<std::unique_ptr<SlurmQueue>> Queue =
      makeSlurmQueue(Spec.Slurm, Where, Worker);
  if (!Queue)
    return Queue.takeError();
  if (llvm::Error E = prepareFolder(Where, slurmIdentity(Spec.Slurm), "", Full))
    return E;
  return makeSpoolEvaluator(
      T, Where, Full, Time,
      makeSlurmWorkers(std::move(*Queue), Spec.Slurm, Where, Time));
}
