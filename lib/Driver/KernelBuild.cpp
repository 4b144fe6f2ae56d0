//===- KernelBuild.cpp - A source, its winner, what is compiled ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/KernelBuild.h"
#include "stark/Driver/WinnerDispatch.h"
#include "stark/Driver/WinnerEntry.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/Path.h"

using namespace stark;

/// Digits of the digest that names a run's folder.
static constexpr size_t FolderDigits = 12;

static std::string sourceName(const BuildStep &Step) {
  return llvm::sys::path::filename(Step.In.SourcePath).str();
}

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

/// Where a new entry goes.
static llvm::Expected<std::string> keepingFolder(const BuildStep &Step) {
  std::string Folder =
      Step.Stores.empty() ? userCacheFolder() : Step.Stores.front();
  if (Folder.empty())
    return usageError("there is no folder to keep a winner in: give --store or "
                      "set STARK_CACHE_DIR");
  if (llvm::Error E = checkWritable(Folder))
    return withContext(std::move(E), "the store cannot be used");
  return Folder;
}

/// How a build puts the winner of \p Entry, if any, beside its source.
static llvm::Error addPlan(CacheEntry &Entry, const Task &T) {
  if (Entry.WinnerText.empty())
    return llvm::Error::success();
  llvm::Expected<DispatchPlan> Plan = planDispatch(T, Entry.WinnerText);
  if (!Plan)
    return withContext(Plan.takeError(),
                       "the winner of " + T.Name + ".cu cannot be kept");
  Entry.Plan = std::move(*Plan);
  return llvm::Error::success();
}

/// Searches and keeps what came of it.
static llvm::Error searchAndKeep(const BuildStep &Step,
                                 const BuildSearch &Search,
                                 BuildObserver &Observer) {
  llvm::Expected<std::string> Folder = keepingFolder(Step);
  if (!Folder)
    return Folder.takeError();
  llvm::Expected<std::unique_ptr<PreparedSearch>> Prepared =
      prepareSearch(Search.Request, /*GoesOn=*/"", Observer);
  if (!Prepared)
    return Prepared.takeError();
  // With another toolkit or libtorch it is another search.
  llvm::Expected<std::string> Key = cacheKey(Step.In);
  if (!Key)
    return Key.takeError();
  std::string RunFolder =
      Search.RunsFolder + "/" +
      sha256(digestOf((*Prepared)->identity()) + *Key + Step.In.ToolkitVersion)
          .substr(0, FolderDigits);
  llvm::Expected<SearchOutcome> Outcome = (*Prepared)->run(RunFolder);
  if (!Outcome)
    return Outcome.takeError();
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  CacheEntry Entry = makeEntry(*Run, (*Prepared)->task().Headers);
  if (llvm::Error E = addPlan(Entry, (*Prepared)->task())) {
    // It is the best that this search can give: it is not asked for again.
    std::string Why = llvm::toString(std::move(E));
    Observer.onWarning(Why);
    Entry.WinnerText.clear();
    Entry.Facts.Title = "nothing: " + Why;
  }
  llvm::Expected<std::string> Kept = storeWinner(Step.In, Entry, *Folder);
  if (!Kept)
    return withContext(Kept.takeError(), "the run is kept in '" + RunFolder +
                                             "' (see --from-run)");
  return llvm::Error::success();
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
  llvm::Expected<Lookup> Found = findForBuild(Step);
  if (!Found)
    return Found.takeError();
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
                  Run->Identity.TaskDigest.substr(0, FolderDigits) + ", but " +
                  Step.In.SourcePath +
                  " with this workload, these headers and flags is task " +
                  T->Digest.substr(0, FolderDigits));
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
  llvm::Expected<std::string> Kept = storeWinner(Step.In, Entry, *Folder);
  if (!Kept || Step.Output.empty())
    return Kept;
  llvm::Expected<Lookup> Found = findWinner(Step.In, {*Folder});
  if (!Found)
    return Found.takeError();
  if (llvm::Error E = use(Step, *Found, Observer))
    return E;
  return Kept;
}
