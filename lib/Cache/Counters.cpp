//===- Counters.cpp - What became of look-ups ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/Counters.h"
#include "EntryFolder.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;

static std::string fileOf(CacheEvent Event, llvm::StringRef Folder) {
  return (Folder + "/.stats/" + nameOf(Event)).str();
}

void stark::count(CacheEvent Event) {
  std::string Folder = userCacheFolder();
  if (Folder.empty() || !fs::is_directory(Folder))
    return;
  (void)::mkdir((Folder + "/.stats").c_str(), 0777);
  int To = ::open(fileOf(Event, Folder).c_str(),
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                      O_NONBLOCK,
                  0666);
  if (To < 0)
    return;
  // A count that is lost on a full disk is no more than that.
  if (::write(To, ".", 1) != 1) {
  }
  ::close(To);
}

/// How often \p Event was counted in \p Folder.
static uint64_t countOf(CacheEvent Event, llvm::StringRef Folder) {
  uint64_t Size = 0;
  return fs::file_size(fileOf(Event, Folder), Size) ? 0 : Size;
}

void stark::printStats(llvm::StringRef Folder, llvm::raw_ostream &OS) {
  unsigned Entries = 0;
  uint64_t Bytes = 0;
  for (const std::string &Home : homesIn(Folder))
    for (const std::string &Where : entriesIn(Home))
      if (std::optional<EntryState> State = stateOf(Where)) {
        ++Entries;
        Bytes += State->Bytes;
      }
  OS << Folder << "\n" << Entries << " entries, " << Bytes << " bytes\n";
#define STARK_CACHE_EVENT(Event, Name, Text)                                   \
  OS << countOf(CacheEvent::Event, Folder) << " " Text "\n";
#include "stark/Cache/CacheEvents.def"
}
