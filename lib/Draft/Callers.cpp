//===- Callers.cpp - Where a kernel of another file is launched -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   names of kernels and launchers -> files beside it, else of its project,
///   whose text has them -> parsed, those that launch first
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "stark/AST/SourceFile.h"
#include "stark/AST/Walk.h"
#include "stark/Draft/Draft.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace stark;
using namespace clang;

namespace {
/// The host functions and kernels that other files may name, and main().
class Defined : public Walker {
public:
  explicit Defined(const ParsedSource &Source)
      : SM(Source.unit().getSourceManager()) {
    walk(Source);
  }
  bool onDecl(Decl *D) override {
    auto *F = llvm::dyn_cast<FunctionDecl>(D);
    if (!F || llvm::isa<CXXMethodDecl>(F) || !F->getDeclName().isIdentifier() ||
        !SM.isInMainFile(SM.getExpansionLoc(F->getLocation())) ||
        !F->isThisDeclarationADefinition() || F->hasAttr<CUDADeviceAttr>())
      return true;
    HasMain |= F->isMain();
    Names.push_back(F->getNameAsString());
    return true;
  }
  std::vector<std::string> Names;
  bool HasMain = false;

private:
  const SourceManager &SM;
};
} // namespace

static bool includes(llvm::StringRef Text, llvm::StringRef FileName) {
  return Text.contains(("/" + FileName + "\"").str()) ||
         Text.contains(("\"" + FileName + "\"").str());
}

/// Whether a launch begins in \p Text, which may be written "<< <".
static bool hasLaunch(llvm::StringRef Text) {
  std::string Bare;
  llvm::copy_if(Text, std::back_inserter(Bare),
                [](char C) { return !llvm::isSpace(C); });
  return llvm::StringRef(Bare).contains("<<<");
}

/// 2: \p Text launches or includes what the names are of, 1: it calls it.
static int mentions(llvm::StringRef Text, llvm::ArrayRef<std::string> Names,
                    llvm::StringRef FileName) {
  if (includes(Text, FileName))
    return 2;
  int Most = 0;
  for (const std::string &Name : Names)
    for (size_t At = Text.find(Name); At != llvm::StringRef::npos;
         At = Text.find(Name, At + 1)) {
      auto Word = [](char C) { return llvm::isAlnum(C) || C == '_'; };
      if (At && Word(Text[At - 1]))
        continue;
      llvm::StringRef After = Text.substr(At + Name.size());
      if (After.empty() || Word(After.front()))
        continue;
      After = After.take_until([](char C) { return C == ';' || C == '{'; });
      Most = std::max(Most, hasLaunch(After)                 ? 2
                            : After.ltrim().starts_with("(") ? 1
                                                             : 0);
    }
  return Most;
}

namespace {
/// Looks through folders for what names the functions of a source.
class Search {
public:
  Search(std::string Path, const std::vector<std::string> &Names)
      : Path(std::move(Path)), Names(Names) {}
  void lookAt(const std::string &File);
  void lookIn(llvm::StringRef Folder);
  void lookBelow(llvm::StringRef Root);
  /// Of headers that launch, what includes them is compiled.
  void lookForHeaders();
  std::vector<std::pair<int, std::string>> Found; ///< negative: how well

private:
  static constexpr uint64_t MostBytes = 1 << 20;
  static constexpr size_t MostFiles = 600, MostEntries = 5000;
  const std::string Path;
  const std::vector<std::string> &Names;
  std::set<std::string> Seen;
  std::vector<std::string> Headers; ///< by their names alone, that launch
};
} // namespace

void Search::lookAt(const std::string &File) {
  llvm::StringRef Ending = llvm::sys::path::extension(File);
  uint64_t Bytes = 0;
  bool Header = llvm::is_contained({".cuh", ".h", ".hpp"}, Ending);
  bool Compiled =
      llvm::is_contained({".cu", ".cpp", ".cc", ".cxx", ".c"}, Ending);
  if ((!Header && !Compiled) || File == Path || Seen.size() >= MostFiles ||
      !Seen.insert(File).second || llvm::sys::fs::file_size(File, Bytes) ||
      Bytes > MostBytes)
    return;
  if (auto Text = llvm::MemoryBuffer::getFile(File))
    if (int How = mentions((*Text)->getBuffer(), Names,
                           llvm::sys::path::filename(Path))) {
      if (Compiled)
        Found.push_back({-How, File});
      else if (How == 2)
        Headers.push_back(llvm::sys::path::filename(File).str());
    }
}

void Search::lookForHeaders() {
  for (const std::string &File : Seen) {
    llvm::StringRef Ending = llvm::sys::path::extension(File);
    auto Text = llvm::MemoryBuffer::getFile(File);
    if (Text && (Ending == ".cu" || Ending == ".cpp") &&
        llvm::any_of(Headers, [&](const std::string &Header) {
          return includes((*Text)->getBuffer(), Header);
        }))
      Found.push_back({-2, File});
  }
}

void Search::lookIn(llvm::StringRef Folder) {
  std::error_code Failed;
  std::vector<std::string> Files;
  for (llvm::sys::fs::directory_iterator At(Folder, Failed), End;
       !Failed && At != End && Files.size() < MostFiles; At.increment(Failed))
    Files.push_back(At->path());
  llvm::sort(Files);
  for (const std::string &File : Files)
    lookAt(File);
}

void Search::lookBelow(llvm::StringRef Root) {
  std::error_code Failed;
  std::vector<std::string> Files;
  size_t Entries = 0;
  for (llvm::sys::fs::recursive_directory_iterator
           At(Root, Failed, /*FollowSymlinks=*/false),
       End;
       !Failed && At != End && ++Entries < MostEntries; At.increment(Failed)) {
    if (llvm::sys::path::filename(At->path()).starts_with("."))
      At.no_push();
    else
      Files.push_back(At->path());
  }
  llvm::sort(Files);
  for (const std::string &File : Files)
    lookAt(File);
}

/// The outermost of a few folders above \p Folder that looks like a project's.
static std::string projectOf(llvm::StringRef Folder) {
  constexpr unsigned MostAbove = 4;
  std::string Root;
  for (unsigned I = 0; I <= MostAbove && !Folder.empty(); ++I) {
    for (const char *Mark :
         {".git", "LICENSE", "README.md", "CMakeLists.txt", "Makefile"}) {
      llvm::SmallString<256> At(Folder);
      llvm::sys::path::append(At, Mark);
      if (llvm::sys::fs::exists(At))
        Root = Folder.str();
    }
    llvm::SmallString<256> Git(Folder);
    llvm::sys::path::append(Git, ".git");
    if (llvm::sys::fs::exists(Git))
      break;
    Folder = llvm::sys::path::parent_path(Folder);
  }
  return Root;
}

std::vector<std::unique_ptr<ParsedSource>>
stark::findCallers(const ParsedSource &Source, const ParseOptions &Options) {
  constexpr size_t MostCallers = 3;
  std::vector<std::unique_ptr<ParsedSource>> Callers;
  Defined Own(Source);
  if (Own.HasMain || Own.Names.empty())
    return Callers;
  llvm::SmallString<256> Path(Source.path());
  llvm::sys::fs::make_absolute(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  llvm::StringRef Folder = llvm::sys::path::parent_path(Path);
  Search Files(Path.str().str(), Own.Names);
  Files.lookIn(Folder);
  Files.lookIn(llvm::sys::path::parent_path(Folder));
  if (Files.Found.empty())
    if (std::string Root = projectOf(Folder); !Root.empty())
      Files.lookBelow(Root);
  if (llvm::none_of(Files.Found,
                    [](const auto &Each) { return Each.first == -2; }))
    Files.lookForHeaders();
  llvm::stable_sort(Files.Found, [](const auto &L, const auto &R) {
    return L.first < R.first;
  });
  // Copies, as in folders of steps, tell nothing more.
  std::set<std::string> Texts = {Source.text().str()};
  for (const auto &[How, File] : Files.Found) {
    if (Callers.size() == MostCallers)
      break;
    auto Parsed = parseSourceFile(File, Options);
    if (!Parsed)
      llvm::consumeError(Parsed.takeError());
    else if (Texts.insert((*Parsed)->text().str()).second)
      Callers.push_back(std::move(*Parsed));
  }
  return Callers;
}
