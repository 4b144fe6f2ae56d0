//===- SlurmWorkers.cpp - Workers that Slurm starts -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   jobs/ and claimed/ say how many workers are wanted, squeue how many there
/// are; the rest is submitted as one array. A worker takes jobs until it was
/// idle for a while. What it had claimed when it was lost is taken up by
/// another.
///
//===----------------------------------------------------------------------===//

#include "SlurmWorkers.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <mutex>

using namespace stark;
namespace fs = llvm::sys::fs;

static constexpr std::chrono::seconds Soonest(1), Latest(30);
/// In a row, without a result.
static constexpr unsigned MostLosses = 4;
/// In a row: Slurm's controller may be started anew.
static constexpr unsigned MostUnanswered = 5;
/// Of what a worker printed.
static constexpr size_t MostBytes = 400;

namespace {
class SlurmWorkers : public SpoolWorkers {
public:
  SlurmWorkers(std::unique_ptr<SlurmQueue> Queue, const SlurmJobs &Asked,
               llvm::StringRef Folder, Clock &Time)
      : Queue(std::move(Queue)), Asked(Asked), Folder(Folder), Time(Time),
        Next(Time.now()), Looked(Next), NotBefore(Next) {}
  ~SlurmWorkers() override;
  void posted() override;
  llvm::Error attend() override;
  std::string waitsFor() override;
  std::string identity() const override { return slurmIdentity(Asked); }
  llvm::Error late(const std::string &Job) override;
  std::string interrupted() const override {
    return "stays; its worker is cancelled, and the same command asks for one "
           "again";
  }

private:
  size_t jobsLeft() const;
  void noteResults();
  llvm::Error provide(const std::vector<SlurmQueue::Worker> &Found,
                      size_t Jobs);
  llvm::Error submit(size_t Count, size_t Live);
  std::string lastWords() const;

  std::unique_ptr<SlurmQueue> Queue;
  const SlurmJobs Asked;
  std::string Folder;
  Clock &Time;
  std::mutex Guard; ///< of what follows
  Clock::Time Next, Looked, NotBefore;
  Clock::Duration Every = Soonest;
  size_t Expected = 0;     ///< workers that there should be
  unsigned Losses = 0;     ///< in a row, without a result
  unsigned Unanswered = 0; ///< in a row
  fs::file_status Results; ///< of their folder, when it was looked at last
  std::string Last;        ///< number of the job submitted last
  std::string Why;         ///< none of them is at work
};
} // namespace

SlurmWorkers::~SlurmWorkers() {
  // What is interrupted may have been queued by another evaluator.
  if (interruptFlag() || (Expected && !jobsLeft()))
    llvm::consumeError(Queue->cancel());
}

void SlurmWorkers::posted() {
  std::lock_guard<std::mutex> Held(Guard);
  Next = std::min(Next, Looked + Soonest);
}

std::string SlurmWorkers::waitsFor() {
  std::lock_guard<std::mutex> Held(Guard);
  return Why;
}

llvm::Error SlurmWorkers::late(const std::string &Job) {
  std::string Reason = waitsFor();
  return suspended(
      Job + " waits in " + Folder + "/jobs for a worker of Slurm's" +
      (Reason.empty() ? "" : ": " + Reason) + "; run the same command again");
}

/// Names with a leading dot are no jobs; what has a result is about to go.
size_t SlurmWorkers::jobsLeft() const {
  size_t Count = 0;
  std::error_code Error;
  for (const char *Place : {"/jobs", "/claimed"})
    for (fs::directory_iterator I(Folder + Place, Error), End;
         I != End && !Error; I.increment(Error)) {
      llvm::StringRef Job = llvm::sys::path::filename(I->path());
      Count += !Job.starts_with(".") &&
               !fs::exists(Folder + "/results/" + Job + ".json");
    }
  return Count;
}

/// A result is renamed into its folder, whose time changes.
void SlurmWorkers::noteResults() {
  fs::file_status Now;
  if (fs::status(Folder + "/results", Now))
    return;
  if (Now.getLastModificationTime() != Results.getLastModificationTime()) {
    Losses = 0;
    Every = Soonest;
  }
  Results = Now;
}

llvm::Error SlurmWorkers::attend() {
  std::lock_guard<std::mutex> Held(Guard);
  if (Time.now() < Next)
    return llvm::Error::success();
  size_t Jobs = jobsLeft();
  if (!Jobs)
    return llvm::Error::success();
  noteResults();
  llvm::Expected<std::vector<SlurmQueue::Worker>> Found = Queue->workers();
  llvm::Error E = llvm::Error::success();
  if (Found)
    E = provide(*Found, Jobs);
  else if (llvm::Error Failed = Found.takeError();
           errorKind(Failed) == ErrorKind::Interrupted ||
           ++Unanswered == MostUnanswered)
    E = llvm::joinErrors(std::move(E), std::move(Failed));
  else
    llvm::consumeError(std::move(Failed));
  Looked = Time.now();
  Next = Looked + Every;
  Every = std::min<Clock::Duration>(2 * Every, Latest);
  return E;
}

llvm::Error SlurmWorkers::provide(const std::vector<SlurmQueue::Worker> &Found,
                                  size_t Jobs) {
  Unanswered = 0;
  std::string NoneRuns, Kept;
  size_t Live = 0, Running = 0;
  for (const SlurmQueue::Worker &W : Found) {
    std::string Text = W.Id + " (" + W.State + ", " + W.Reason + ")";
    if (W.State == "REQUEUE_HOLD" || W.State == "SPECIAL_EXIT" ||
        (W.State == "PENDING" &&
         llvm::StringRef(W.Reason).contains_insensitive("held"))) {
      Kept = Text;
      continue;
    }
    ++Live;
    Running += W.State == "RUNNING";
    if (NoneRuns.empty())
      NoneRuns = "Slurm has not started job " + Text + " yet";
  }
  Why = Running ? "" : NoneRuns;
  if (!Live && !Kept.empty())
    return failed("slurm: job " + Kept +
                  " is held; `scontrol release` or "
                  "`scancel` it, then run the same command again");
  if (Live < Expected) {
    Every = Soonest;
    if (!Live && Losses == MostLosses)
      return failed("slurm: " + llvm::Twine(Losses + 1) +
                    " times in a row all workers ended without a result; " +
                    lastWords());
    if (Losses++)
      NotBefore =
          Time.now() +
          std::min<Clock::Duration>(
              std::chrono::seconds(1 << std::min(Losses - 1, 5u)), Latest);
  }
  Expected = Live;
  size_t Wanted = std::min<size_t>(Jobs, Asked.Workers);
  if (Live < Wanted && Time.now() >= NotBefore)
    return submit(Wanted - Live, Live);
  return llvm::Error::success();
}

/// More than there are \p Live.
llvm::Error SlurmWorkers::submit(size_t Count, size_t Live) {
  if (llvm::Error E = createFolders(Folder + "/slurm"))
    return E;
  llvm::Expected<std::string> Job = Queue->submit(unsigned(Count));
  if (!Job && Live && !interruptFlag()) {
    // Fewer do as well: a limit of jobs may be reached.
    llvm::consumeError(Job.takeError());
    return llvm::Error::success();
  }
  if (!Job)
    return Job.takeError();
  Last = *Job;
  Expected = Live + Count;
  Every = Soonest;
  return llvm::Error::success();
}

/// Of the worker that was submitted last.
std::string SlurmWorkers::lastWords() const {
  std::string File = Folder + "/slurm/" + Last + "_0.log";
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return "the last was job " + Last + ", which printed nothing";
  }
  std::string End = llvm::StringRef(*Text).trim().take_back(MostBytes).str();
  for (char &C : End)
    C = C == '\n' || llvm::isPrint(C) ? C : '?';
  return "the last, job " + Last + ", said in " + File + ":\n" + End;
}

std::unique_ptr<SpoolWorkers>
stark::makeSlurmWorkers(std::unique_ptr<SlurmQueue> Queue,
                        const SlurmJobs &Asked, llvm::StringRef Folder,
                        Clock &Time) {
  return std::make_unique<SlurmWorkers>(std::move(Queue), Asked, Folder, Time);
}
