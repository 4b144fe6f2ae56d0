//===- RemoteState.cpp - How a remote fares ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteState.h"
#include "BuildTool.h"
#include "stark/Cache/Counters.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include <fcntl.h>
#include <optional>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
using std::chrono::system_clock;

static constexpr std::chrono::minutes Remembers(10);
static constexpr uint64_t FreeMs = 100;
static constexpr size_t LongestFile = size_t(1) << 16;
/// In the place of a build's name where it is not known.
static constexpr char NoBuild[] = "-";

static int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

RemoteState::RemoteState(llvm::StringRef Remote, RemoteWay Way,
                         std::string OfBuild)
    : File(userCacheFolder() + "/.remote/" + sha256(Remote).substr(0, 16) +
           (Way == RemoteWay::Send ? ".send" : ".fetch")),
      Build(OfBuild.empty() ? NoBuild : std::move(OfBuild)) {}

RemoteState::RemoteState(llvm::StringRef Remote, RemoteWay Way)
    : RemoteState(Remote, Way, findBuildTool(::getpid())) {}

/// The sum of the numbers of those lines of \p Path, "WHEN MS BUILD", that
/// count for \p Build: its own, however old, and of the last ten minutes all.
/// No number when there is none.
static std::optional<uint64_t> sumOf(const std::string &Path,
                                     llvm::StringRef Build, uint64_t MostMs) {
  std::string Error;
  std::string Text =
      posix::readRegularFile(Path, 2 * LongestFile, Error).value_or("");
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  int64_t Now = nowMs();
  int64_t Long = std::chrono::milliseconds(Remembers).count();
  std::optional<uint64_t> Sum;
  for (llvm::StringRef Line : Lines) {
    auto [When, Rest] = Line.split(' ');
    auto [Number, Of] = Rest.split(' ');
    int64_t At = 0;
    uint64_t Ms = 0;
    if (When.getAsInteger(10, At) || Number.getAsInteger(10, Ms))
      continue;
    bool Own = Build != NoBuild && Of == Build;
    // A time to come is one of another clock.
    if (Own || (At >= Now - Long && At <= Now + Long))
      Sum = Sum.value_or(0) + std::min(Ms, MostMs);
  }
  return Sum;
}

static void addLine(const std::string &Path, uint64_t Ms,
                    llvm::StringRef Build) {
  uint64_t Size = 0;
  if (!fs::file_size(Path, Size) && Size > LongestFile)
    (void)fs::remove(Path);
  std::string Line =
      (llvm::Twine(nowMs()) + " " + llvm::Twine(Ms) + " " + Build + "\n").str();
  int To = ::open(Path.c_str(),
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (To < 0)
    return;
  if (::write(To, Line.data(), Line.size()) < 0) {
  }
  ::close(To);
}

bool RemoteState::isDown() const {
  return sumOf(File + ".down", Build, 0).has_value();
}

uint64_t RemoteState::leftMs(uint64_t TimeoutMs) const {
  return TimeoutMs -
         std::min(TimeoutMs, sumOf(File, Build, TimeoutMs).value_or(0));
}

void RemoteState::answered(uint64_t Ms) const {
  if (Ms > FreeMs)
    addLine(File, Ms - FreeMs, Build);
}

bool RemoteState::fail() const {
  count(CacheEvent::RemoteFailed);
  // One at a time, so that one alone is the first. Where files cannot be locked
  // two may be.
  int Guard = -1;
  bool Guarded = !fs::openFileForWrite(File + ".lock", Guard, fs::CD_OpenAlways,
                                       fs::OF_None) &&
                 !fs::tryLockFile(Guard, std::chrono::milliseconds(1000));
  bool First = !isDown();
  addLine(File + ".down", 0, Build);
  if (Guarded)
    (void)fs::unlockFile(Guard);
  if (Guard >= 0)
    ::close(Guard);
  return First;
}

void RemoteState::forget() const {
  (void)fs::remove(File + ".down");
  (void)fs::remove(File);
}
