//===- EntryFolder.h - The folder of an entry ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   store -> folders of entries -> their files, and away with them
/// Any number of processes on any number of machines read, write and remove
/// entries at once, and there is no lock: an entry comes to be, is replaced and
/// goes by a rename, on which network file systems are atomic, too. Whoever is
/// killed leaves a folder ".tmp-...", which a later one removes. No link is
/// followed, and only files that entries have are ever removed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_ENTRYFOLDER_H
#define STARK_LIB_CACHE_ENTRYFOLDER_H

#include "Entry.h"
#include "llvm/Support/Chrono.h"

namespace stark {

/// Whether all of \p Text is as digests are spelt: 0 to 9 and a to f.
bool isHex(llvm::StringRef Text);

/// The names of the folders in \p Store that can hold entries: of sources.
std::vector<std::string> homesIn(llvm::StringRef Store);

/// The entries' folders in \p Home, in the same order everywhere. What has not
/// the name of one (KEY12-HEADERS8) is none.
std::vector<std::string> entriesIn(llvm::StringRef Home);

/// Reads entry.json of \p Folder; empty, or what is wrong with it.
std::string readEntry(llvm::StringRef Folder, StoredEntry &Entry);

/// The same with kernel.cu, while others may put another entry in this one's
/// place; \p Gone: they have removed it.
std::string readWhole(llvm::StringRef Folder, StoredEntry &Entry,
                      std::string &Kernel, bool &Gone);

/// The folder of \p Entry in a home, by its key and headers.
std::string entryName(const StoredEntry &Entry);

/// Writes \p Entry of the source \p Name below \p Store, in the place of what
/// was there, and returns its folder.
llvm::Expected<std::string> placeEntry(const StoredEntry &Entry,
                                       llvm::StringRef Kernel,
                                       llvm::StringRef Name,
                                       llvm::StringRef Store);

/// What \p Folder holds and when it was used last. Unset when it is no folder.
struct EntryState {
  uint64_t Bytes = 0;
  llvm::sys::TimePoint<> Used;
};
std::optional<EntryState> stateOf(llvm::StringRef Folder);

/// Says that the entry in \p Folder was used now, at most once an hour.
void noteUse(llvm::StringRef Folder);

/// Removes the entry in \p Folder; one that another removes meanwhile is fine.
/// Empty, or why it stays: it holds what no entry has.
std::string removeEntry(llvm::StringRef Folder);

/// Removes what killed processes left in \p Home before \p Before. Returns how
/// many folders went.
unsigned removeLeftovers(llvm::StringRef Home, llvm::sys::TimePoint<> Before);

} // namespace stark

#endif
