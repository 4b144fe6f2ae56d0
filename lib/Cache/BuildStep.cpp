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

static llvm::StringRef fileName(llvm::StringRef Path) {
  return llvm::sys::path::filename(Path);
}

std::string stark::subjectOf(const BuildStep &Step, const CacheInputs &In) {
  std::string Name = fileName(In.SourcePath).str();
  if (!Step.MoreWorkloads.empty())
    Name += " with " + fileName(In.WorkloadPath).str();
  return Name;
}

static std::string withoutWinner(const BuildStep &Step, const Unwon &U) {
  return "no winner for " + subjectOf(Step, U.In) + " (" + U.Why.str() + ")";
}

llvm::Expected<BuildChoice> stark::chooseBuild(const BuildStep &Step,
                                               const Lookup &Found,
                                               BuildMode Mode, bool CanSearch) {
  if (Mode == BuildMode::Require && !Found.Without.empty())
    return failed(withoutWinner(Step, Found.Without.front()) +
                  ", and the mode is REQUIRE");
  BuildChoice::Kind Use =
      Found.Why ? BuildChoice::Kind::UseSource : BuildChoice::Kind::UseWinner;
  const Unwon *Open = Found.open();
  if (!Open)
    return BuildChoice{Use};
  bool Damaged = Open->Why.result() == LookupResult::Corrupt;
  if (CanSearch && (Mode == BuildMode::Auto || Mode == BuildMode::Search))
    return BuildChoice{BuildChoice::Kind::Search,
                       Damaged ? Open->Why.str() : ""};
  std::string None = withoutWinner(Step, *Open);
  if (Mode == BuildMode::Search)
    return failed(None +
                  ", and there is no provider and evaluator to search with");
  return BuildChoice{Use, None + (Found.Why ? "; building the source as it is"
                                            : "; building without it")};
}

std::vector<std::string> stark::explain(const BuildStep &Step,
                                        const Lookup &Found) {
  std::vector<std::string> Lines;
  auto Say = [&](const Lookup &L) {
    std::string Line = fileName(Step.In.SourcePath).str() + ": winner " +
                       fileName(L.From).str() + " for " + L.Entry.Arch +
                       ", taken for " + L.Entry.Plan.Covers;
    if (L.Moved)
      Line += ", of before other parts of the source changed";
    if (L.Entry.ToolkitVersion != Step.In.ToolkitVersion)
      Line += " (of CUDA toolkit " + L.Entry.ToolkitVersion + ", this is " +
              Step.In.ToolkitVersion + ")";
    Lines.push_back(std::move(Line));
  };
  if (!Found.Why)
    Say(Found);
  llvm::for_each(Found.More, Say);
  for (const Unwon &U : Found.Without)
    Lines.push_back(subjectOf(Step, U.In) + ": no winner for " + Step.In.Arch +
                    ": " + U.Why.str());
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

/// What \p Step is told of \p In.
static llvm::Expected<Lookup> findOne(const BuildStep &Step,
                                      const CacheInputs &In) {
  llvm::Expected<Lookup> Found = findWinner(In, cacheFolders(Step));
  if (!Found)
    return Found;
  if (!Found->Why && Found->Entry.Plan.empty())
    Found->Why =
        MissReason{MissReason::Kind::NoPlan, fileName(Found->From).str()};
  // An entry of another of the workloads is the nearest that there is.
  if (Found->Why && Found->Why->Is == MissReason::Kind::FileChanged &&
      !Step.MoreWorkloads.empty() &&
      Found->Why->Name == fileName(In.WorkloadPath))
    Found->Why = MissReason();
  return Found;
}

/// Adds to \p All the winners for \p In, a workload, on each architecture, and
/// to
/// \p Rest what is of all look-ups.
static llvm::Error addWorkload(const BuildStep &Step, CacheInputs In,
                               std::optional<Lookup> &All, Lookup &Rest) {
  std::vector<std::string> Archs = {Step.In.Arch};
  llvm::append_range(Archs, Step.MoreArchs);
  std::optional<Unwon> None;
  bool Won = false;
  for (const std::string &Arch : Archs) {
    In.Arch = Arch;
    llvm::Expected<Lookup> Found = findOne(Step, In);
    if (!Found)
      return Found.takeError();
    for (const std::string &Path : Found->Watched)
      if (!llvm::is_contained(Rest.Watched, Path))
        Rest.Watched.push_back(Path);
    if (Found->Why && Found->result() != LookupResult::NothingWon)
      Rest.Missing.push_back(In);
    if (Found->Why && !None)
      None = Unwon{In, *Found->Why};
    Won |= !Found->Why;
    if (!All || (!Found->Why && All->Why))
      All = std::move(*Found);
    else if (!Found->Why)
      All->More.push_back(std::move(*Found));
  }
  if (!Won)
    Rest.Without.push_back(std::move(*None));
  return llvm::Error::success();
}

llvm::Expected<Lookup> stark::findForBuild(const BuildStep &Step) {
  std::vector<std::string> Workloads = {Step.In.WorkloadPath};
  llvm::append_range(Workloads, Step.MoreWorkloads);
  std::optional<Lookup> Answer;
  Lookup Rest;
  for (const std::string &Workload : Workloads) {
    CacheInputs In = Step.In;
    In.WorkloadPath = Workload;
    if (llvm::Error E = addWorkload(Step, std::move(In), Answer, Rest))
      return E;
  }
  Answer->Watched = std::move(Rest.Watched);
  Answer->Missing = std::move(Rest.Missing);
  Answer->Without = std::move(Rest.Without);
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
  std::string Target = Step.DepfileTarget;
  if (Target.empty())
    Target = absolutePath(Step.Stamp.empty() ? Step.Output : Step.Stamp);
  std::string Text = escaped(Target) + ":";
  auto Add = [&](llvm::StringRef Path) {
    Text += " \\\n  " + escaped(absolutePath(Path));
  };
  Add(Step.In.SourcePath);
  Add(Step.In.WorkloadPath);
  llvm::for_each(Step.MoreWorkloads, Add);
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

llvm::Expected<std::string> stark::generatedText(const BuildStep &Step,
                                                 const Lookup &Found) {
  llvm::Expected<std::string> Source = readFile(Step.In.SourcePath);
  if (!Source)
    return Source.takeError();
  std::vector<PlannedWinner> Winners;
  auto Add = [&](const Lookup &L) {
    Winners.push_back(
        {L.Entry.WinnerText, L.Entry.Facts, L.Entry.Plan, L.Entry.Arch});
  };
  Add(Found);
  llvm::for_each(Found.More, Add);
  return makeGeneratedSource(*Source, Winners, absolutePath(Step.In.SourcePath),
                             absolutePath(Step.Output));
}

llvm::Error stark::useWinner(const BuildStep &Step, const Lookup &Found,
                             bool Again) {
  llvm::Expected<std::string> Text = generatedText(Step, Found);
  if (!Text)
    return Text.takeError();
  // What was compiled while the mode was another may be the source.
  if (Step.Require)
    *Text += "// The mode is REQUIRE: this is what has to compile.\n";
  if (llvm::Error E = writeFallback(Step.Output,
                                    {absolutePath(Step.In.SourcePath),
                                     fileName(Found.From).str(), Step.Require}))
    return E;
  return finish(Step, Found, *Text, Again);
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
