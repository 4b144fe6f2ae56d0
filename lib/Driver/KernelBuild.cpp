//===- KernelBuild.cpp - A source, its winner, what is compiled ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSearch.h"
#include "stark/Driver/WinnerEntry.h"
#include "stark/Support/Error.h"

using namespace stark;

/// Digits of a digest in an error.
static constexpr size_t ShownDigits = 12;

llvm::Error stark::completeInputs(CacheInputs &In, const RunIdentity *Run,
                                  llvm::StringRef Toolkit) {
  if (Run && In.Arch.empty())
    In.Arch = Run->Arch;
  if (Run && In.Arch != Run->Arch)
    return usageError("--arch: got " + In.Arch + ", but the run is for " +
                      Run->Arch);
  if (In.Arch.empty())
    return usageError("--arch is needed, e.g. --arch sm_90");
  if (Run && In.ToolkitVersion.empty())
    if (auto Then = Run->Versions.find("toolkit"); Then != Run->Versions.end())
      In.ToolkitVersion = Then->second;
  if (!In.ToolkitVersion.empty())
    return llvm::Error::success();
  std::optional<stark::Toolkit> Found = findToolkit(Toolkit);
  if (!Found)
    return usageError("no CUDA toolkit was found: give --toolkit-version or "
                      "--cuda-path");
  In.ToolkitVersion = Found->version();
  return llvm::Error::success();
}

/// Searches and keeps what came of it.
static llvm::Error searchAndKeep(const BuildStep &Step,
                                 const BuildSearch &Search,
                                 BuildObserver &Observer) {
  llvm::Expected<std::string> Folder = keepingFolder(Step);
  if (!Folder)
    return Folder.takeError();
  llvm::Expected<SearchedEntry> Found =
      searchForEntry(Step, Search, /*More=*/std::nullopt, Observer);
  if (!Found)
    return Found.takeError();
  return keep(Step, *Found, *Folder, Observer);
}

/// Writes what is found now.
static llvm::Error use(const BuildStep &Step, const Lookup &Found,
                       BuildObserver &Observer) {
  if (!Found.Why)
    return Step.Output.empty() ? llvm::Error::success()
                               : useWinner(Step, Found);
  Observer.onNote(Found.Why->str() + " than " + sourceName(Step) +
                  "; building it as it is");
  return Step.Output.empty() ? llvm::Error::success() : useSource(Step, Found);
}

/// A search has said what is the best.
static bool isSettled(const Lookup &Found) {
  return Found.result() == LookupResult::Hit ||
         Found.result() == LookupResult::NothingWon;
}

llvm::Error stark::buildKernel(const BuildStep &Step,
                               const std::optional<BuildSearch> &Search,
                               bool MayWait, BuildObserver &Observer) {
  std::string Warning;
  llvm::Expected<Lookup> Found = findHereOrRemote(Step, Warning);
  if (!Found)
    return Found.takeError();
  if (!Warning.empty())
    Observer.onWarning(Warning);
  if (isSettled(*Found))
    return use(Step, *Found, Observer);
  if (!Search)
    return usageError("there is no winner yet, and a search needs --provider, "
                      "--evaluator and --run-dir");
  if (llvm::Error E = searchAndKeep(Step, *Search, Observer)) {
    if (errorKind(E) != ErrorKind::Suspended || !MayWait || Step.Output.empty())
      return E;
    Observer.onWarning("no winner for " + sourceName(Step) +
                       " yet; building the source as it is. The search goes on "
                       "with the next build: " +
                       llvm::toString(std::move(E)));
    return useSource(Step, *Found, /*Again=*/true);
  }
  Found = findForBuild(Step);
  if (!Found)
    return Found.takeError();
  if (!isSettled(*Found))
    return failed("the winner was kept but is not found: " + Found->Why->str());
  return use(Step, *Found, Observer);
}

llvm::Expected<std::string> stark::keepWinner(BuildStep Step,
                                              llvm::StringRef RunFolder,
                                              llvm::StringRef Toolkit,
                                              BuildObserver &Observer) {
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  if (llvm::Error E = completeInputs(Step.In, &Run->Identity, Toolkit))
    return E;
  ParseOptions Parse;
  Parse.Flags = Step.In.Flags;
  Parse.Toolkit = Toolkit.str();
  Parse.Arch = Step.In.Arch;
  llvm::Expected<Task> T =
      loadTask(Step.In.SourcePath, Step.In.WorkloadPath, Parse);
  if (!T)
    return T.takeError();
  std::string Name = ("run '" + RunFolder + "'").str();
  if (T->Digest != Run->Identity.TaskDigest)
    return failed(Name + " is of task " +
                  Run->Identity.TaskDigest.substr(0, ShownDigits) + ", but " +
                  Step.In.SourcePath +
                  " with this workload, these headers and flags is task " +
                  T->Digest.substr(0, ShownDigits));
  if (!Run->End)
    return failed(Name + " has not ended");
  if (Run->End->Winner < 0)
    return failed(Name + " has no winner: " + Run->End->Ended.Why);
  llvm::Expected<std::string> Folder = keepingFolder(Step);
  if (!Folder)
    return Folder.takeError();
  CacheEntry Entry = makeEntry(*Run, T->Headers);
  if (llvm::Error E = addPlan(Entry, *T))
    return E;
  llvm::Expected<std::string> Kept = keepEntry(Step, Entry, *Folder, Observer);
  if (!Kept || Step.Output.empty())
    return Kept;
  llvm::Expected<Lookup> Found = findWinner(Step.In, {*Folder});
  if (!Found)
    return Found.takeError();
  if (llvm::Error E = use(Step, *Found, Observer))
    return E;
  return Kept;
}
