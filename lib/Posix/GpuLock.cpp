//===- GpuLock.cpp - One process at a time on a GPU -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the user's folder -> a file a GPU -> tried until it is free
/// flock() can wait by itself, but not for an interrupt as well.
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/GpuLock.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Interrupt.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace stark;

/// Short beside a judgement, and beside the build before the next one, in which
/// its holder lets it go.
static constexpr std::chrono::milliseconds TryEvery(50);

/// Empty with \p Error.
static std::string lockFolderOfUser(std::string &Error) {
  Error.clear();
  if (const char *Given = std::getenv("STARK_LOCK_DIR"); Given && *Given)
    return posix::createFolders(Given, Error) ? Given : "";
  // Not $TMPDIR, which differs between sessions of a user.
  std::string Folder = "/tmp/stark-" + std::to_string(::geteuid());
  if (::mkdir(Folder.c_str(), 0700) != 0 && errno != EEXIST) {
    Error = "cannot create folder '" + Folder + "': " + std::strerror(errno);
    return "";
  }
  // Anybody may make names in /tmp.
  struct stat Status;
  if (::lstat(Folder.c_str(), &Status) != 0 || !S_ISDIR(Status.st_mode) ||
      Status.st_uid != ::geteuid() || (Status.st_mode & 022)) {
    Error = "'" + Folder +
            "' is not a folder that this user alone may write to, as the locks "
            "of GPUs need; remove it or set STARK_LOCK_DIR";
    return "";
  }
  return Folder;
}

/// Where the lock of a GPU lies; empty with \p Error.
static std::string lockFileOf(const std::string &Id, std::string &Error) {
  std::string Folder = lockFolderOfUser(Error);
  // What a driver or a file says may not name another folder.
  std::string Name = Id.empty() ? "GPU" : Id;
  std::replace_if(
      Name.begin(), Name.end(),
      [](char C) { return C == '/' || C == '\0' || C == '.'; }, '_');
  return Folder.empty() ? "" : Folder + "/" + Name + ".lock";
}

std::unique_ptr<posix::FileLock>
posix::lockGpu(const std::string &Id, Clock &Time,
               const std::function<void(const std::string &Why)> &OnWait,
               std::string &Error) {
  std::string Path = lockFileOf(Id, Error);
  if (Path.empty())
    return nullptr;
  for (bool Told = false;; Time.sleep(TryEvery)) {
    if (interruptFlag()) {
      Error.clear();
      return nullptr;
    }
    bool Busy = false;
    std::unique_ptr<FileLock> Lock = lockFile(Path, Error, &Busy);
    if (Lock || !Busy)
      return Lock;
    if (!Told && OnWait)
      OnWait("the GPU is waited for: " + Error);
    Told = true;
  }
}

std::unique_ptr<posix::FileLock> posix::tryToLockGpu(const std::string &Id,
                                                     std::string &Error) {
  std::string Path = lockFileOf(Id, Error);
  if (Path.empty())
    return nullptr;
  bool Busy = false;
  std::unique_ptr<FileLock> Lock = lockFile(Path, Error, &Busy);
  if (Busy)
    Error.clear();
  return Lock;
}
