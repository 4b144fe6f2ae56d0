//===- Jobs.cpp - What stark-worker judges ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   flags -> one job | a spool | a spool by a worker for each GPU
///
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "stark/Gpu/GpuRunner.h"
#include "stark/Gpu/Spool.h"
#include "stark/Gpu/WaitingChildren.h"
#include "stark/Gpu/Workers.h"
#include "stark/Judge/Judge.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/File.h"
#include "stark/Posix/GpuLock.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Posix/Libtorch.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

using namespace stark;
using namespace stark::gpu;
using namespace stark::worker;

/// How long children wait for a job.
static constexpr uint64_t KeepWaitingMs = 120000;

/// Judges one job; its outputs are named after its folder.
static job::Result judgeFolder(const Flags &F, const std::string &Folder,
                               GpuRunnerOptions Options,
                               std::unique_ptr<judge::Runner> &Runner) {
  namespace fs = std::filesystem;
  fs::path Name = fs::path(Folder).filename();
  if (Name.empty()) // "jobs/softmax/"
    Name = fs::path(Folder).parent_path().filename();
  Options.Device = F.Child.Device;
  Options.Torch = F.Torch;
  Options.Sanitizer = F.Sanitizer;
  Options.Ncu = F.Ncu;
  Options.Cupti = F.Cupti;
  if (!F.Samples.empty())
    Options.Samples = (fs::path(F.Samples) / Name).string() + ".jsonl";
  Runner = makeGpuRunner(Folder, std::move(Options), machineClock());
  return judge::judge(Folder, *Runner,
                      F.Outputs.empty() ? ""
                                        : (fs::path(F.Outputs) / Name).string(),
                      machineClock());
}

int worker::runOne(const Flags &F) {
  std::unique_ptr<judge::Runner> Runner;
  job::Result R = judgeFolder(F, F.Job, {}, Runner);
  std::string Text = printResult(R), Error;
  if (F.Result.empty())
    std::fputs(Text.c_str(), stdout);
  else if (!posix::writeFileAtomically(F.Result, Text, Error))
    failed(Error);
  if (R.End == job::Outcome::Infrastructure)
    failed(R.Diagnostics);
  std::fflush(nullptr);
  // Nobody has to wait until the driver has cleared up after the children.
  Runner->beginToEnd();
  std::_Exit(R.End == job::Outcome::Infrastructure || !Error.empty());
}

/// Are there any that nobody has claimed?
static bool hasJobs(const std::string &Spool) {
  std::error_code Error;
  std::filesystem::directory_iterator Jobs(
      std::filesystem::path(Spool) / "jobs", Error);
  return !Error && Jobs != std::filesystem::directory_iterator();
}

/// Before there is any job: what its children will be.
static void expectJob(const Flags &F, WaitingChildren &Waiting) {
  std::string Ignored;
  std::optional<posix::Libtorch> Torch;
  if (F.Tensors)
    Torch = posix::findLibtorch(F.Torch, Ignored);
  // Without the library each job says what is wrong.
  if (Torch.has_value() == F.Tensors)
    Waiting.expect(F.Child.Device, Torch ? &*Torch : nullptr);
}

/// Children for the next job, while nobody else judges.
static void openAhead(const DeviceFacts &Known, WaitingChildren &Waiting) {
  std::string Ignored;
  std::unique_ptr<posix::FileLock> Held =
      posix::tryToLockGpu(Known.Id, Ignored);
  if (!Held)
    return;
  Waiting.begin();
  Waiting.await();
}

/// Until something is on standard input, at most \p Ms; false at its end.
static bool waitForInput(uint64_t Ms) {
  pollfd Input = {STDIN_FILENO, POLLIN, 0};
  char Lines[256];
  return ::poll(&Input, 1, int(Ms)) <= 0 ||
         ::read(STDIN_FILENO, Lines, sizeof(Lines)) != 0;
}

int worker::runSpool(const Flags &F) {
  SpoolOptions Options;
  Options.Folder = F.Spool;
  Options.Results = F.Results;
  Options.Watch = F.Watch;
  Options.IdleMs = F.IdleSeconds * 1000;
  DeviceFacts Known;
  // The driver takes a while to clear up after a job's children; meanwhile
  // those of the next job compare.
  std::unique_ptr<judge::Runner> Last;
  WaitingChildren Waiting(machineClock());
  std::unique_ptr<posix::FileLock> Held;
  // What waits has memory of the device, which others may want.
  Clock::Time LastJob = machineClock().now();
  if (F.Serve)
    expectJob(F, Waiting);
  Options.Settle = [&] { Last.reset(); };
  Options.Wait = [&](uint64_t Ms) {
    if (machineClock().millisecondsSince(LastJob) > KeepWaitingMs)
      Waiting.drop();
    else if (!Waiting.ready())
      openAhead(Known, Waiting);
    if (F.Serve)
      return waitForInput(Ms);
    machineClock().sleep(std::chrono::milliseconds(Ms));
    return true;
  };
  Options.Judge = [&](const std::string &Folder) {
    // Builds of this user may judge on the GPU as well.
    std::string Error;
    Held = posix::lockGpu(Known.Id, machineClock(), Options.Warn, Error);
    if (!Held)
      Options.Warn(Error + "; judging without");
    GpuRunnerOptions Judging;
    Judging.Known = Known;
    Judging.Settle = Options.Settle;
    Judging.Waiting = &Waiting;
    Judging.Follows = hasJobs(F.Spool);
    std::unique_ptr<judge::Runner> Runner;
    job::Result R = judgeFolder(F, Folder, std::move(Judging), Runner);
    Runner->beginToEnd();
    Last = std::move(Runner);
    return R;
  };
  Options.Done = [&] {
    Waiting.await();
    Held.reset();
    LastJob = machineClock().now();
  };
  Options.Probe = [&](DeviceFacts &Facts, std::string &Error) {
    // They were there when the device failed.
    Waiting.drop();
    bool Works = probeDevice(F.Child.Device, Facts, Error);
    Known = Facts;
    return Works;
  };
  Options.Say = [](const std::string &Line) {
    std::puts(Line.c_str());
    std::fflush(stdout);
  };
  Options.Warn = [](const std::string &Line) {
    std::fprintf(stderr, "note: %s\n", Line.c_str());
  };
  std::string Error;
  int Code = workOffSpool(Options, machineClock(), Error) ? 0 : failed(Error);
  std::fflush(nullptr);
  // As after one job: what is left ends with this process.
  Waiting.beginToEnd();
  std::_Exit(Code);
}

/// A worker for each GPU.
int worker::runSpools(const Flags &F) {
  DeviceFacts Facts;
  std::string Error;
  const char *Visible = std::getenv("CUDA_VISIBLE_DEVICES");
  unsigned Count = Visible ? 0 : countDevices();
  if (!Visible && !Count) {
    if (!probeDevice(0, Facts, Error))
      return failed(Error);
    Count = Facts.Devices;
  }
  WorkersOptions Options;
  Options.Gpus = chooseGpus(F.Gpus, Visible ? Visible : "", Count, Error);
  if (Options.Gpus.empty())
    return usage(Error);
  std::error_code Unknown;
  Options.Program = std::filesystem::read_symlink("/proc/self/exe", Unknown);
  Options.Arguments = F.OfWorkers;
  Options.Warn = [](const std::string &Line) {
    std::fprintf(stderr, "note: %s\n", Line.c_str());
  };
  watchInterrupts();
  if (!runWorkers(Options, machineClock(), Error))
    return failed(Error);
  return interruptFlag() ? 130 : 0;
}
