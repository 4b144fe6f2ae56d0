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

/// Searches for a winner of \p Step, which has one workload, and keeps what
/// came of it.
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

/// Writes what is found now. \p Again: the step is to run in the next build,
/// too.
static llvm::Error use(const BuildStep &Step, const Lookup &Found,
                       BuildObserver &Observer, bool Again = false) {
  for (const Unwon &U : Found.Without)
    if (U.isSettled())
      Observer.onNote(U.Why.str() + " than " + subjectOf(Step, U.In) +
                      (Found.Why ? "; building it as it is" : ""));
  if (Step.Output.empty())
    return llvm::Error::success();
  return Found.Why ? useSource(Step, Found, Again)
                   : useWinner(Step, Found, Again);
}

/// Searches for what \p Found is without. A suspended search does not keep the
/// others from theirs.
static llvm::Error searchForAll(const BuildStep &Step, const Lookup &Found,
                                const BuildSearch &Search,
                                BuildObserver &Observer) {
  llvm::Error Suspended = llvm::Error::success();
  for (const Unwon &U : Found.Without) {
    if (U.isSettled())
      continue;
    BuildStep One = Step;
    One.In = U.In;
    One.MoreWorkloads.clear();
    BuildSearch For = Search;
    For.Request.Workload = U.In.WorkloadPath;
    llvm::Error E = searchAndKeep(One, For, Observer);
    if (E && errorKind(E) != ErrorKind::Suspended) {
      llvm::consumeError(std::move(Suspended));
      return E;
    }
    Suspended = llvm::joinErrors(std::move(Suspended), std::move(E));
  }
  return Suspended;
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
  if (!Found->open())
    return use(Step, *Found, Observer);
  if (!Search)
    return usageError("there is no winner yet, and a search needs --provider, "
                      "--evaluator and --run-dir");
  llvm::Error Suspended = searchForAll(Step, *Found, *Search, Observer);
  if (Suspended && (errorKind(Suspended) != ErrorKind::Suspended || !MayWait ||
                    Step.Output.empty()))
    return Suspended;
  bool Again = bool(Suspended);
  std::string Waits = llvm::toString(std::move(Suspended));
  Found = findForBuild(Step);
  if (!Found)
    return Found.takeError();
  const Unwon *Open = Found->open();
  if (Open && !Again)
    return failed("the winner was kept but is not found: " + Open->Why.str());
  if (Open)
    Observer.onWarning("no winner for " + subjectOf(Step, Open->In) +
                       " yet; building " +
                       (Found->Why ? "the source as it is" : "without it") +
                       ". The search goes on with the next build: " + Waits);
  return use(Step, *Found, Observer, Again);
}

/// The task of \p Step, extracted or, if \p Digest is of that, as it is.
static llvm::Expected<ExtractedTask> taskOfRun(const BuildStep &Step,
                                               const ParseOptions &Parse,
                                               const std::string &Digest) {
  llvm::Expected<ExtractedTask> Found =
      loadExtractedTask(Step.In.SourcePath, Step.In.WorkloadPath, Parse);
  if (!Found || !Found->Users || Found->Of.Digest == Digest)
    return Found;
  llvm::Expected<Task> AsItIs =
      loadTask(Step.In.SourcePath, Step.In.WorkloadPath, Parse);
  if (!AsItIs)
    return AsItIs.takeError();
  if (AsItIs->Digest == Digest)
    return ExtractedTask{std::move(*AsItIs), nullptr, ""};
  return Found;
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
  llvm::Expected<ExtractedTask> Loaded =
      taskOfRun(Step, Parse, Run->Identity.TaskDigest);
  if (!Loaded)
    return Loaded.takeError();
  const Task *T = &Loaded->Of;
  const UsersSource *Users = Loaded->Users.get();
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
  CacheEntry Entry = makeEntry(*Run, Users ? Users->Headers : T->Headers);
  if (llvm::Error E = addPlan(Entry, *T, Users))
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
