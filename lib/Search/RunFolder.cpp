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
  if (llvm::Error E =
          Begun ? Run.goOn(Setup, Observer) : Run.create(Setup.Prompts))
    return E;
  return Run;
}

llvm::Error RunFolder::create(const PromptSet &Prompts) {
  // A process that was killed early leaves prompts and no run.json.
  for (const std::string &Name : entriesOf(Path, /*Clean=*/false))
    if (Name != "prompts" || !holdsOnly(Path + "/prompts", Prompts))
      return failed("run folder '" + Path + "' has no run.json but holds '" +
                    Name + "'; wanted an empty folder or a run");
  if (llvm::Error E = prepare(Prompts))
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
    if (llvm::Error E = prepare(Setup.Prompts))
      return E;
    // Killed before it could remove the file: the reply counts it already.
    for (const RecordedAttempt &A : Recorded.Attempts)
      for (const ReplyEvent &R : A.Replies)
        (void)llvm::sys::fs::remove(Path + "/" + lostFile(R.Id));
  }
  return readLost(Path, Recorded);
}

/// Everything here may have been done, in part, by a process that was killed.
llvm::Error RunFolder::prepare(const PromptSet &Prompts) {
  for (llvm::StringRef Sub : {"", "/candidates", "/replies", "/prompts"})
    entriesOf((Path + Sub).str(), /*Clean=*/true);
  for (const auto &[Name, Bytes] : Prompts.Files) {
    std::string File = Path + "/prompts/" + Name;
    if (!llvm::sys::fs::exists(File))
      if (llvm::Error E = writeFileAtomically(File, Bytes, Flush))
        return E;
  }
  return llvm::Error::success();
}

llvm::Error RunFolder::setDevice(llvm::StringRef Device) {
  if (Identity.Device == Device || Recorded.End)
    return llvm::Error::success();
  Identity.Device = Device.str();
  return writeFileAtomically(Path + "/run.json", printIdentity(Identity),
                             Flush);
}
