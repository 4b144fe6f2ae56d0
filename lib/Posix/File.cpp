//===- File.cpp - Whole files, atomically written -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   open -> write all -> fsync -> rename, and flock()
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/File.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace stark;

namespace {
/// Closes itself, and leaves errno as it was.
struct Descriptor {
  int Number;
  explicit Descriptor(int Number) : Number(Number) {}
  Descriptor(Descriptor &&Other) : Number(Other.Number) { Other.Number = -1; }
  Descriptor &operator=(Descriptor &&) = delete;
  ~Descriptor() { close(); }
  explicit operator bool() const { return Number >= 0; }
  bool close() {
    int Saved = errno, Closing = Number;
    Number = -1;
    if (Closing >= 0 && ::close(Closing) != 0)
      return false;
    errno = Saved;
    return true;
  }
};

class FlockLock : public posix::FileLock {
public:
  // The file stays: removing it would let two processes hold two locks.
  explicit FlockLock(Descriptor Held) : Held(std::move(Held)) {}
  int descriptor() const override { return Held.Number; }

private:
  Descriptor Held;
};

/// "cannot read 'a/b': No such file or directory", from errno.
std::string systemError(const char *What, const std::string &Path) {
  return std::string("cannot ") + What + " '" + Path +
         "': " + std::strerror(errno);
}

std::string parentOf(const std::string &Path) {
  size_t Slash = Path.find_last_of('/');
  return Slash == std::string::npos ? "" : Path.substr(0, Slash);
}

/// All of \p Bytes, over interruptions and short writes.
bool writeAll(int To, std::string_view Bytes) {
  while (!Bytes.empty()) {
    ssize_t Written = ::write(To, Bytes.data(), Bytes.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Bytes.remove_prefix(size_t(Written));
  }
  return true;
}

bool makeFolders(const std::string &Path) {
  if (Path.empty() || ::mkdir(Path.c_str(), 0777) == 0 || errno == EEXIST)
    return true;
  return errno == ENOENT && makeFolders(parentOf(Path)) &&
         (::mkdir(Path.c_str(), 0777) == 0 || errno == EEXIST);
}
} // namespace

/// All that can be read of \p From, unless it is more than \p Limit bytes.
static bool readAll(const Descriptor &From, size_t Limit, std::string &Bytes) {
  char Buffer[1 << 16];
  for (;;) {
    ssize_t Count = ::read(From.Number, Buffer, sizeof(Buffer));
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      return Count == 0;
    if (size_t(Count) > Limit - Bytes.size()) {
      errno = EFBIG;
      return false;
    }
    Bytes.append(Buffer, size_t(Count));
  }
}

/// A network file system may know a name's file of before, once.
static int openToRead(const std::string &Path, int Flags = 0) {
  Flags |= O_RDONLY | O_CLOEXEC;
  int Opened = ::open(Path.c_str(), Flags);
  return Opened < 0 && errno == ESTALE ? ::open(Path.c_str(), Flags) : Opened;
}

/// What a thing that is no file is.
static std::string kindOf(const struct stat &Status) {
  return S_ISDIR(Status.st_mode)    ? "folder"
         : S_ISFIFO(Status.st_mode) ? "pipe"
         : S_ISSOCK(Status.st_mode) ? "socket"
                                    : "device";
}

std::optional<std::string> posix::readFile(const std::string &Path,
                                           std::string &Error, size_t Limit) {
  // A pipe that nobody writes to would be waited for.
  Descriptor From(openToRead(Path, O_NONBLOCK));
  struct stat Status;
  if (From && ::fstat(From.Number, &Status) == 0) {
    if (!S_ISREG(Status.st_mode)) {
      Error = "cannot read '" + Path + "': got a " + kindOf(Status) +
              ", wanted a file";
      return std::nullopt;
    }
    std::string Bytes;
    bool Fits = size_t(Status.st_size) <= Limit;
    if (Fits)
      Bytes.reserve(size_t(Status.st_size));
    if (Fits && readAll(From, Limit, Bytes))
      return Bytes;
    if (!Fits || errno == EFBIG) {
      Error =
          "'" + Path + "' is larger than " + std::to_string(Limit) + " bytes";
      return std::nullopt;
    }
  }
  Error = systemError("read", Path);
  return std::nullopt;
}

std::optional<std::string> posix::readRegularFile(const std::string &Path,
                                                  size_t Limit,
                                                  std::string &Error) {
  Descriptor From(openToRead(Path, O_NOFOLLOW | O_NONBLOCK));
  struct stat Status;
  std::string Bytes;
  if (!From || ::fstat(From.Number, &Status) != 0) {
    Error = errno == ELOOP ? "cannot read '" + Path + "': it is a link"
                           : systemError("read", Path);
    return std::nullopt;
  }
  if (!S_ISREG(Status.st_mode)) {
    Error = "cannot read '" + Path + "': it is no regular file";
    return std::nullopt;
  }
  if (readAll(From, Limit, Bytes))
    return Bytes;
  Error = errno == EFBIG ? "'" + Path + "' is larger than " +
                               std::to_string(Limit) + " bytes"
                         : systemError("read", Path);
  return std::nullopt;
}

bool posix::exchangeFolders(const std::string &From, const std::string &To) {
  // Linux's rename() takes an empty folder or none as its target.
  if (::rename(From.c_str(), To.c_str()) == 0)
    return true;
  int Why = errno;
  if (Why != EEXIST && Why != ENOTEMPTY && Why != ENOTDIR)
    return false;
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, From.c_str(), AT_FDCWD, To.c_str(),
                  RENAME_EXCHANGE) == 0)
    return true;
#endif
  errno = Why;
  return false;
}

bool posix::appendToFile(const std::string &Path, std::string_view Bytes,
                         std::string &Error) {
  std::ofstream File(Path, std::ios::binary | std::ios::app);
  File.write(Bytes.data(), std::streamsize(Bytes.size()));
  File.close();
  if (!File)
    Error = systemError("write", Path);
  return bool(File);
}

bool posix::createFolders(const std::string &Path, std::string &Error) {
  if (makeFolders(Path))
    return true;
  Error = systemError("create folder", Path);
  return false;
}

/// The process's umask. The call that reads it also sets it, which another
/// thread's files would feel; Linux tells it without.
static mode_t creationMask() {
  static const mode_t Mask = [] {
    std::ifstream Status("/proc/self/status");
    for (std::string Line; std::getline(Status, Line);)
      if (Line.starts_with("Umask:"))
        return mode_t(std::strtoul(Line.c_str() + 6, nullptr, 8));
    return mode_t(022);
  }();
  return Mask;
}

/// So that a new name is on the disk, too. A folder that may not be opened or
/// flushed is the file system's to keep.
static bool flushFolder(const std::string &Path) {
  Descriptor Folder(::open(Path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !Folder || ::fsync(Folder.Number) == 0 || errno == EINVAL;
}

/// A device or a pipe takes bytes; a file in its place would be the end of it.
/// A pipe that nobody reads is neither waited for nor kept: unset.
static std::optional<bool> writeToDevice(const std::string &Path,
                                         std::string_view Bytes,
                                         std::string &Error) {
  Descriptor To(::open(Path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!To && errno == ENXIO)
    return std::nullopt;
  if (To && ::fcntl(To.Number, F_SETFL, 0) == 0 && writeAll(To.Number, Bytes) &&
      To.close())
    return true;
  Error = systemError("write", Path);
  return false;
}

bool posix::writeFileAtomically(const std::string &Path, std::string_view Bytes,
                                std::string &Error, bool Flush) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status) == 0 &&
      (S_ISCHR(Status.st_mode) || S_ISFIFO(Status.st_mode)))
    if (std::optional<bool> Done = writeToDevice(Path, Bytes, Error))
      return *Done;
  if (!createFolders(parentOf(Path), Error))
    return false;
  std::string Temporary = Path + ".XXXXXX.tmp";
  Descriptor To(::mkostemps(Temporary.data(), 4, O_CLOEXEC));
  if (!To) {
    Error = systemError("write", Path);
    return false;
  }
  // mkostemps makes files that only the user may read.
  bool Good = writeAll(To.Number, Bytes) &&
              ::fchmod(To.Number, 0666 & ~creationMask()) == 0 &&
              (!Flush || ::fsync(To.Number) == 0);
  Good = To.close() && Good && ::rename(Temporary.c_str(), Path.c_str()) == 0;
  if (!Good) {
    Error = systemError("write", Path);
    ::unlink(Temporary.c_str());
  }
  if (Good && Flush && !flushFolder(parentOf(Path))) {
    Error = systemError("write", Path);
    return false;
  }
  return Good;
}

std::unique_ptr<posix::FileLock>
posix::lockFile(const std::string &Path, std::string &Error, bool *Busy) {
  if (!createFolders(parentOf(Path), Error))
    return nullptr;
  Descriptor File(::open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!File || ::flock(File.Number, LOCK_EX | LOCK_NB) != 0) {
    Error = systemError("lock", Path);
    if (!File || errno != EWOULDBLOCK)
      return nullptr;
    if (Busy)
      *Busy = true;
    char Holder[32] = {};
    ssize_t Count = ::pread(File.Number, Holder, sizeof(Holder) - 1, 0);
    Holder[std::strcspn(Holder, "\n")] = 0;
    Error = "'" + Path + "' is in use";
    if (Count > 0)
      Error += std::string(" by process ") + Holder;
    return nullptr;
  }
  // Who holds it is only for messages; a full disk must not stop the lock.
  if (::ftruncate(File.Number, 0) == 0)
    (void)writeAll(File.Number, std::to_string(::getpid()) + "\n");
  return std::make_unique<FlockLock>(std::move(File));
}

std::unique_ptr<posix::FileLock> posix::lockFolder(const std::string &Path,
                                                   std::string &Error) {
  Descriptor Folder(::open(Path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (Folder && ::flock(Folder.Number, LOCK_EX | LOCK_NB) == 0)
    return std::make_unique<FlockLock>(std::move(Folder));
  Error = Folder && errno == EWOULDBLOCK
              ? "'" + Path + "' is in use by another process"
              : systemError("lock", Path);
  return nullptr;
}
