//===- EntryFolder.cpp - The folder of an entry --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryFolder.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using llvm::StringRef;

static constexpr size_t KeyDigits = 12, HeaderDigits = 8;
static constexpr StringRef TemporaryPrefix = ".tmp-";
static constexpr std::chrono::hours UseIsNotedEvery(1);
static constexpr unsigned MostReadings = 20;

static std::vector<std::string>
foldersIn(StringRef Place, llvm::function_ref<bool(StringRef)> Named) {
  std::vector<std::string> Found;
  std::error_code Code;
  for (fs::directory_iterator I(Place, Code, /*follow_symlinks=*/false), End;
       I != End && !Code; I.increment(Code))
    if (Named(path::filename(I->path())))
      Found.push_back(I->path());
  llvm::sort(Found);
  return Found;
}

bool stark::isHex(StringRef Text) {
  return llvm::all_of(
      Text, [](char C) { return llvm::isDigit(C) || (C >= 'a' && C <= 'f'); });
}

std::vector<std::string> stark::homesIn(StringRef Store) {
  return foldersIn(Store,
                   [](StringRef Name) { return !Name.starts_with("."); });
}

std::vector<std::string> stark::entriesIn(StringRef Home) {
  return foldersIn(Home, [](StringRef Name) {
    auto [Key, Headers] = Name.split('-');
    return Key.size() == KeyDigits && Headers.size() == HeaderDigits &&
           isHex(Key) && isHex(Headers);
  });
}

static bool isFolder(StringRef Path) {
  fs::file_status Status;
  return !fs::status(Path, Status, /*follow=*/false) &&
         Status.type() == fs::file_type::directory_file;
}

static std::string readPart(StringRef Folder, const char *Name, size_t Limit,
                            std::string &Text) {
  std::string Error;
  std::optional<std::string> Read =
      posix::readRegularFile((Folder + "/" + Name).str(), Limit, Error);
  Text = Read.value_or("");
  return Error;
}

std::string stark::readEntry(StringRef Folder, StoredEntry &Entry) {
  if (!isFolder(Folder))
    return "it is no folder";
  std::string Text;
  std::string Why = readPart(Folder, "entry.json", LargestEntry, Text);
  return Why.empty() ? parseEntry(Text, Entry) : Why;
}

/// Reads kernel.cu of \p Folder, the winner of \p Entry, likewise.
static std::string readKernel(StringRef Folder, const StoredEntry &Entry,
                              std::string &Kernel) {
  std::string Text;
  std::string Why = readPart(Folder, "kernel.cu", LargestKernel, Text);
  if (!Why.empty())
    return Why;
  if (textDigest(Text) != Entry.Kernel)
    return "kernel.cu was changed";
  Kernel = std::move(Text);
  return "";
}

/// Which folder stands at \p Folder, and its state. Unset when there is none.
static std::optional<std::tuple<dev_t, ino_t, int64_t, int64_t>>
identityOf(StringRef Folder) {
  struct stat Status;
  if (::lstat(Folder.str().c_str(), &Status) != 0)
    return std::nullopt;
  return std::tuple(Status.st_dev, Status.st_ino,
                    int64_t(Status.st_ctim.tv_sec),
                    int64_t(Status.st_ctim.tv_nsec));
}

std::string stark::readWhole(StringRef Folder, StoredEntry &Entry,
                             std::string &Kernel, bool &Gone) {
  // What is damaged is so each time. A file may be stale once, and whoever
  // replaces the folder meanwhile mixes one entry's files with another's.
  std::string Why, Before;
  for (unsigned Try = 0; Try < MostReadings; ++Try) {
    auto Then = identityOf(Folder);
    Before = std::exchange(Why, readEntry(Folder, Entry));
    if (!Why.empty())
      Entry = StoredEntry(); // nothing of what is damaged counts
    else if (!Entry.Kernel.empty())
      Why = readKernel(Folder, Entry, Kernel);
    auto Now = identityOf(Folder);
    Gone = !Why.empty() && !Now;
    if (Why.empty() || Gone || (Why == Before && Then == Now))
      break;
  }
  return Why;
}

std::string stark::entryName(const StoredEntry &Entry) {
  // The same headers give the same name, in whatever order they were found.
  std::vector<std::pair<std::string, std::string>> Sorted;
  for (const StoredHeader &H : Entry.Headers)
    Sorted.push_back({H.From + "/" + H.Path, H.Digest});
  llvm::sort(Sorted);
  DigestBuilder Headers;
  for (const auto &[Path, Digest] : Sorted)
    Headers.add(Path, Digest);
  return Entry.Key.substr(0, KeyDigits) + "-" +
         Headers.finish().substr(0, HeaderDigits);
}

static std::string temporaryIn(StringRef Home) {
  llvm::SmallString<256> Path;
  fs::createUniquePath(Home + "/" + TemporaryPrefix + "%%%%%%%%%%", Path,
                       /*MakeAbsolute=*/false);
  return std::string(Path);
}

/// What entries have, and what a killed writer of one leaves.
static bool isOfEntry(StringRef Name) {
  return Name == "entry.json" || Name == "kernel.cu" || Name == "used" ||
         ((Name.starts_with("entry.json.") || Name.starts_with("kernel.cu.")) &&
          Name.ends_with(".tmp"));
}

/// Removes a folder that is nobody's any more; what is no entry's stays.
static bool removeFiles(StringRef Folder) {
  // In a link's place it is the link that goes.
  if (!isFolder(Folder))
    return ::unlink(Folder.str().c_str()) == 0;
  int Within = ::open(Folder.str().c_str(),
                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (Within < 0)
    return false;
  for (const std::string &File :
       foldersIn(Folder, [](StringRef Name) { return isOfEntry(Name); }))
    (void)::unlinkat(Within, path::filename(File).str().c_str(), 0);
  ::close(Within);
  return ::rmdir(Folder.str().c_str()) == 0;
}

std::string stark::removeEntry(StringRef Folder) {
  std::vector<std::string> Strange;
  if (isFolder(Folder))
    Strange =
        foldersIn(Folder, [](StringRef Name) { return !isOfEntry(Name); });
  if (!Strange.empty())
    return ("'" + Folder + "' holds '" + path::filename(Strange.front()) +
            "', which no entry has")
        .str();
  std::string Aside = temporaryIn(path::parent_path(Folder));
  if (std::error_code Code = fs::rename(Folder, Aside))
    return Code == std::errc::no_such_file_or_directory
               ? ""
               : ("cannot remove '" + Folder + "': ").str() + Code.message();
  (void)removeFiles(Aside);
  return "";
}

unsigned stark::removeLeftovers(StringRef Home, llvm::sys::TimePoint<> Before) {
  unsigned Gone = 0;
  for (const std::string &Folder : foldersIn(Home, [](StringRef Name) {
         return Name.starts_with(TemporaryPrefix);
       })) {
    fs::file_status Status;
    if (!fs::status(Folder, Status, /*follow=*/false) &&
        Status.getLastModificationTime() < Before)
      Gone += removeFiles(Folder);
  }
  return Gone;
}

/// Writes the files of an entry into \p Folder.
static llvm::Error writeEntry(const std::string &Folder,
                              const StoredEntry &Entry, StringRef Kernel) {
  if (!Entry.Kernel.empty())
    if (llvm::Error E = writeFileAtomically(Folder + "/kernel.cu", Kernel))
      return E;
  return writeFileAtomically(Folder + "/entry.json", printEntry(Entry));
}

llvm::Expected<std::string> stark::placeEntry(const StoredEntry &Entry,
                                              StringRef Kernel, StringRef Name,
                                              StringRef Store) {
  std::string Home = (Store + "/" + Name).str();
  std::string Place = Home + "/" + entryName(Entry);
  std::string Temporary = temporaryIn(Home);
  if (llvm::Error E = writeEntry(Temporary, Entry, Kernel)) {
    (void)removeFiles(Temporary);
    return withContext(std::move(E), "cannot store the winner of " + Name);
  }
  // Where two names cannot be exchanged, whoever comes second finds the place
  // free or taken by a whole entry.
  for (unsigned Try = 0; Try < 10; ++Try) {
    if (posix::exchangeFolders(Temporary, Place)) {
      (void)removeFiles(Temporary); // what was there
      return Place;
    }
    // A network file system may have done what it says it has not: nobody else
    // moves a folder of that name, and what has its place by now is newer.
    if (!isFolder(Temporary) && isFolder(Home))
      return Place;
    std::string Why = removeEntry(Place);
    if (!Why.empty()) {
      (void)removeFiles(Temporary);
      return failed("cannot store the winner of " + Name + ": " + Why);
    }
  }
  std::string Why = std::strerror(errno);
  (void)removeFiles(Temporary);
  return failed("cannot store the winner of " + Name + ": '" + Place +
                "': " + Why);
}

std::optional<EntryState> stark::stateOf(StringRef Folder) {
  if (!isFolder(Folder))
    return std::nullopt;
  EntryState State;
  for (const char *Name : {"entry.json", "kernel.cu", "used"}) {
    fs::file_status Status;
    if (fs::status(Folder + "/" + Name, Status, /*follow=*/false))
      continue;
    State.Bytes += Status.getSize();
    State.Used = std::max(State.Used, Status.getLastModificationTime());
  }
  return State;
}

void stark::noteUse(StringRef Folder) {
  std::string File = (Folder + "/used").str();
  fs::file_status Status;
  if (!fs::status(File, Status, /*follow=*/false) &&
      std::chrono::system_clock::now() - Status.getLastModificationTime() <
          UseIsNotedEvery)
    return;
  // A cache that cannot be written is a cache all the same.
  int Opened =
      ::open(File.c_str(),
             O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (Opened < 0)
    return;
  (void)::futimens(Opened, nullptr);
  ::close(Opened);
}
