//===- BuildStep.cpp - What a build gets ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/BuildStep.h"
#include "stark/Cache/CompileStep.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

using namespace stark;
namespace fs = llvm::sys::fs;

llvm::Expected<BuildMode> stark::parseBuildMode(llvm::StringRef Name) {
  if (std::optional<BuildMode> Mode = valueNamed<BuildMode>(Name))
    return *Mode;
  return usageError("--mode: got '" + Name + "', wanted " +
                    allNames<BuildMode>());
}

llvm::Expected<BuildChoice> stark::chooseBuild(const BuildStep &Step,
                                               const Lookup &Found,
                                               BuildMode Mode, bool CanSearch) {
  if (!Found.Why)
    return BuildChoice{BuildChoice::Kind::UseWinner};
  std::string Why = Found.Why->str();
  std::string None = "no winner for " +
                     llvm::sys::path::filename(Step.In.SourcePath).str() +
                     " (" + Why + ")";
  if (Mode == BuildMode::Require)
    return failed(None + ", and the mode is REQUIRE");
  LookupResult Result = Found.result();
  if (Result == LookupResult::NothingWon)
    return BuildChoice{BuildChoice::Kind::UseSource};
  bool Damaged = Result == LookupResult::Corrupt;
  if (CanSearch && (Mode == BuildMode::Auto || Mode == BuildMode::Search))
    return BuildChoice{BuildChoice::Kind::Search, Damaged ? Why : ""};
  if (Mode == BuildMode::Search)
    return failed(None +
                  ", and there is no provider and evaluator to search with");
  return BuildChoice{BuildChoice::Kind::UseSource,
                     None + "; building the source as it is"};
}

std::vector<std::string> stark::explain(const BuildStep &Step,
                                        const Lookup &Found) {
  std::string Name = llvm::sys::path::filename(Step.In.SourcePath).str();
  if (Found.Why)
    return {Name + ": no winner for " + Step.In.Arch + ": " + Found.Why->str()};
  std::vector<std::string> Lines;
  auto Say = [&](const Lookup &L) {
    std::string Line = Name + ": winner " +
                       llvm::sys::path::filename(L.From).str() + " for " +
                       L.Entry.Arch + ", taken for " + L.Entry.Plan.Covers;
    if (L.Entry.ToolkitVersion != Step.In.ToolkitVersion)
      Line += " (of CUDA toolkit " + L.Entry.ToolkitVersion + ", this is " +
              Step.In.ToolkitVersion + ")";
    Lines.push_back(std::move(Line));
  };
  Say(Found);
  llvm::for_each(Found.More, Say);
  return Lines;
}

llvm::Expected<std::vector<std::string>>
stark::readFlagsFile(llvm::StringRef Path) {
  if (Path.empty())
    return std::vector<std::string>();
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  std::vector<std::string> Flags;
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(*Text).split(Lines, '\n');
  for (llvm::StringRef Line : Lines) {
    Line = Line.trim();
    // CMake's way to keep words together that are several to the compiler.
    if (Line.consume_front("SHELL:")) {
      llvm::BumpPtrAllocator Memory;
      llvm::StringSaver Saver(Memory);
      llvm::SmallVector<const char *> Words;
      llvm::cl::TokenizeGNUCommandLine(Line, Saver, Words);
      Flags.insert(Flags.end(), Words.begin(), Words.end());
    } else if (!Line.empty()) {
      Flags.push_back(Line.str());
    }
  }
  return Flags;
}

/// The stores of \p Step, then the user's cache folder.
static std::vector<std::string> cacheFolders(const BuildStep &Step) {
  std::vector<std::string> Folders = Step.Stores;
  if (std::string User = userCacheFolder(); !User.empty())
    Folders.push_back(User);
  return Folders;
}

llvm::Expected<Lookup> stark::findForBuild(const BuildStep &Step) {
  std::vector<std::string> Archs = {Step.In.Arch};
  Archs.insert(Archs.end(), Step.MoreArchs.begin(), Step.MoreArchs.end());
  std::optional<Lookup> Answer;
  std::vector<std::string> Watched, Missing;
  for (const std::string &Arch : Archs) {
    CacheInputs In = Step.In;
    In.Arch = Arch;
    llvm::Expected<Lookup> Found = findWinner(In, cacheFolders(Step));
    if (!Found)
      return Found.takeError();
    for (const std::string &Path : Found->Watched)
      if (!llvm::is_contained(Watched, Path))
        Watched.push_back(Path);
    if (!Found->Why && Found->Entry.Plan.empty())
      Found->Why = MissReason{MissReason::Kind::NoPlan,
                              llvm::sys::path::filename(Found->From).str()};
    if (Found->Why && Found->result() != LookupResult::NothingWon)
      Missing.push_back(Arch);
    if (!Answer || (!Found->Why && Answer->Why))
      Answer = std::move(*Found);
    else if (!Found->Why)
      Answer->More.push_back(std::move(*Found));
  }
  Answer->Watched = std::move(Watched);
  Answer->Missing = std::move(Missing);
  return std::move(*Answer);
}

/// Make's syntax: blanks, '#', '$' and ':' in names need care.
static std::string escaped(llvm::StringRef Path) {
  std::string Text;
  for (char C : Path) {
    if (C == ' ' || C == '#' || C == '\\')
      Text += '\\';
    if (C == '$')
      Text += '$';
    Text += C;
  }
  return Text;
}

/// What changes the answer: source, workload, headers, the entry, and the
/// folders in which another one may appear.
static std::string dependencies(const BuildStep &Step, const Lookup &Found) {
  std::string Text =
      escaped(absolutePath(Step.Stamp.empty() ? Step.Output : Step.Stamp)) +
      ":";
  auto Add = [&](llvm::StringRef Path) {
    Text += " \\\n  " + escaped(absolutePath(Path));
  };
  Add(Step.In.SourcePath);
  Add(Step.In.WorkloadPath);
  std::vector<const Lookup *> All = {&Found};
  for (const Lookup &L : Found.More)
    All.push_back(&L);
  std::vector<std::string> Headers;
  for (const Lookup *L : All)
    for (const std::string &Header : L->Entry.Headers)
      if (!llvm::is_contained(Headers, Header))
        Headers.push_back(Header);
  llvm::for_each(Headers, Add);
  for (const std::string &Folder : Found.Watched)
    Add(Folder);
  for (const Lookup *L : All)
    for (const char *Name : {"/entry.json", "/kernel.cu"})
      if (!L->From.empty() && fs::exists(L->From + Name))
        Add(L->From + Name);
  return Text + "\n";
}

static llvm::Error finish(const BuildStep &Step, const Lookup &Found,
                          const std::string &Text, bool Again) {
  llvm::Expected<std::string> Old = readFile(Step.Output);
  bool Same = Old && *Old == Text;
  if (!Old)
    llvm::consumeError(Old.takeError());
  if (!Same)
    if (llvm::Error E = writeFileAtomically(Step.Output, Text, /*Flush=*/false))
      return E;
  if (!Step.Depfile.empty())
    if (llvm::Error E =
            writeFileAtomically(Step.Depfile, dependencies(Step, Found), false))
      return E;
  if (Step.Stamp.empty())
    return llvm::Error::success();
  if (Again) {
    (void)fs::remove(Step.Stamp);
    return llvm::Error::success();
  }
  return writeFileAtomically(Step.Stamp, "", false);
}

llvm::Error stark::useWinner(const BuildStep &Step, const Lookup &Found) {
  llvm::Expected<std::string> Source = readFile(Step.In.SourcePath);
  if (!Source)
    return Source.takeError();
  std::vector<PlannedWinner> Winners;
  auto Add = [&](const Lookup &L) {
    Winners.push_back(
        {L.Entry.WinnerText, L.Entry.Facts, L.Entry.Plan, L.Entry.Arch});
  };
  Add(Found);
  for (const Lookup &L : Found.More)
    Add(L);
  llvm::Expected<std::string> Text =
      makeGeneratedSource(*Source, Winners, absolutePath(Step.In.SourcePath),
                          absolutePath(Step.Output));
  if (!Text)
    return Text.takeError();
  // What was compiled while the mode was another may be the source.
  if (Step.Require)
    *Text += "// The mode is REQUIRE: this is what has to compile.\n";
  if (llvm::Error E = writeFallback(
          Step.Output,
          {absolutePath(Step.In.SourcePath),
           llvm::sys::path::filename(Found.From).str(), Step.Require}))
    return E;
  return finish(Step, Found, *Text, false);
}

llvm::Error stark::useSource(const BuildStep &Step, const Lookup &Found,
                             bool Again) {
  llvm::Expected<std::string> Source = readFile(Step.In.SourcePath);
  if (!Source)
    return Source.takeError();
  removeFallback(Step.Output);
  return finish(Step, Found,
                passThrough(*Source, absolutePath(Step.In.SourcePath)), Again);
}
