//===- ReportPages.cpp - Pages, suites and runs side by side --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportPages.h"
#include "stark/Bench/SuitePage.h"
#include "stark/Report/Comparison.h"
#include "stark/Report/RunPage.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

std::string tool::addressOf(llvm::StringRef Name) {
  std::string Out;
  for (char C : Name)
    if (llvm::isAlnum(C) || llvm::StringRef("_-.").contains(C))
      Out += C;
    else
      Out += "%" + llvm::toHex(llvm::StringRef(&C, 1));
  return Out;
}

/// A page for each run of \p R that can be read; the others stay without.
static llvm::Error writeRunPages(const SuiteResult &R, llvm::StringRef Suite,
                                 llvm::StringRef Out,
                                 std::map<std::string, std::string> &Links) {
  llvm::StringRef Stem = llvm::sys::path::stem(Out);
  std::string Beside = (llvm::sys::path::parent_path(Out) +
                        (!Out.contains('/') ? "" : "/") + Stem)
                           .str();
  for (const CellFigures &C : R.Cells) {
    std::string Path = runPathOf(C), Folder = (Suite + "/" + Path).str();
    // Where somebody has put the runs apart from the tables.
    std::string Apart = (Suite + "/runs/" + Path).str();
    if (!llvm::sys::fs::exists(Folder) && llvm::sys::fs::exists(Apart))
      Folder = Apart;
    llvm::Expected<RecordedRun> Run = readRun(Folder);
    if (!Run) {
      llvm::errs() << "note: " << llvm::toString(Run.takeError()) << "\n";
      continue;
    }
    std::string Page;
    llvm::raw_string_ostream OS(Page);
    printRunPage(*Run, Folder, OS);
    if (llvm::Error E =
            writeFileAtomically(Beside + "/" + Path + ".html", Page))
      return E;
    Links[Path] = tool::addressOf(Stem) + "/" + Path + ".html";
  }
  return llvm::Error::success();
}

static llvm::Error reportSuite(llvm::StringRef Folder, llvm::StringRef As,
                               llvm::StringRef Out, llvm::raw_ostream &OS) {
  llvm::Expected<SuiteResult> R = readSuiteFolder(Folder);
  if (!R)
    return R.takeError();
  if (As != "text" && As != "markdown" && As != "json" && As != "html" &&
      As != "csv")
    return usageError("report: got --format " + As +
                      " and a suite's folder, wanted text, markdown, json, "
                      "html or csv");
  if (As == "csv")
    printSuiteCsv(*R, OS);
  else if (As == "json")
    OS << suiteJson(*R);
  else if (As == "html") {
    std::map<std::string, std::string> Links;
    if (!Out.empty())
      if (llvm::Error E = writeRunPages(*R, Folder, Out, Links))
        return E;
    printSuitePage(*R, Links, OS);
  } else
    printSuite(*R, OS);
  return llvm::Error::success();
}

static llvm::Error compare(const std::vector<std::string> &Folders,
                           llvm::StringRef As, llvm::raw_ostream &OS) {
  std::vector<ComparedRun> Runs;
  for (const std::string &Folder : Folders) {
    llvm::Expected<RecordedRun> Run = readRun(Folder);
    if (!Run)
      return Run.takeError();
    Runs.push_back({Folder, std::move(*Run)});
  }
  if (As == "html")
    printComparisonPage(Runs, OS);
  else if (As != "text" && As != "markdown")
    return usageError("report: got --format " + As + " and " +
                      llvm::Twine(Folders.size()) +
                      " runs, wanted one run, or text, markdown or html");
  else
    printComparison(Runs, /*Markdown=*/As == "markdown", OS);
  return llvm::Error::success();
}

static llvm::Error pageOfRun(llvm::StringRef Folder, llvm::raw_ostream &OS) {
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (!Run)
    return Run.takeError();
  printRunPage(*Run, Folder, OS);
  return llvm::Error::success();
}

std::string tool::formatOf(llvm::StringRef Given, llvm::StringRef Out) {
  return !Given.empty()           ? Given.str()
         : Out.ends_with(".html") ? "html"
                                  : "text";
}

llvm::Expected<bool> tool::reportPages(const std::vector<std::string> &Folders,
                                       llvm::StringRef As,
                                       llvm::StringRef Out) {
  bool Suite = Folders.size() == 1 && isSuiteFolder(Folders.front());
  if (As == "csv" && !Suite)
    return usageError("report: --format csv is of a suite's folder, which has "
                      "tables.json; '" +
                      Folders.front() + "' has none");
  if (!Suite && Folders.size() == 1 && As != "html")
    return false;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (llvm::Error E = Suite ? reportSuite(Folders.front(), As, Out, OS)
                      : Folders.size() > 1 ? compare(Folders, As, OS)
                                           : pageOfRun(Folders.front(), OS))
    return E;
  if (!Out.empty()) {
    if (llvm::Error E = writeFileAtomically(Out, Text))
      return E;
  } else
    llvm::outs() << Text;
  return true;
}
