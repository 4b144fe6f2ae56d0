//===- Store.cpp - Keeping a winner -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   winner -> entry, with its headers as another checkout finds them -> store
///
//===----------------------------------------------------------------------===//

#include "EntryFolder.h"
#include "Headers.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

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
  Entry.Key = Now->Key;
  Entry.Source = Now->Source;
  if (!Winner.Plan.Kept.empty())
    if (std::optional<ReachedKey> Reached = makeReachedKey(In, *Now))
      Entry.Reached = std::move(Reached->Key);
  Entry.Workload = Now->Workload;
  Entry.Flags = Now->Flags.Counting;
  Entry.Arch = In.Arch;
  Entry.Toolkit = In.ToolkitVersion;
  Entry.Torch = Now->Torch;
  if (!Winner.WinnerText.empty())
    Entry.Kernel = textDigest(Winner.WinnerText);
  Entry.Facts = Winner.Facts;
  Entry.Plan = Winner.Plan;

  return placeEntry(Entry, Winner.WinnerText, Now->Name, Folder);
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
  for (const std::string &Home : homesIn(Folder))
    for (const std::string &Where : entriesIn(Home)) {
      StoredEntry Entry;
      std::string Kernel;
      bool Gone = false;
      std::string Problem = readWhole(Where, Entry, Kernel, Gone);
      if (Gone)
        continue;
      if (Problem.empty() && entryName(Entry) != path::filename(Where))
        Problem = "its key and headers are those of " + entryName(Entry);
      ++Found.Entries;
      if (Problem.empty())
        continue;
      MissReason Damage{MissReason::Kind::Damaged, path::filename(Where).str(),
                        std::move(Problem)};
      Found.Problems.push_back(path::filename(Home).str() + ": " +
                               Damage.str());
    }
  return Found;
}
