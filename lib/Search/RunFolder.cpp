//===- RunFolder.cpp - The folder of a run, opened ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunFolder.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace stark;

static bool isTemporary(llvm::StringRef Name) {
  // writeFileAtomically()'s names: NAME.XXXXXX.tmp
  return Name.ends_with(".tmp") &&
         Name.drop_back(4).rsplit('.').second.size() == 6;
}

/// The names in \p Folder, sorted; what a killed process left half written is
/// removed when \p Clean is set, and not named.
static std::vector<std::string> entriesOf(const std::string &Folder,
                                          bool Clean) {
  std::vector<std::string> Names;
  std::error_code Code;
  for (llvm::sys::fs::directory_iterator I(Folder, Code), End;
       I != End && !Code; I.increment(Code)) {
    std::string Name = llvm::sys::path::filename(I->path()).str();
    if (!isTemporary(Name))
      Names.push_back(Name);
    else if (Clean)
      (void)llvm::sys::fs::remove(I->path());
  }
  std::sort(Names.begin(), Names.end());
  return Names;
}

/// Whether each file in \p Folder is one of \p Prompts.
static bool holdsOnly(const std::string &Folder, const PromptSet &Prompts) {
  for (const std::string &Name : entriesOf(Folder, /*Clean=*/false)) {
    auto Known = Prompts.Files.find(Name);
    llvm::Expected<std::string> Bytes = readFile(Folder + "/" + Name);
    if (!Bytes) {
      llvm::consumeError(Bytes.takeError());
      return false;
    }
    if (Known == Prompts.Files.end() || Known->second != *Bytes)
      return false;
  }
  return true;
}

llvm::Expected<RunFolder> RunFolder::open(llvm::StringRef Path,
                                          const SearchSetup &Setup,
                                          const SearchOptions &Options,
                                          SearchObserver &Observer) {
  RunFolder Run;
  Run.Path = Path.str();
  Run.Identity = identityOf(Setup, Options);
  Run.Flush = Setup.Flush;
  if (llvm::Error E = createFolders(Path))
    return E;
  llvm::Expected<std::unique_ptr<FileLock>> Lock = lockFolder(Path);
  if (!Lock)
    return Lock.takeError();
  Run.Lock = std::move(*Lock);
  bool Begun = llvm::sys::fs::exists(Path + "/run.json");
  if (llvm::Error E = Begun ? Run.goOn(Setup, Observer) : Run.create(Setup))
    return E;
  return Run;
}

/// Whether \p File of a run without run.json has these bytes.
static bool holds(const std::string &File, llvm::StringRef Wanted) {
  llvm::Expected<std::string> Bytes = readFile(File);
  if (Bytes)
    return *Bytes == Wanted;
  llvm::consumeError(Bytes.takeError());
  return false;
}

llvm::Error RunFolder::create(const SearchSetup &Setup) {
  // A process that was killed early leaves prompts, the workload and no
  // run.json.
  auto Ours = [&](llvm::StringRef Name) {
    if (Name == "prompts")
      return holdsOnly(Path + "/prompts", Setup.Prompts);
    return Name == RunWorkloadFile &&
           holds(Path + "/" + Name.str(), Setup.Of.WorkloadText);
  };
  for (const std::string &Name : entriesOf(Path, /*Clean=*/false))
    if (!Ours(Name))
      return failed("run folder '" + Path + "' has no run.json but holds '" +
                    Name + "'; wanted an empty folder or a run");
  if (llvm::Error E = prepare(Setup))
    return E;
  // It comes last: a folder that has it has its prompts, too.
  return writeFileAtomically(Path + "/run.json", printIdentity(Identity),
                             Flush);
}

llvm::Error RunFolder::goOn(const SearchSetup &Setup,
                            SearchObserver &Observer) {
  llvm::Expected<RunIdentity> Then = readIdentity(Path);
  if (!Then)
    return Then.takeError();
  if (std::string Difference = differenceOf(*Then, Identity);
      !Difference.empty())
    return usageError("'" + Path + "/run.json' " + Difference +
                      "; a run goes on only with what it began with");
  for (const auto &[Name, Version] : Identity.Versions)
    if (Then->Versions[Name] != Version)
      Observer.onNote("the run began with " + Name + " " +
                      Then->Versions[Name] + ", now it is " + Version);
  // run.json keeps saying what the run began with.
  Identity = std::move(*Then);

  llvm::Expected<JournalContent> Read = readJournal(Path + "/journal.jsonl");
  if (!Read)
    return Read.takeError();
  Content = std::move(*Read);
  llvm::Expected<RecordedRun> Run =
      readEvents(Path, Content, Identity.Options.Jobs);
  if (!Run)
    return Run.takeError();
  Recorded = std::move(*Run);
  if (!Content.Note.empty())
    Observer.onNote(Content.Note);
  if (!Recorded.End) {
    if (llvm::Error E = prepare(Setup))
      return E;
    // Killed before it could remove the file: the reply counts it already.
    for (const RecordedAttempt &A : Recorded.Attempts)
      for (const ReplyEvent &R : A.Replies)
        (void)llvm::sys::fs::remove(Path + "/" + lostFile(R.Id));
  }
  return readLost(Path, Recorded);
}

/// Everything here may have been done, in part, by a process that was killed.
llvm::Error RunFolder::prepare(const SearchSetup &Setup) {
  for (llvm::StringRef Sub : {"", "/candidates", "/replies", "/prompts"})
    entriesOf((Path + Sub).str(), /*Clean=*/true);
  auto Keep = [&](const std::string &File, llvm::StringRef Bytes) {
    return llvm::sys::fs::exists(File)
               ? llvm::Error::success()
               : writeFileAtomically(File, Bytes, Flush);
  };
  for (const auto &[Name, Bytes] : Setup.Prompts.Files)
    if (llvm::Error E = Keep(Path + "/prompts/" + Name, Bytes))
      return E;
  if (!Setup.Of.WorkloadText.empty())
    return Keep(Path + "/" + RunWorkloadFile, Setup.Of.WorkloadText);
  return llvm::Error::success();
}

llvm::Error RunFolder::setDevice(llvm::StringRef Device) {
  if (Identity.Device == Device || Recorded.End)
    return llvm::Error::success();
  Identity.Device = Device.str();
  return writeFileAtomically(Path + "/run.json", printIdentity(Identity),
                             Flush);
}
