//===- JobProgram.cpp - A program that works off a job ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobProgram.h"
#include "CompilerOutput.h"
#include "stark/Eval/Verdict.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

/// Bytes of what a program says that an error has room for.
static constexpr size_t MessageLimit = 600;
/// How our programs say that a command line or an input is wrong.
static constexpr int UsageCode = 2;

std::string stark::ownMessage(const ProcessResult &Ran) {
  llvm::StringRef Said = llvm::StringRef(Ran.Err).trim();
  Said.consume_front("error: ");
  return trimForWindow(Said, MessageLimit);
}

llvm::Expected<job::Result> stark::readResult(llvm::StringRef File) {
  llvm::Expected<std::string> Text = readText(File);
  if (!Text)
    return Text.takeError();
  std::string Problem;
  job::Result R = job::parseResult(*Text, File.str(), Problem);
  if (!Problem.empty())
    return failed(Problem);
  return R;
}

void stark::traceStages(llvm::StringRef Program, const job::Result &R) {
  std::vector<ForeignStage> Stages;
  for (const job::Stage &S : R.Stages)
    Stages.push_back({S.Name, S.Label, S.BeginUs, S.EndUs});
  traceForeign(Program, R.WallMs * 1000, Stages);
}

llvm::Expected<std::optional<job::Result>>
stark::runJob(const JobProgram &Program, llvm::StringRef Folder) {
  ProcessSpec Spec;
  std::string File = (Folder + "/result.json").str();
  Spec.Program = Program.Path;
  Spec.Arguments = {Folder.str(), "--result", File};
  Spec.Arguments.insert(Spec.Arguments.end(), Program.Arguments.begin(),
                        Program.Arguments.end());
  Spec.TimeoutMs = Program.LimitMs;
  Spec.MemoryLimit = Program.MemoryLimit;
  llvm::Expected<ProcessResult> Ran = runProcess(Spec);
  if (!Ran)
    return Ran.takeError();
  if (llvm::sys::fs::exists(File)) {
    llvm::Expected<job::Result> R = readResult(File);
    if (!R)
      return R.takeError();
    traceStages(llvm::sys::path::filename(Program.Path), *R);
    return std::optional<job::Result>(std::move(*R));
  }
  if (Ran->TimedOut || Ran->OutOfMemory)
    return std::nullopt;
  std::string Why = ownMessage(*Ran);
  if (Program.Crash && Ran->Signal && !isFromOutside(Ran->Signal)) {
    *Program.Crash = "signal " + std::to_string(Ran->Signal) +
                     (Why.empty() ? "" : ": " + Why);
    return std::nullopt;
  }
  if (Ran->ExitCode == UsageCode)
    return usageError(Why);
  return failed(
      llvm::sys::path::filename(Program.Path) + " left no result: " +
      (Why.empty() ? "exit code " + std::to_string(Ran->ExitCode) : Why));
}
