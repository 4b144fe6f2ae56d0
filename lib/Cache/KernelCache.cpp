//===- KernelCache.cpp - Where winners are kept --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The on-disk format stands at the top of Entry.cpp.
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/KernelCache.h"
#include "CacheKey.h"
#include "Entry.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <optional>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Where \p H lies now; empty when nowhere. Only regular files are looked at:
/// what an entry names may be anything.
static std::string locate(const StoredHeader &H, llvm::StringRef SourceFolder,
                          const BuildFlags &Flags) {
  llvm::SmallString<256> Found;
  if (H.From == "source") {
    Found = SourceFolder;
    path::append(Found, H.Path);
    return fs::is_regular_file(Found) ? absolutePath(Found) : "";
  }
  for (const std::string &Folder : Flags.Folders) {
    Found = Folder;
    path::append(Found, H.Path);
    if (fs::is_regular_file(Found))
      return absolutePath(Found);
  }
  return "";
}

static std::string joined(llvm::ArrayRef<std::string> Words) {
  std::string Text;
  for (const std::string &Word : Words)
    Text += (Text.empty() ? "" : " ") + Word;
  return Text;
}

/// What keeps an entry with another key from being the answer, and how much of
/// the key it shares.
static std::pair<unsigned, std::string>
differenceOf(const StoredEntry &E, const KeyParts &Now, const CacheInputs &In) {
  unsigned Shared = 0;
  std::string Said;
  auto Part = [&](bool Same, const std::string &Words) {
    Shared += Same;
    if (!Same && Said.empty())
      Said = Words;
  };
  Part(E.Source == Now.Source, Now.Name + " changed");
  Part(E.Workload == Now.Workload,
       path::filename(In.WorkloadPath).str() + " changed");
  Part(E.Flags == Now.Flags.Counting, "its flags were '" + joined(E.Flags) +
                                          "' and are '" +
                                          joined(Now.Flags.Counting) + "'");
  Part(E.Arch == In.Arch, "it is for " + E.Arch + ", not " + In.Arch);
  Part(E.Toolkit == In.ToolkitVersion,
       "it is of CUDA toolkit " + E.Toolkit + ", not " + In.ToolkitVersion);
  return {Shared, Said};
}

/// Looks at one entry of the right key.
static Lookup tryEntry(llvm::StringRef Folder, const StoredEntry &Entry,
                       const CacheInputs &In, const KeyParts &Now) {
  Lookup L;
  L.From = Folder.str();
  std::string SourceFolder =
      path::parent_path(absolutePath(In.SourcePath)).str();
  for (const StoredHeader &H : Entry.Headers) {
    std::string Where = locate(H, SourceFolder, Now.Flags);
    if (!Where.empty())
      L.Entry.Headers.push_back(Where);
    if (!L.Note.empty())
      continue;
    if (Where.empty()) {
      L.Note = "header " + H.Path + " is missing";
      continue;
    }
    llvm::Expected<std::string> Content = readFile(Where);
    if (!Content)
      L.Note = llvm::toString(Content.takeError());
    else if (textDigest(*Content) != H.Digest)
      L.Note = "header " + H.Path + " changed";
  }
  if (!L.Note.empty())
    return L;
  L.Entry.Facts = Entry.Facts;
  if (Entry.Kernel.empty()) {
    L.Result = LookupResult::NothingWon;
    L.Note = "a search found nothing faster";
    return L;
  }
  llvm::Expected<std::string> Kernel = readFile((Folder + "/kernel.cu").str());
  if (Kernel && textDigest(*Kernel) == Entry.Kernel) {
    L.Result = LookupResult::Hit;
    L.Entry.WinnerText = std::move(*Kernel);
    return L;
  }
  L.Result = LookupResult::Corrupt;
  L.Note =
      "entry " + path::filename(Folder).str() + " is corrupt: " +
      (Kernel ? "kernel.cu was changed" : llvm::toString(Kernel.takeError()));
  return L;
}

/// The folder that changes when \p Place does or comes to be.
static void watch(std::vector<std::string> &Watched, const std::string &Folder,
                  const std::string &Place) {
  for (const std::string &Candidate :
       {Place, Folder, path::parent_path(Folder).str()})
    if (fs::is_directory(Candidate)) {
      Watched.push_back(Candidate);
      return;
    }
}

llvm::Expected<Lookup>
stark::findWinner(const CacheInputs &In,
                  const std::vector<std::string> &Folders) {
  llvm::Expected<KeyParts> Now = makeKey(In);
  if (!Now)
    return Now.takeError();
  // The first entry of the key that is no hit says why; without one, the entry
  // that shares the most.
  std::optional<Lookup> Near;
  unsigned Closest = 0;
  std::string Otherwise = "it has no entry";
  std::vector<std::string> Watched;
  for (const std::string &Folder : Folders) {
    std::string Place = Folder + "/" + Now->Name;
    watch(Watched, Folder, Place);
    for (const std::string &Where : entriesIn(Place)) {
      bool Named = path::filename(Where).starts_with(Now->prefix());
      StoredEntry Entry;
      Lookup L;
      std::string Damage = readEntry(Where, Entry);
      if (!Damage.empty()) {
        if (!Named)
          continue;
        L.Result = LookupResult::Corrupt;
        L.From = Where;
        L.Note = std::move(Damage);
      } else if (Entry.Key != Now->Key) {
        auto [Shared, Said] = differenceOf(Entry, *Now, In);
        if (Shared > Closest) {
          Closest = Shared;
          Otherwise = Said;
        }
        continue;
      } else {
        L = tryEntry(Where, Entry, In, *Now);
      }
      if (L.Result == LookupResult::Hit ||
          L.Result == LookupResult::NothingWon) {
        L.Watched = std::move(Watched);
        return L;
      }
      if (!Near)
        Near = std::move(L);
    }
  }
  if (!Near) {
    Near.emplace();
    Near->Note = std::move(Otherwise);
  }
  Near->Watched = std::move(Watched);
  return std::move(*Near);
}
