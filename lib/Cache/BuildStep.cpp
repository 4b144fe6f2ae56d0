//===- BuildStep.cpp - What a build gets ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/BuildStep.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
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

std::vector<std::string> stark::cacheFolders(const BuildStep &Step) {
  std::vector<std::string> Folders = Step.Stores;
  if (std::string User = userCacheFolder(); !User.empty())
    Folders.push_back(User);
  return Folders;
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
  for (const std::string &Header : Found.Entry.Headers)
    Add(Header);
  for (const std::string &Folder : Found.Watched)
    Add(Folder);
  for (const char *Name : {"/entry.json", "/kernel.cu"})
    if (!Found.From.empty() && fs::exists(Found.From + Name))
      Add(Found.From + Name);
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
  return finish(Step, Found,
                makeGeneratedSource(*Source, Found.Entry.WinnerText,
                                    Found.Entry.Facts,
                                    absolutePath(Step.In.SourcePath),
                                    absolutePath(Step.Output)),
                false);
}

llvm::Error stark::useSource(const BuildStep &Step, const Lookup &Found,
                             bool Again) {
  llvm::Expected<std::string> Source = readFile(Step.In.SourcePath);
  if (!Source)
    return Source.takeError();
  return finish(Step, Found,
                passThrough(*Source, absolutePath(Step.In.SourcePath)), Again);
}
