//===- Limits.cpp - How large and old a cache gets -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/Limits.h"
#include "EntryFolder.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace stark;
namespace fs = llvm::sys::fs;
using std::chrono::hours;
using std::chrono::system_clock;

/// How long a writer may take over an entry.
static constexpr hours LeftAfter(1);
static constexpr std::chrono::minutes PrunesEvery(1);

llvm::Expected<uint64_t> stark::parseBytes(llvm::StringRef Text,
                                           llvm::StringRef Of) {
  llvm::StringRef Digits = Text.take_while(llvm::isDigit);
  unsigned Shift = llvm::StringSwitch<unsigned>(Text.substr(Digits.size()))
                       .Case("", 0)
                       .Case("K", 10)
                       .Case("M", 20)
                       .Case("G", 30)
                       .Default(64);
  uint64_t Count = 0;
  if (Shift == 64 || Digits.getAsInteger(10, Count) ||
      Count > (UINT64_MAX >> Shift))
    return usageError(Of + ": got '" + Text +
                      "', wanted a number of bytes such as 500M or 2G");
  return Count << Shift;
}

llvm::Expected<unsigned> stark::parseDays(llvm::StringRef Text,
                                          llvm::StringRef Of) {
  unsigned Days = 0;
  if (Text.getAsInteger(10, Days))
    return usageError(Of + ": got '" + Text +
                      "', wanted a number of days such as 90");
  return Days;
}

llvm::Expected<CacheLimits> stark::limitsOfUser() {
  CacheLimits Limits;
  if (const char *Size = std::getenv("STARK_CACHE_MAX_SIZE"); Size && *Size) {
    llvm::Expected<uint64_t> Bytes = parseBytes(Size, "STARK_CACHE_MAX_SIZE");
    if (!Bytes)
      return Bytes.takeError();
    Limits.Bytes = *Bytes;
  }
  if (const char *Age = std::getenv("STARK_CACHE_MAX_AGE"); Age && *Age) {
    llvm::Expected<unsigned> Days = parseDays(Age, "STARK_CACHE_MAX_AGE");
    if (!Days)
      return Days.takeError();
    Limits.Days = *Days;
  }
  return Limits;
}

Pruned stark::prune(llvm::StringRef Folder, const CacheLimits &Limits,
                    llvm::sys::TimePoint<> Now) {
  struct Found {
    std::string Where;
    EntryState State;
  };
  Pruned Result;
  std::vector<Found> All;
  for (const std::string &Home : homesIn(Folder)) {
    Result.Leftovers += removeLeftovers(Home, Now - LeftAfter);
    for (const std::string &Where : entriesIn(Home))
      if (std::optional<EntryState> State = stateOf(Where))
        All.push_back({Where, *State});
  }
  // The newest first; what does not fit behind them goes.
  llvm::sort(All, [](const Found &A, const Found &B) {
    return A.State.Used != B.State.Used ? A.State.Used > B.State.Used
                                        : A.Where < B.Where;
  });
  for (const Found &F : All) {
    bool Old = Limits.Days && Now - F.State.Used > hours(24) * *Limits.Days;
    bool Fits = Result.KeptBytes + F.State.Bytes <= Limits.Bytes;
    std::string Why;
    if (Old || !Fits)
      Why = removeEntry(F.Where);
    if ((Old || !Fits) && Why.empty()) {
      ++Result.Entries;
      Result.Bytes += F.State.Bytes;
      continue;
    }
    if (!Why.empty())
      Result.Problems.push_back(std::move(Why));
    ++Result.Kept;
    Result.KeptBytes += F.State.Bytes;
  }
  return Result;
}

void stark::pruneUsersFolder() {
  std::string Folder = userCacheFolder();
  fs::file_status Status;
  std::string Stamp = Folder + "/.pruned";
  auto Now = system_clock::now();
  if (Folder.empty() || (!fs::status(Stamp, Status) &&
                         Now - Status.getLastModificationTime() < PrunesEvery))
    return;
  // Two at once do no harm: each removes what the other has not.
  llvm::consumeError(writeFileAtomically(Stamp, "", /*Flush=*/false));
  if (llvm::Expected<CacheLimits> Limits = limitsOfUser())
    (void)prune(Folder, *Limits, Now);
  else
    llvm::consumeError(Limits.takeError());
}
