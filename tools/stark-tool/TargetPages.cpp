//===- TargetPages.cpp - The searches of a project's targets --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportPages.h"
#include "stark/Bench/SuitePage.h"
#include "stark/Driver/TargetFile.h"
#include "stark/Report/RunPage.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace stark;

namespace {
/// The last search of a source.
struct SourceRun {
  std::string Target, Name, Folder;
  RecordedRun Run;
};
} // namespace

static llvm::Expected<std::vector<SourceRun>>
runsOf(const std::vector<std::string> &Files) {
  std::vector<SourceRun> Runs;
  std::string Missing;
  for (const std::string &File : Files) {
    llvm::Expected<TargetFile> T = readTargetFile(File);
    if (!T)
      return T.takeError();
    for (const TargetSource &S : T->Sources) {
      std::string Name = subjectOf(*T, S);
      std::string Folder = newestRun(*T, S);
      if (Folder.empty()) {
        Missing += (Missing.empty() ? "" : ", ") + Name + " of " + T->Target;
        continue;
      }
      llvm::Expected<RecordedRun> Run = readRun(Folder);
      if (!Run)
        return Run.takeError();
      Runs.push_back({T->Target, Name, Folder, std::move(*Run)});
    }
  }
  if (Runs.empty())
    return failed("no search was made in this build folder for " + Missing +
                  "; TARGET_stark_tune makes one");
  if (!Missing.empty())
    llvm::errs() << "note: no search was made here for " << Missing << "\n";
  return Runs;
}

static std::string pageOf(const SourceRun &R) {
  std::string Page;
  llvm::raw_string_ostream OS(Page);
  printRunPage(R.Run, R.Folder, OS);
  return Page;
}

/// The page of each run beside \p Out, and what links to them.
static llvm::Error writeIndex(const std::vector<SourceRun> &Runs,
                              llvm::StringRef Out, std::string &Text) {
  SuiteResult Index;
  Index.Seeds = 1;
  std::map<std::string, std::string> Links;
  llvm::StringRef Stem = llvm::sys::path::stem(Out);
  std::string Beside =
      absolutePath(Out).substr(0, absolutePath(Out).rfind('/') + 1) +
      Stem.str();
  for (size_t I = 0; I < Runs.size(); ++I) {
    const SourceRun &R = Runs[I];
    CellFigures C = figuresOf(R.Run);
    C.Task = R.Name;
    C.Group = R.Target;
    C.Preset = R.Run.Identity.Provider;
    // Sources of one name, in two folders or targets.
    for (unsigned Copy = 2; Links.count(runPathOf(C)); ++Copy)
      C.Task = R.Name + " (" + std::to_string(Copy) + ")";
    std::string Page = std::to_string(I + 1) + "-" + R.Name + ".html";
    if (llvm::Error E = writeFileAtomically(Beside + "/" + Page, pageOf(R)))
      return E;
    Links[runPathOf(C)] = tool::addressOf(Stem) + "/" + tool::addressOf(Page);
    if (!llvm::is_contained(Index.Presets, C.Preset))
      Index.Presets.push_back(C.Preset);
    if (!llvm::StringRef(Index.Suite).ends_with(R.Target))
      Index.Suite += (I ? ", " : "") + R.Target;
    Index.Attempts = std::max(Index.Attempts, R.Run.Identity.Options.Attempts);
    Index.Cells.push_back(std::move(C));
  }
  llvm::raw_string_ostream OS(Text);
  printSuitePage(Index, Links, OS);
  return llvm::Error::success();
}

llvm::Error tool::reportTargets(const std::vector<std::string> &Files,
                                llvm::StringRef As, llvm::StringRef Out) {
  if (As != "html" || Out.empty())
    return usageError("report: got --format " + As + " and '" + Files.front() +
                      "', wanted -o FILE.html for what targets are built with");
  llvm::Expected<std::vector<SourceRun>> Runs = runsOf(Files);
  if (!Runs)
    return Runs.takeError();
  std::string Text;
  if (Runs->size() == 1)
    Text = pageOf(Runs->front());
  else if (llvm::Error E = writeIndex(*Runs, Out, Text))
    return E;
  if (llvm::Error E = writeFileAtomically(Out, Text))
    return E;
  llvm::outs() << absolutePath(Out) << "\n";
  return llvm::Error::success();
}
