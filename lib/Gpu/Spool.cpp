//===- Spool.cpp - Works off a folder of jobs ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A job that is corrupt gets a result that says so; one that was claimed by
///   a
/// worker that is gone is taken up again.
///
//===----------------------------------------------------------------------===//

#include "stark/Gpu/Spool.h"
#include "HeldBack.h"
#include "SpoolLibraries.h"
#include "stark/Job/Names.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/File.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
/// After a failure the device gets this many chances to give right answers.
constexpr unsigned Chances = 3;
constexpr std::chrono::seconds BetweenChances(1);
/// How often to look for more jobs.
constexpr std::chrono::milliseconds LookEvery(200);

std::vector<std::string> entriesOf(const fs::path &Folder) {
  std::vector<std::string> Names;
  std::error_code Ignored;
  for (const fs::directory_entry &E : fs::directory_iterator(Folder, Ignored)) {
    std::string Name = E.path().filename().string();
    // Names with a leading dot are still being written.
    if (Name[0] != '.' && E.is_directory(Ignored))
      Names.push_back(Name);
  }
  std::sort(Names.begin(), Names.end());
  return Names;
}

std::string firstLine(const std::string &Text) {
  return Text.substr(0, std::min(Text.find('\n'), size_t(120)));
}

/// "ID correct 812 ms [rows=4096 12.3 us, 1.52x]"
std::string lineFor(const Result &R) {
  std::string Note = R.End == Outcome::Correct ? "" : firstLine(R.Diagnostics);
  for (const Timing &T : R.Timings) {
    char Text[160];
    std::snprintf(Text, sizeof(Text), " [%s %.1f us, %.2fx]", T.Label.c_str(),
                  T.MedianUs, T.Speedup);
    Note += Text;
  }
  return R.Id + " " + nameOf(R.End) + " " + std::to_string(R.WallMs) + " ms" +
         (Note.empty() ? "" : " " + Note);
}

class Spool {
public:
  Spool(const SpoolOptions &Options, Clock &Time, std::string &Error)
      : Options(Options), Time(Time), Error(Error), Libraries(Options.Folder),
        Jobs(fs::path(Options.Folder) / "jobs"),
        Claimed(fs::path(Options.Folder) / "claimed"),
        Results(Options.Results.empty() ? fs::path(Options.Folder) / "results"
                                        : fs::path(Options.Results)) {}
  bool run();

private:
  bool meetDevice();
  bool takeUp(const std::string &Id);
  void work(const std::string &Id);
  Result judge(const std::string &Id);
  void canary();
  void settle() {
    if (Options.Settle)
      Options.Settle();
  }

  const SpoolOptions &Options;
  Clock &Time;
  std::string &Error; ///< not empty: no more jobs are taken
  SpoolLibraries Libraries;
  fs::path Jobs, Claimed, Results;
};
} // namespace

/// After a crash: does the device still give right answers?
void Spool::canary() {
  settle();
  std::string Why;
  for (unsigned I = 0; I < Chances; ++I) {
    DeviceFacts Facts;
    Why.clear();
    if (Options.Probe(Facts, Why))
      return;
    Time.sleep(BetweenChances);
  }
  Error = "the GPU does not work any more: " + Why;
}

Result Spool::judge(const std::string &Id) {
  Result R;
  if (!Libraries.place((Claimed / Id).string(), R.Diagnostics)) {
    R.Id = Id;
    return R;
  }
  R = Options.Judge((Claimed / Id).string());
  if (R.Id == Id)
    return R;
  if (R.End != Outcome::Infrastructure || !R.Id.empty())
    R.Diagnostics =
        "job.json is of job '" + R.Id + "', its folder is '" + Id + "'";
  R.End = Outcome::Infrastructure;
  R.Timings.clear();
  R.Id = Id;
  return R;
}

/// Runs a claimed job and leaves its result.
void Spool::work(const std::string &Id) {
  fs::path Folder = Claimed / Id, File = Results / (Id + ".json");
  std::error_code Ignored;
  if (!fs::exists(File, Ignored)) {
    Result R = judge(Id);
    if (!posix::writeFileAtomically(File.string(), printResult(R), Error))
      return;
    Options.Say(lineFor(R));
    if (R.End == Outcome::Crashed || R.End == Outcome::TimedOut ||
        R.End == Outcome::Infrastructure)
      canary();
    if (Options.Done)
      Options.Done();
  }
  fs::remove_all(Folder, Ignored);
}

/// Claims a job, or one whose worker is gone. False: it is another's.
bool Spool::takeUp(const std::string &Id) {
  fs::path LockPath = Claimed / ("." + Id + ".lock");
  std::string Holder;
  // Held as long as the job is worked on; a dead worker's is free again.
  std::unique_ptr<posix::FileLock> Lock =
      posix::lockFile(LockPath.string(), Holder);
  if (!Lock)
    return false;
  std::error_code Failed;
  if (fs::exists(Jobs / Id, Failed)) {
    fs::remove_all(Claimed / Id, Failed); // left by a worker that is gone
    fs::rename(Jobs / Id, Claimed / Id, Failed);
    if (Failed)
      return false;
  } else if (!fs::exists(Claimed / Id, Failed)) {
    return false;
  }
  work(Id);
  fs::remove(LockPath, Failed);
  return true;
}

/// The jobs stay where they are, for a worker that has a device.
bool Spool::meetDevice() {
  DeviceFacts Facts;
  if (!Options.Probe(Facts, Error))
    return false;
  // Evaluators that were not told read the architecture from here.
  std::string Problem;
  if (!posix::writeFileAtomically(
          (fs::path(Options.Folder) / "device.json").string(),
          printFacts(Facts) + "\n", Problem))
    Options.Warn(Problem);
  char Figures[80];
  std::snprintf(Figures, sizeof(Figures),
                "copy %.0f GB/s, empty event pair %.2f us", Facts.CopyGBs,
                Facts.EventPairUs);
  Options.Say(Facts.Name + ", " + Facts.Driver + ", " + Facts.Arch + ", " +
              Figures + ", children locked down by " + Facts.Lockdown +
              (watchClocks(Facts.Id)
                   ? ", clocks watched by NVML"
                   : ", clocks not watched: NVML is missing or does not say"));
  return true;
}

bool Spool::run() {
  for (const fs::path &P : {Jobs, Claimed, Results})
    if (!posix::createFolders(P.string(), Error))
      return false;
  if (!meetDevice())
    return false;
  for (Clock::Time Idle = Time.now();;) {
    bool Worked = false;
    for (const fs::path &Place : {Claimed, Jobs})
      for (const std::string &Id : entriesOf(Place)) {
        Worked |= takeUp(Id);
        if (!Error.empty())
          return false;
      }
    if (Worked) {
      Idle = Time.now();
      continue;
    }
    settle();
    if (!Options.Watch && Time.millisecondsSince(Idle) >= Options.IdleMs)
      return true;
    if (!Options.Wait)
      Time.sleep(LookEvery);
    else if (!Options.Wait(LookEvery.count()))
      return true;
  }
}

bool gpu::workOffSpool(const SpoolOptions &Options, Clock &Time,
                       std::string &Error) {
  Error.clear();
  return Spool(Options, Time, Error).run();
}
