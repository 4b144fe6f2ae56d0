//===- CudaEvaluator.cpp - The GPU of this machine -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a spool of its own and a stark-worker for it -> verdicts, as from any
///   spool
///
//===----------------------------------------------------------------------===//

#include "JobProgram.h"
#include "LocalWorker.h"
#include "stark/AST/Torch.h"
#include "stark/Eval/Evaluator.h"
#include "stark/Gpu/Formats.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Task/Task.h"
#include "llvm/Support/FileSystem.h"
#include <nlohmann/json.hpp>

using namespace stark;
using Json = nlohmann::json;

static constexpr uint64_t ProbeLimitMs = 180000;
/// The worker has deadlines of its own for each call; this one is for a worker
/// that hangs itself.
static constexpr uint64_t JobLimitMs = 4 * 3600 * 1000ull;

/// Where the worker is; an error where it is not.
static llvm::Expected<std::string> findWorker(const EvaluatorOptions &Options) {
  std::string Worker = workerPath(Options);
  if (!llvm::sys::fs::can_execute(Worker))
    return failed("no stark-worker at " + Worker +
                  "; it is built when the CUDA toolkit is found");
  return Worker;
}

llvm::Expected<gpu::DeviceFacts>
stark::probeDevice(const EvaluatorOptions &Options) {
  llvm::Expected<std::string> Worker = findWorker(Options);
  if (!Worker)
    return Worker.takeError();
  ProcessSpec Spec;
  Spec.Program = *Worker;
  Spec.Arguments = {"--probe"};
  Spec.TimeoutMs = ProbeLimitMs;
  llvm::Expected<ProcessResult> Ran = runProcess(Spec);
  if (!Ran)
    return Ran.takeError();
  if (!Ran->ok()) {
    std::string Why = ownMessage(*Ran);
    return failed(Why.empty() ? "stark-worker --probe failed" : Why);
  }
  return parseDevice(Ran->Out, *Worker + " --probe");
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
  llvm::Expected<std::string> Program = findWorker(Options);
  if (!Program)
    return Program.takeError();
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("stark-job");
  if (!Folder)
    return Folder.takeError();
  std::string Where = Folder->path().str();
  if (llvm::Error E = makeSpool(Where))
    return E;
  gpu::DeviceFacts Device;
  llvm::Expected<std::unique_ptr<SpoolWorkers>> Worker = makeLocalWorker(
      *Program, std::move(*Folder), isTensorEntry(T.Entry), Device, Time);
  if (!Worker)
    return Worker.takeError();
  EvaluatorOptions Full = Options;
  Full.WaitMs = JobLimitMs;
  if (Full.Build.Arch.empty())
    Full.Build.Arch = Device.Arch;
  return makeSpoolEvaluator(T, Where, Full, Time, std::move(*Worker));
}
