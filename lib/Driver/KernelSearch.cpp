//===- KernelSearch.cpp - A search whose winner is kept -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSearch.h"
#include "stark/Cache/Limits.h"
#include "stark/Cache/RemoteStep.h"
#include "stark/Driver/WinnerDispatch.h"
#include "stark/Driver/WinnerEntry.h"
#include "stark/Search/RunExtent.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

/// Digits of the digest that names a run's folder.
static constexpr size_t FolderDigits = 12;

std::string stark::sourceName(const BuildStep &Step) {
  return llvm::sys::path::filename(Step.In.SourcePath).str();
}

llvm::Expected<std::string> stark::keepingFolder(const BuildStep &Step) {
  std::string Folder =
      Step.Stores.empty() ? userCacheFolder() : Step.Stores.front();
  if (Folder.empty())
    return usageError("there is no folder to keep a winner in: give --store or "
                      "set STARK_CACHE_DIR");
  if (llvm::Error E = checkWritable(Folder))
    return withContext(std::move(E), "the store cannot be used");
  return Folder;
}

llvm::Error stark::addPlan(CacheEntry &Entry, const Task &T,
                           const UsersSource *Users) {
  if (Entry.WinnerText.empty())
    return llvm::Error::success();
  llvm::Expected<DispatchPlan> Plan = planDispatch(T, Entry.WinnerText, Users);
  if (!Plan)
    return withContext(Plan.takeError(),
                       "the winner of " + T.Name + ".cu cannot be kept");
  Entry.Plan = std::move(*Plan);
  return llvm::Error::success();
}

/// Named by all that the run is held to but for how far it goes. With another
/// toolkit or libtorch it is another search.
static llvm::Expected<std::string> folderOf(const BuildStep &Step,
                                            const BuildSearch &Search,
                                            const PreparedSearch &Prepared) {
  llvm::Expected<std::string> Key = cacheKey(Step.In);
  if (!Key)
    return Key.takeError();
  RunIdentity Held = Prepared.identity();
  Held.Options.Attempts = 0;
  Held.Options.Limits.clear();
  return Search.RunsFolder + "/" +
         sha256(digestOf(Held) + *Key + Step.In.ToolkitVersion)
             .substr(0, FolderDigits);
}

/// How far \p Run is to go when \p Given is asked for.
static RunExtent chooseExtent(const RecordedRun &Run, const RunExtent &Given,
                              std::optional<unsigned> More) {
  RunExtent Then = extentOf(Run.Identity);
  unsigned Begun = attemptsBegun(Run);
  // What was found is to be confirmed and kept.
  if (More == 0u)
    return {Begun, Then.Limits};
  if (More && Run.End)
    return {Begun + *More, addLimits(Then.Limits, Given.Limits)};
  // A run that was given more before, and is still at it or has made them.
  bool Enough = Run.End && Begun >= Given.Attempts;
  if (More || Enough)
    return Then;
  return {std::max(Given.Attempts, Begun), Given.Limits};
}

/// Makes search and run agree in how far they go.
static llvm::Error chooseExtent(const std::string &RunFolder,
                                PreparedSearch &Prepared,
                                std::optional<unsigned> More) {
  RunExtent Given = extentOf(Prepared.identity());
  if (More && *More)
    Given.Attempts = *More;
  if (!llvm::sys::fs::exists(RunFolder + "/run.json")) {
    if (More == 0u)
      return usageError("there is no run in '" + RunFolder +
                        "' yet, wanted one to end");
    Prepared.setExtent(Given);
    return llvm::Error::success();
  }
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  RunExtent To = chooseExtent(*Run, Given, More);
  if (llvm::Error E = setExtent(RunFolder, To))
    return E;
  Prepared.setExtent(To);
  return llvm::Error::success();
}

/// What is kept in place of a winner that no build could use: it is not asked
/// for again.
static void keepNothing(CacheEntry &Entry, llvm::Error Why,
                        BuildObserver &Observer) {
  std::string Said = llvm::toString(std::move(Why));
  Observer.onWarning(Said);
  Entry.WinnerText.clear();
  Entry.Facts.Title = "nothing: " + Said;
}

/// Unset when a winner could be kept.
static std::optional<CacheEntry>
refuseSearch(const Task &T, const UsersSource *Users, BuildObserver &Observer) {
  llvm::Error E = checkPlannable(T, Users);
  if (!E)
    return std::nullopt;
  CacheEntry Entry;
  Entry.Headers = Users ? Users->Headers : T.Headers;
  Entry.Facts.RunDigest = T.Digest;
  keepNothing(Entry,
              withContext(std::move(E), "no winner of " + T.Name +
                                            ".cu could be kept, so none is "
                                            "searched for"),
              Observer);
  return Entry;
}

llvm::Expected<SearchedEntry>
stark::searchForEntry(const BuildStep &Step, const BuildSearch &Search,
                      std::optional<unsigned> More, BuildObserver &Observer) {
  llvm::Expected<std::unique_ptr<PreparedSearch>> Prepared =
      prepareSearch(Search.Request, /*GoesOn=*/"", Observer);
  if (!Prepared)
    return Prepared.takeError();
  const Task &T = (*Prepared)->task();
  const UsersSource *Users = (*Prepared)->users();
  if (std::optional<CacheEntry> None = refuseSearch(T, Users, Observer))
    return SearchedEntry{std::move(*None), ""};
  llvm::Expected<std::string> RunFolder = folderOf(Step, Search, **Prepared);
  if (!RunFolder)
    return RunFolder.takeError();
  if (llvm::Error E = chooseExtent(*RunFolder, **Prepared, More))
    return E;
  llvm::Expected<SearchOutcome> Outcome = (*Prepared)->run(*RunFolder);
  if (!Outcome)
    return Outcome.takeError();
  llvm::Expected<RecordedRun> Run = readRun(*RunFolder);
  if (!Run)
    return Run.takeError();
  CacheEntry Entry = makeEntry(*Run, Users ? Users->Headers : T.Headers);
  // It is the best that this search can give.
  if (llvm::Error E = addPlan(Entry, T, Users))
    keepNothing(Entry, std::move(E), Observer);
  return SearchedEntry{std::move(Entry), std::move(*RunFolder)};
}

llvm::Expected<std::string> stark::keepEntry(const BuildStep &Step,
                                             const CacheEntry &Entry,
                                             llvm::StringRef Folder,
                                             BuildObserver &Observer) {
  llvm::Expected<std::string> Kept = storeWinner(Step.In, Entry, Folder);
  if (!Kept)
    return Kept;
  if (!Entry.WinnerText.empty())
    if (std::string Warning = sendToRemote(*Kept); !Warning.empty())
      Observer.onWarning(Warning);
  if (Folder == userCacheFolder())
    pruneUsersFolder();
  return Kept;
}

llvm::Error stark::keep(const BuildStep &Step, const SearchedEntry &Found,
                        llvm::StringRef Folder, BuildObserver &Observer) {
  llvm::Expected<std::string> Kept =
      keepEntry(Step, Found.Entry, Folder, Observer);
  if (!Kept && Found.RunFolder.empty())
    return Kept.takeError();
  if (!Kept)
    return withContext(Kept.takeError(), "the run is kept in '" +
                                             Found.RunFolder +
                                             "' (see --from-run)");
  return llvm::Error::success();
}
