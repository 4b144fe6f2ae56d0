//===- main.cpp - stark-cache, the build step's look-up ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + workload + store -> generated source + depfile
/// Starts in milliseconds: links no Clang, starts no process on a hit. On a
/// miss it runs `stark-tool build` when the mode allows a search, else the
/// source goes through as it is, with one warning. Exit codes as stark-tool's.
///
//===----------------------------------------------------------------------===//

#include "stark/Cache/KernelCache.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace stark;
namespace cl = llvm::cl;
namespace path = llvm::sys::path;

static cl::OptionCategory Category("stark-cache options");
static cl::opt<std::string> Source("source", cl::desc("The user's source"),
                                   cl::value_desc("FILE.cu"), cl::Required,
                                   cl::cat(Category));
static cl::opt<std::string> Workload("workload", cl::desc("Its workload"),
                                     cl::value_desc("FILE"), cl::Required,
                                     cl::cat(Category));
static cl::opt<std::string> Output("output",
                                   cl::desc("Where the source to build goes"),
                                   cl::value_desc("FILE"), cl::Required,
                                   cl::cat(Category));
static cl::opt<std::string>
    Depfile("depfile", cl::desc("Where what it depends on goes, as a makefile"),
            cl::value_desc("FILE"), cl::cat(Category));
static cl::list<std::string> Stores("store",
                                    cl::desc("A folder of winners; in order"),
                                    cl::value_desc("DIR"), cl::cat(Category));
static cl::opt<std::string> Arch("arch", cl::desc("GPU architecture"),
                                 cl::value_desc("sm_NN"), cl::Required,
                                 cl::cat(Category));
static cl::opt<std::string> ToolkitVersion("toolkit-version",
                                           cl::desc("CUDA toolkit, e.g. 13.0"),
                                           cl::Required, cl::cat(Category));
static cl::opt<std::string>
    Mode("mode", cl::desc("AUTO, CACHED, SEARCH or REQUIRE (default AUTO)"),
         cl::init("AUTO"), cl::cat(Category));
static cl::opt<std::string>
    FlagsFile("flags-file", cl::desc("The compiler's flags, one a line"),
              cl::value_desc("FILE"), cl::cat(Category));
static cl::list<std::string>
    Search("search",
           cl::desc("The command that searches on a miss, one word each time; "
                    "none: there is no search"),
           cl::value_desc("WORD"), cl::cat(Category));

/// Make's syntax: blanks, '#' and '$' in names need care.
static std::string escaped(llvm::StringRef Path) {
  std::string Text;
  for (char C : Path) {
    if (C == ' ' || C == '#')
      Text += '\\';
    if (C == '$')
      Text += '$';
    Text += C;
  }
  return Text;
}

/// What changes the answer: source, workload, headers, and the folders in
/// which an entry may appear or vanish.
static llvm::Error writeDepfile(const Lookup &Found) {
  if (Depfile.empty())
    return llvm::Error::success();
  std::string Text = escaped(Output) + ":";
  auto Add = [&](const std::string &Path) {
    Text += " \\\n  " + escaped(absolutePath(Path));
  };
  Add(Source);
  Add(Workload);
  for (const std::string &Header : Found.Entry.Headers)
    Add(Header);
  for (const std::string &Store : Stores) {
    std::string Place = Store + "/" + path::filename(Source).str();
    if (llvm::sys::fs::is_directory(Place))
      Add(Place);
  }
  if (Found.Result != LookupResult::Miss) {
    Add(Found.From + "/entry.json");
    Add(Found.From + "/kernel.cu");
  }
  return writeFileAtomically(Depfile, Text + "\n");
}

static llvm::Expected<std::vector<std::string>> readFlags() {
  std::vector<std::string> Flags;
  if (FlagsFile.empty())
    return Flags;
  llvm::Expected<std::string> Text = readFile(FlagsFile);
  if (!Text)
    return Text.takeError();
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(*Text).split(Lines, '\n');
  for (llvm::StringRef Line : Lines)
    if (Line = Line.trim(); !Line.empty())
      Flags.push_back(Line.str());
  return Flags;
}

/// Becomes the searching command; returns only when that could not start.
static llvm::Error becomeSearch() {
  std::vector<char *> Words;
  for (const std::string &Word : Search)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  ::execvp(Words[0], Words.data());
  return failed("cannot run '" + Search[0] + "': " + std::strerror(errno));
}

static llvm::Error run() {
  bool MaySearch = Mode == "AUTO" || Mode == "SEARCH";
  if (!MaySearch && Mode != "CACHED" && Mode != "REQUIRE")
    return usageError("--mode: got '" + Mode +
                      "', wanted AUTO, CACHED, SEARCH or REQUIRE");
  llvm::Expected<std::vector<std::string>> Flags = readFlags();
  if (!Flags)
    return Flags.takeError();
  CacheInputs In{Source, Workload, *Flags, Arch, ToolkitVersion};
  std::vector<std::string> Folders(Stores.begin(), Stores.end());
  if (std::string User = userCacheFolder(); !User.empty())
    Folders.push_back(User);
  llvm::Expected<Lookup> Found = findWinner(In, Folders);
  if (!Found)
    return Found.takeError();
  llvm::Expected<std::string> Text = readFile(Source);
  if (!Text)
    return Text.takeError();
  std::string Name = path::filename(Source).str();
  if (llvm::Error E = writeDepfile(*Found))
    return E;
  if (Found->Result == LookupResult::Hit)
    return writeFileAtomically(
        Output,
        makeGeneratedSource(*Text, Found->Entry.WinnerText, Found->Entry.Facts,
                            absolutePath(Source), absolutePath(Output)));
  if (Mode == "REQUIRE")
    return failed("no winner for " + Name + " (" + Found->Note +
                  "), and STARK_MODE is REQUIRE");
  if (MaySearch && !Search.empty()) {
    if (Found->Result == LookupResult::Corrupt)
      llvm::errs() << "warning: STARK: " << Found->Note << "\n";
    return becomeSearch();
  }
  if (Mode == "SEARCH")
    return failed("no winner for " + Name + " (" + Found->Note +
                  "), and no provider and evaluator are set to search with");
  llvm::errs() << "warning: STARK: no winner for " << Name << " ("
               << Found->Note << "); building the source as it is\n";
  return writeFileAtomically(Output, "#line 1 \"" + absolutePath(Source) +
                                         "\"\n" + *Text);
}

int main(int Argc, char **Argv) {
  cl::HideUnrelatedOptions(Category);
  std::string Problem;
  llvm::raw_string_ostream Stream(Problem);
  if (!cl::ParseCommandLineOptions(
          Argc, Argv,
          "Puts a source's winner, or the source itself, where a build wants "
          "it.\n\nThis is the build step behind stark_optimize_kernels(). "
          "Folders are looked\nthrough in the order of --store, then the "
          "user's cache ($STARK_CACHE_DIR,\n$XDG_CACHE_HOME/stark, "
          "~/.cache/stark).\n\nExit codes: 0 done, 1 failed, 2 usage, 75 the "
          "search is suspended.\n",
          &Stream)) {
    llvm::errs() << Problem;
    return 2;
  }
  llvm::Error E = run();
  int Code = exitCodeFor(E);
  llvm::handleAllErrors(std::move(E), [](const llvm::ErrorInfoBase &Info) {
    llvm::errs() << "error: STARK: " << Info.message() << "\n";
  });
  return Code;
}
