//===- RemoteState.cpp - How a remote fares ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteState.h"
#include "stark/Cache/Counters.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include <fcntl.h>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
using std::chrono::system_clock;

static constexpr std::chrono::minutes Remembers(10);
static constexpr uint64_t FreeMs = 100;
static constexpr size_t LongestPurse = size_t(1) << 16;

static int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

RemoteState::RemoteState(llvm::StringRef Remote, RemoteWay Way)
    : File(userCacheFolder() + "/.remote/" + sha256(Remote).substr(0, 16) +
           (Way == RemoteWay::Send ? ".send" : ".fetch")) {}

bool RemoteState::isDown() const {
  fs::file_status Status;
  if (fs::status(File + ".down", Status, /*follow=*/false))
    return false;
  auto Age = system_clock::now() - Status.getLastModificationTime();
  // A time to come is one of another clock.
  return Age > -Remembers && Age < Remembers;
}

uint64_t RemoteState::leftMs(uint64_t TimeoutMs) const {
  std::string Error;
  std::string Text =
      posix::readRegularFile(File, 2 * LongestPurse, Error).value_or("");
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  int64_t Since = nowMs() - std::chrono::milliseconds(Remembers).count();
  uint64_t Spent = 0;
  for (llvm::StringRef Line : Lines) {
    auto [When, Took] = Line.split(' ');
    int64_t At = 0;
    uint64_t Ms = 0;
    if (!When.getAsInteger(10, At) && !Took.getAsInteger(10, Ms) && At >= Since)
      Spent += std::min(Ms, TimeoutMs);
  }
  return TimeoutMs - std::min(TimeoutMs, Spent);
}

void RemoteState::answered(uint64_t Ms) const {
  if (Ms <= FreeMs)
    return;
  uint64_t Size = 0;
  if (!fs::file_size(File, Size) && Size > LongestPurse)
    (void)fs::remove(File);
  std::string Line =
      std::to_string(nowMs()) + " " + std::to_string(Ms - FreeMs) + "\n";
  int To = ::open(File.c_str(),
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (To < 0)
    return;
  if (::write(To, Line.data(), Line.size()) < 0) {
  }
  ::close(To);
}

void RemoteState::forget() const {
  (void)fs::remove(File + ".down");
  (void)fs::remove(File);
}

bool RemoteState::fail() const {
  count(CacheEvent::RemoteFailed);
  // One at a time, so that one alone is the first.
  int Guard = -1;
  bool Guarded = !fs::openFileForWrite(File + ".lock", Guard, fs::CD_OpenAlways,
                                       fs::OF_None) &&
                 !fs::lockFile(Guard);
  bool First = !isDown();
  if (First)
    (void)fs::remove(File + ".down"); // of long ago
  int To = ::open((File + ".down").c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (To >= 0)
    ::close(To);
  if (Guarded)
    (void)fs::unlockFile(Guard);
  if (Guard >= 0)
    ::close(Guard);
  return First;
}
