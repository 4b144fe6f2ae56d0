//===- Store.cpp - Keeping a winner -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   winner -> entry under a temporary name -> its place, by a rename
///
//===----------------------------------------------------------------------===//

#include "CacheKey.h"
#include "Entry.h"
#include "stark/Support/CodeTokens.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr size_t HeaderDigits = 8;

/// How an entry names \p File: relative to the deepest of the source's folder
/// and the include folders that holds it. A name on the include path is looked
/// up along that path, so that a header which now comes first is seen.
static llvm::Expected<StoredHeader> nameHeader(llvm::StringRef File,
                                               llvm::StringRef SourceFolder,
                                               const BuildFlags &Flags) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  StoredHeader H;
  H.Digest = codeDigest(*Text);
  size_t Deepest = 0;
  auto Try = [&](llvm::StringRef Folder, const char *From) {
    llvm::StringRef Rest = File;
    if (Folder.size() <= Deepest || !Rest.consume_front(Folder) ||
        !Rest.consume_front("/"))
      return;
    Deepest = Folder.size();
    H.From = From;
    H.Path = Rest.str();
  };
  Try(SourceFolder, "source");
  for (const std::string &Folder : Flags.Folders)
    Try(absolutePath(Folder), "include");
  if (Deepest)
    return H;
  // Reached by "../": the same steps lead to it from another checkout.
  H.From = "source";
  llvm::StringRef Base = SourceFolder;
  while (!Base.empty() && Base != "/" &&
         !File.starts_with((Base + "/").str())) {
    H.Path += "../";
    Base = path::parent_path(Base);
  }
  H.Path += File.drop_front(Base == "/" ? 1 : Base.size() + 1).str();
  return H;
}

/// Writes the files of an entry into \p Folder.
static llvm::Error writeEntry(llvm::StringRef Folder, const StoredEntry &Entry,
                              llvm::StringRef Kernel) {
  if (!Entry.Kernel.empty())
    if (llvm::Error E =
            writeFileAtomically((Folder + "/kernel.cu").str(), Kernel))
      return E;
  return writeFileAtomically((Folder + "/entry.json").str(), printEntry(Entry));
}

llvm::Expected<std::string> stark::storeWinner(const CacheInputs &In,
                                               const CacheEntry &Winner,
                                               llvm::StringRef Folder) {
  llvm::Expected<KeyParts> Now = makeKey(In);
  if (!Now)
    return Now.takeError();
  std::string SourceFolder =
      path::parent_path(absolutePath(In.SourcePath)).str();
  StoredEntry Entry;
  for (const std::string &File : Winner.Headers) {
    llvm::Expected<StoredHeader> H =
        nameHeader(absolutePath(File), SourceFolder, Now->Flags);
    if (!H)
      return H.takeError();
    Entry.Headers.push_back(std::move(*H));
  }
  // The same headers give the same name, in whatever order they were found.
  std::vector<std::pair<std::string, std::string>> Sorted;
  for (const StoredHeader &H : Entry.Headers)
    Sorted.push_back({H.From + "/" + H.Path, H.Digest});
  llvm::sort(Sorted);
  DigestBuilder HeaderDigest;
  for (const auto &[Path, Digest] : Sorted)
    HeaderDigest.add(Path, Digest);
  Entry.Key = Now->Key;
  Entry.Source = Now->Source;
  Entry.Workload = Now->Workload;
  Entry.Flags = Now->Flags.Counting;
  Entry.Arch = In.Arch;
  Entry.Toolkit = In.ToolkitVersion;
  Entry.Torch = Now->Torch;
  if (!Winner.WinnerText.empty())
    Entry.Kernel = textDigest(Winner.WinnerText);
  Entry.Facts = Winner.Facts;
  Entry.Plan = Winner.Plan;

  std::string Home = (Folder + "/" + Now->Name).str();
  std::string Place = Home + "/" + Now->prefix() +
                      HeaderDigest.finish().substr(0, HeaderDigits);
  llvm::SmallString<256> Temporary;
  fs::createUniquePath(Home + "/.tmp-%%%%%%%%%%", Temporary,
                       /*MakeAbsolute=*/false);
  if (llvm::Error E = writeEntry(Temporary, Entry, Winner.WinnerText)) {
    (void)fs::remove_directories(Temporary);
    return withContext(std::move(E), "cannot store the winner of " + Now->Name);
  }
  // A folder cannot be renamed onto a full one. Whoever comes second finds the
  // place free or taken by a whole entry.
  std::error_code Code;
  for (unsigned Try = 0; Try < 10; ++Try) {
    (void)fs::remove_directories(Place);
    Code = fs::rename(Temporary, Place);
    if (!Code)
      return Place;
  }
  (void)fs::remove_directories(Temporary);
  StoredEntry There;
  if (readEntry(Place, There).empty() && There.Kernel == Entry.Kernel)
    return Place;
  return failed("cannot store the winner of " + Now->Name + ": '" + Place +
                "': " + Code.message());
}

llvm::Error stark::checkWritable(llvm::StringRef Folder) {
  if (llvm::Error E = createFolders(Folder))
    return E;
  // access() says yes to root on file systems that then refuse.
  llvm::SmallString<256> Probe;
  int Descriptor = -1;
  if (std::error_code Code =
          fs::createUniqueFile(Folder + "/.tmp-%%%%%%%%%%", Descriptor, Probe))
    return failed("cannot write into '" + Folder + "': " + Code.message());
  ::close(Descriptor);
  (void)fs::remove(Probe);
  return llvm::Error::success();
}

llvm::Expected<StoreCheck> stark::checkStore(llvm::StringRef Folder) {
  if (!fs::is_directory(Folder))
    return failed("'" + Folder + "' is no folder");
  StoreCheck Found;
  for (const std::string &Home : entriesIn(Folder)) {
    if (!fs::is_directory(Home))
      continue;
    for (const std::string &Where : entriesIn(Home)) {
      StoredEntry Entry;
      std::string Kernel, Problem = readEntry(Where, Entry);
      if (Problem.empty() && !Entry.Kernel.empty())
        Problem = readKernel(Where, Entry, Kernel);
      ++Found.Entries;
      if (Problem.empty())
        continue;
      MissReason Damage{MissReason::Kind::Damaged, path::filename(Where).str(),
                        std::move(Problem)};
      Found.Problems.push_back(path::filename(Home).str() + ": " +
                               Damage.str());
    }
  }
  return Found;
}
