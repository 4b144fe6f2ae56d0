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
#include "BuildFlags.h"
#include "Entry.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <optional>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr size_t KeyDigits = 12, HeaderDigits = 8;

namespace {
/// The parts of a key, apart, so that a miss can say which one differs.
struct KeyParts {
  std::string Name, Source, Workload, Key;
  BuildFlags Flags;

  explicit KeyParts(const CacheInputs &In)
      : Name(path::filename(In.SourcePath)), Flags(In.Flags) {}
};
} // namespace

static llvm::Expected<KeyParts> makeKey(const CacheInputs &In) {
  KeyParts Parts(In);
  llvm::Expected<std::string> Source = readFile(In.SourcePath);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::string> Workload = readFile(In.WorkloadPath);
  if (!Workload)
    return Workload.takeError();
  Parts.Source = textDigest(*Source);
  Parts.Workload = textDigest(*Workload);
  DigestBuilder Key;
  Key.add("format", "stark kernel cache 1");
  Key.add("name", Parts.Name);
  Key.add("source", Parts.Source);
  Key.add("workload", Parts.Workload);
  for (const std::string &Flag : Parts.Flags.Counting)
    Key.add("flag", Flag);
  Key.add("arch", In.Arch);
  Key.add("toolkit", In.ToolkitVersion);
  Parts.Key = Key.finish();
  return Parts;
}

llvm::Expected<std::string> stark::cacheKey(const CacheInputs &In) {
  llvm::Expected<KeyParts> Parts = makeKey(In);
  if (!Parts)
    return Parts.takeError();
  return Parts->Key;
}

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

/// The entries' folders below \p Place, in the same order everywhere.
static std::vector<std::string> entriesIn(llvm::StringRef Place) {
  std::vector<std::string> Entries;
  std::error_code Code;
  for (fs::directory_iterator I(Place, Code), End; I != End && !Code;
       I.increment(Code))
    if (!path::filename(I->path()).starts_with("."))
      Entries.push_back(I->path());
  llvm::sort(Entries);
  return Entries;
}

/// Reads entry.json of \p Folder; empty, or what is wrong with it.
static std::string readEntry(llvm::StringRef Folder, StoredEntry &Entry) {
  llvm::Expected<std::string> Text = readFile((Folder + "/entry.json").str());
  std::string Why =
      Text ? parseEntry(*Text, Entry) : llvm::toString(Text.takeError());
  return Why.empty()
             ? ""
             : "entry " + path::filename(Folder).str() + " is corrupt: " + Why;
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
      bool Named = path::filename(Where).starts_with(
          Now->Key.substr(0, KeyDigits) + "-");
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
  H.Digest = textDigest(*Text);
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
  if (!Winner.WinnerText.empty())
    Entry.Kernel = textDigest(Winner.WinnerText);
  Entry.Facts = Winner.Facts;

  std::string Home = (Folder + "/" + Now->Name).str();
  std::string Place = Home + "/" + Now->Key.substr(0, KeyDigits) + "-" +
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
      std::string Problem = readEntry(Where, Entry);
      if (Problem.empty() && !Entry.Kernel.empty()) {
        llvm::Expected<std::string> Kernel = readFile(Where + "/kernel.cu");
        if (!Kernel)
          Problem = llvm::toString(Kernel.takeError());
        else if (textDigest(*Kernel) != Entry.Kernel)
          Problem = "kernel.cu was changed";
        if (!Problem.empty())
          Problem = "entry " + path::filename(Where).str() +
                    " is corrupt: " + Problem;
      }
      ++Found.Entries;
      if (!Problem.empty())
        Found.Problems.push_back(path::filename(Home).str() + ": " + Problem);
    }
  }
  return Found;
}

std::string stark::userCacheFolder() {
  if (const char *Own = std::getenv("STARK_CACHE_DIR"); Own && *Own)
    return Own;
  if (const char *Xdg = std::getenv("XDG_CACHE_HOME"); Xdg && *Xdg)
    return std::string(Xdg) + "/stark";
  if (const char *Home = std::getenv("HOME"); Home && *Home)
    return std::string(Home) + "/.cache/stark";
  return "";
}
