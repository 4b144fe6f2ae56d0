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

#include "Spool.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::job;
using namespace stark::worker;

namespace {
/// Held as long as a job is worked on; a dead worker's is free again.
struct JobLock {
  int Descriptor = -1;
  explicit JobLock(const fs::path &Path) {
    Descriptor = open(Path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (Descriptor >= 0 && flock(Descriptor, LOCK_EX | LOCK_NB) != 0) {
      close(Descriptor);
      Descriptor = -1;
    }
  }
  ~JobLock() {
    if (Descriptor >= 0)
      close(Descriptor);
  }
  bool held() const { return Descriptor >= 0; }
};

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

class Spool {
public:
  explicit Spool(const SpoolOptions &Options)
      : Options(Options), Jobs(fs::path(Options.Folder) / "jobs"),
        Claimed(fs::path(Options.Folder) / "claimed"),
        Results(Options.Results.empty() ? fs::path(Options.Folder) / "results"
                                        : fs::path(Options.Results)) {}
  int run();

private:
  bool takeUp(const std::string &Id);
  bool work(const std::string &Id);
  bool canary();

  const SpoolOptions &Options;
  fs::path Jobs, Claimed, Results;
  bool Broken = false;
};
} // namespace

bool worker::writeResultFile(const std::string &Path, const std::string &Text,
                             std::string &Error) {
  static std::atomic<unsigned> Written{0};
  std::string Temporary = Path + ".part-" + std::to_string(getpid()) + "-" +
                          std::to_string(Written++);
  int D =
      open(Temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  size_t Done = 0;
  bool Ok = D >= 0;
  while (Ok && Done < Text.size()) {
    ssize_t Count = write(D, Text.data() + Done, Text.size() - Done);
    Ok = Count > 0;
    Done += Ok ? size_t(Count) : 0;
  }
  Ok = Ok && fsync(D) == 0;
  if (D >= 0)
    Ok = close(D) == 0 && Ok;
  Ok = Ok && rename(Temporary.c_str(), Path.c_str()) == 0;
  if (!Ok) {
    Error = Path + ": cannot be written: " + std::strerror(errno);
    unlink(Temporary.c_str());
  }
  return Ok;
}

/// After a crash: does the device still give right answers? Three chances.
bool Spool::canary() {
  std::string Error;
  for (unsigned I = 0; I < 3; ++I) {
    DeviceFacts Facts;
    Error.clear();
    if (Options.Probe(Facts, Error))
      return true;
    sleep(1);
  }
  std::fprintf(stderr, "error: the GPU does not work any more: %s\n",
               Error.c_str());
  Broken = true;
  return false;
}

/// Runs a claimed job and leaves its result; false when that is impossible.
bool Spool::work(const std::string &Id) {
  fs::path Folder = Claimed / Id, File = Results / (Id + ".json");
  std::error_code Ignored;
  if (!fs::exists(File, Ignored)) {
    Result R = Options.Judge(Folder.string());
    if (R.Id != Id) {
      if (R.End != Outcome::Infrastructure || !R.Id.empty())
        R.Diagnostics =
            "job.json is of job '" + R.Id + "', its folder is '" + Id + "'";
      R.End = Outcome::Infrastructure;
      R.Timings.clear();
      R.Id = Id;
    }
    std::string Error;
    if (!writeResultFile(File.string(), printResult(R), Error)) {
      std::fprintf(stderr, "error: %s\n", Error.c_str());
      Broken = true;
      return false;
    }
    std::string Note =
        R.End == Outcome::Correct ? "" : firstLine(R.Diagnostics);
    for (const Timing &T : R.Timings) {
      char Text[160];
      std::snprintf(Text, sizeof(Text), " [%s %.1f us, %.2fx]", T.Label.c_str(),
                    T.MedianUs, T.Speedup);
      Note += Text;
    }
    std::printf("%s %s %llu ms%s%s\n", Id.c_str(), outcomeName(R.End),
                (unsigned long long)R.WallMs, Note.empty() ? "" : " ",
                Note.c_str());
    std::fflush(stdout);
    bool Suspect = R.End == Outcome::Crashed || R.End == Outcome::TimedOut ||
                   R.End == Outcome::Infrastructure;
    if (Suspect && !canary()) {
      fs::remove_all(Folder, Ignored);
      return false;
    }
  }
  fs::remove_all(Folder, Ignored);
  return true;
}

/// Claims a job, or one whose worker is gone. False: it is another's.
bool Spool::takeUp(const std::string &Id) {
  fs::path LockPath = Claimed / ("." + Id + ".lock");
  JobLock Lock(LockPath);
  if (!Lock.held())
    return false;
  std::error_code Error;
  if (fs::exists(Jobs / Id, Error)) {
    fs::remove_all(Claimed / Id, Error); // left by a worker that is gone
    fs::rename(Jobs / Id, Claimed / Id, Error);
    if (Error)
      return false;
  } else if (!fs::exists(Claimed / Id, Error)) {
    return false;
  }
  work(Id);
  unlink(LockPath.c_str());
  return true;
}

int Spool::run() {
  std::error_code Error;
  for (const fs::path &P : {Jobs, Claimed, Results})
    if (fs::create_directories(P, Error); Error) {
      std::fprintf(stderr, "error: %s: cannot be created: %s\n", P.c_str(),
                   Error.message().c_str());
      return 1;
    }
  DeviceFacts Facts;
  std::string Problem;
  if (!Options.Probe(Facts, Problem)) {
    // The jobs stay where they are, for a worker that has a device.
    std::fprintf(stderr, "error: %s\n", Problem.c_str());
    return 1;
  }
  // Evaluators that were not told read the architecture from here.
  if (!writeResultFile((fs::path(Options.Folder) / "device.json").string(),
                       printFacts(Facts) + "\n", Problem))
    std::fprintf(stderr, "note: %s\n", Problem.c_str());
  std::printf("%s, %s, %s, copy %.0f GB/s, empty event pair %.2f us, "
              "children locked down by %s\n",
              Facts.Name.c_str(), Facts.Driver.c_str(), Facts.Arch.c_str(),
              Facts.CopyGBs, Facts.EventPairUs, Facts.Lockdown.c_str());
  std::fflush(stdout);
  for (;;) {
    bool Worked = false;
    for (const fs::path &Place : {Claimed, Jobs})
      for (const std::string &Id : entriesOf(Place)) {
        Worked |= takeUp(Id);
        if (Broken)
          return 1;
      }
    if (!Worked && !Options.Watch)
      return 0;
    if (!Worked)
      usleep(200000);
  }
}

int worker::workOffSpool(const SpoolOptions &Options) {
  return Spool(Options).run();
}
