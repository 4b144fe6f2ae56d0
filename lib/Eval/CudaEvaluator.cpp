//===- CudaEvaluator.cpp - The GPU of this machine -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   build -> job folder -> stark-worker as a child -> result -> verdict
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "JobProgram.h"
#include "LibraryBuilder.h"
#include "stark/Gpu/Formats.h"
#include "stark/Posix/GpuLock.h"
#include "stark/Posix/Pipe.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

using namespace stark;
using Json = nlohmann::json;

namespace {
constexpr uint64_t ProbeLimitMs = 180000;
/// The worker has deadlines of its own for each call; this one is for a worker
/// that hangs itself.
constexpr uint64_t JobLimitMs = 4 * 3600 * 1000ull;

/// A stark-worker that opens the device, and then waits for the libraries of
/// its job.
class WaitingWorker {
public:
  WaitingWorker(llvm::StringRef Program, llvm::StringRef Folder)
      : Program(Program), Folder(Folder) {}
  /// What waits still is told that nothing will come.
  ~WaitingWorker() { finish(); }
  llvm::Error start(std::unique_ptr<FileLock> Lock);
  bool started() const { return Runs.joinable(); }
  /// Once the libraries are there; unset when it took too long.
  llvm::Expected<std::optional<job::Result>> judge();

private:
  void finish();
  std::string Program, Folder;
  std::unique_ptr<FileLock> Lock;
  posix::Pipe Go;
  std::thread Runs;
  std::optional<llvm::Expected<std::optional<job::Result>>> Found;
};

class CudaEvaluator : public Evaluator {
public:
  CudaEvaluator(const Task &Of, EvaluatorOptions Options,
                gpu::DeviceFacts Device, Clock &Time)
      : Of(Of), Options(std::move(Options)), Device(std::move(Device)),
        Time(Time), Libraries(Of, this->Options.Build) {}
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  void prepare(const Candidate &C) override { Libraries.prepare(C); }
  void begin(const Candidate &C) override { Libraries.begin(C); }
  std::string identity() const override { return "cuda:" + Device.Name; }

private:
  llvm::Expected<std::unique_ptr<FileLock>> waitForGpu(const Candidate &C);
  llvm::Error startAhead(WaitingWorker &Worker);

  const Task &Of;
  EvaluatorOptions Options;
  gpu::DeviceFacts Device;
  Clock &Time;
  LibraryBuilder Libraries;
};
} // namespace

llvm::Error WaitingWorker::start(std::unique_ptr<FileLock> Held) {
  if (!Go.open())
    return failed("cannot make a pipe: " + llvm::Twine(std::strerror(errno)));
  Lock = std::move(Held);
  Runs = std::thread(traced([this] {
    Found.emplace(runJob({Program,
                          {"--await"},
                          JobLimitMs,
                          Lock->descriptor(),
                          /*MemoryLimit=*/0,
                          Go.readEnd()},
                         Folder));
  }));
  return llvm::Error::success();
}

llvm::Expected<std::optional<job::Result>> WaitingWorker::judge() {
  // One that has died cannot read, which its result tells.
  (void)!::write(Go.writeEnd(), "\n", 1);
  finish();
  llvm::Expected<std::optional<job::Result>> R = std::move(*Found);
  Found.reset();
  return R;
}

void WaitingWorker::finish() {
  Go.closeWriteEnd();
  if (Runs.joinable())
    Runs.join();
  if (Found)
    llvm::consumeError(Found->takeError());
  Lock.reset();
}

/// Other processes of the user judge on this GPU, too: a search for each source
/// of a build, say.
llvm::Expected<std::unique_ptr<FileLock>>
CudaEvaluator::waitForGpu(const Candidate &C) {
  TraceScope Traced("wait for the GPU");
  std::string Error;
  std::unique_ptr<FileLock> Lock = posix::lockGpu(
      Device.Id, Time,
      [&](const std::string &Why) {
        if (C.OnWait)
          C.OnWait(Why);
      },
      Error);
  if (Lock)
    return Lock;
  if (Error.empty())
    return interrupted("while it waited for the GPU");
  return failed(Error);
}

llvm::Expected<Verdict> CudaEvaluator::evaluate(const Candidate &C) {
  llvm::Expected<job::Job> J = makeJob(Of, C, Options);
  if (!J)
    return J.takeError();
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("stark-job");
  if (!Folder)
    return Folder.takeError();
  if (llvm::Error E = writeJob(Of, *J, C, Folder->path()))
    return E;
  WaitingWorker Worker(Options.Worker, Folder->path());
  // libtorch and its driver take longer to start than most candidates to
  // compile.
  if (!J->Torch.empty())
    if (llvm::Error E = startAhead(Worker))
      return E;
  llvm::Expected<BuildResult> Built = Libraries.candidate(C);
  if (!Built)
    return Built.takeError();
  if (!Built->Ok)
    return verdictOf(*Built);
  J->Compiler = Built->Diagnostics;
  J->Precision = Built->Precision;
  J->AsyncBarriers = Built->AsyncBarriers;
  llvm::Expected<const BuildResult *> Source = Libraries.source(*Built);
  if (!Source)
    return Source.takeError();
  if (llvm::Error E = writeLibraries(*J, (*Source)->Library, Built->Library,
                                     Folder->path()))
    return E;
  if (!Worker.started()) {
    llvm::Expected<std::unique_ptr<FileLock>> Held = waitForGpu(C);
    if (!Held)
      return Held.takeError();
    if (llvm::Error E = Worker.start(std::move(*Held)))
      return E;
  }
  llvm::Expected<std::optional<job::Result>> R = Worker.judge();
  if (!R)
    return R.takeError();
  if (!*R)
    return failed("stark-worker did not end within " +
                  llvm::Twine(JobLimitMs / 1000) + " s");
  // It was written before the candidate was compiled.
  (*R)->Compiler = J->Compiler;
  (*R)->Precision = J->Precision;
  return verdictOf(Of, *J, **R);
}

/// Where nobody else has the GPU.
llvm::Error CudaEvaluator::startAhead(WaitingWorker &Worker) {
  std::string Error;
  std::unique_ptr<FileLock> Lock = posix::tryToLockGpu(Device.Id, Error);
  if (Lock)
    return Worker.start(std::move(Lock));
  return Error.empty() ? llvm::Error::success() : failed(Error);
}

llvm::Expected<gpu::DeviceFacts>
stark::probeDevice(const EvaluatorOptions &Options) {
  std::string Worker = workerPath(Options);
  if (!llvm::sys::fs::can_execute(Worker))
    return failed("no stark-worker at " + Worker +
                  "; it is built when the CUDA toolkit is found");
  ProcessSpec Spec;
  Spec.Program = Worker;
  Spec.Arguments = {"--probe"};
  Spec.TimeoutMs = ProbeLimitMs;
  llvm::Expected<ProcessResult> Ran = runProcess(Spec);
  if (!Ran)
    return Ran.takeError();
  if (!Ran->ok()) {
    std::string Why = ownMessage(*Ran);
    return failed(Why.empty() ? "stark-worker --probe failed" : Why);
  }
  return parseDevice(Ran->Out, Worker + " --probe");
}

llvm::Expected<gpu::DeviceFacts> stark::parseDevice(llvm::StringRef Text,
                                                    llvm::StringRef File) {
  Json J = Json::parse(Text.begin(), Text.end(), nullptr, false);
  if (J.is_discarded())
    return failed(File + ": not valid JSON");
  gpu::DeviceFacts D;
  if (std::string Problem = readKnownFields(J, File.str(), "", D);
      !Problem.empty())
    return failed(Problem);
  return D;
}

std::string stark::workerPath(const EvaluatorOptions &Options) {
  return Options.Worker.empty() ? programFolder() + "/stark-worker"
                                : Options.Worker;
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeCudaEvaluator(const Task &T, const EvaluatorOptions &Options,
                         Clock &Time) {
  llvm::Expected<gpu::DeviceFacts> D = probeDevice(Options);
  if (!D)
    return D.takeError();
  EvaluatorOptions Full = Options;
  Full.Worker = workerPath(Options);
  if (Full.Build.Arch.empty())
    Full.Build.Arch = D->Arch;
  return std::make_unique<CudaEvaluator>(T, Full, std::move(*D), Time);
}
