//===- File.cpp - Whole files, atomically written
//---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/File.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static llvm::Error systemError(llvm::StringRef What, llvm::StringRef Path) {
  return failed("cannot " + What + " '" + Path + "': " + std::strerror(errno));
}

/// All of \p Bytes, over interruptions and short writes.
static bool writeAll(int Descriptor, llvm::StringRef Bytes) {
  while (!Bytes.empty()) {
    ssize_t Written = ::write(Descriptor, Bytes.data(), Bytes.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Bytes = Bytes.drop_front(size_t(Written));
  }
  return true;
}

llvm::Expected<std::string> stark::readFile(llvm::StringRef Path) {
  int Descriptor = ::open(Path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0)
    return systemError("read", Path);
  auto Close = llvm::make_scope_exit([&] { ::close(Descriptor); });
  struct stat Status;
  if (::fstat(Descriptor, &Status) != 0)
    return systemError("read", Path);
  if (S_ISDIR(Status.st_mode))
    return failed("cannot read '" + Path + "': got a folder, wanted a file");
  std::string Bytes;
  Bytes.reserve(size_t(Status.st_size));
  char Buffer[1 << 16];
  for (;;) {
    ssize_t Count = ::read(Descriptor, Buffer, sizeof(Buffer));
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count < 0)
      return systemError("read", Path);
    if (Count == 0)
      return Bytes;
    Bytes.append(Buffer, size_t(Count));
  }
}

llvm::Error stark::createFolders(llvm::StringRef Path) {
  if (Path.empty())
    return llvm::Error::success();
  if (std::error_code Code = fs::create_directories(Path))
    return failed("cannot create folder '" + Path + "': " + Code.message());
  return llvm::Error::success();
}

llvm::Error stark::writeFileAtomically(llvm::StringRef Path,
                                       llvm::StringRef Bytes, bool Flush) {
  if (llvm::Error E = createFolders(path::parent_path(Path)))
    return E;
  std::string Temporary = (Path + ".XXXXXX.tmp").str();
  int Descriptor = ::mkostemps(Temporary.data(), 4, O_CLOEXEC);
  if (Descriptor < 0)
    return systemError("write", Path);
  auto Discard = llvm::make_scope_exit([&] {
    int Saved = errno;
    ::unlink(Temporary.c_str());
    errno = Saved;
  });
  // mkostemps makes files that only the user may read.
  mode_t Mask = ::umask(0);
  ::umask(Mask);
  bool Good = writeAll(Descriptor, Bytes) &&
              ::fchmod(Descriptor, 0666 & ~Mask) == 0 &&
              (!Flush || ::fsync(Descriptor) == 0);
  int Saved = errno;
  if (::close(Descriptor) != 0 && Good) {
    Good = false;
    Saved = errno;
  }
  errno = Saved;
  if (!Good)
    return systemError("write", Path);
  if (::rename(Temporary.c_str(), Path.str().c_str()) != 0)
    return systemError("write", Path);
  Discard.release();
  return llvm::Error::success();
}

std::string stark::absolutePath(llvm::StringRef Path) {
  llvm::SmallString<256> Absolute(Path);
  fs::make_absolute(Absolute);
  path::remove_dots(Absolute, /*remove_dot_dot=*/true);
  return std::string(Absolute);
}

namespace {
class FlockLock : public FileLock {
public:
  explicit FlockLock(int Descriptor) : Descriptor(Descriptor) {}
  // The file stays: removing it would let two processes hold two locks.
  ~FlockLock() override { ::close(Descriptor); }

private:
  int Descriptor;
};
} // namespace

llvm::Expected<std::unique_ptr<FileLock>>
FileLock::acquire(llvm::StringRef Path) {
  if (llvm::Error E = createFolders(path::parent_path(Path)))
    return E;
  int Descriptor =
      ::open(Path.str().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (Descriptor < 0)
    return systemError("lock", Path);
  auto Lock = std::make_unique<FlockLock>(Descriptor);
  if (::flock(Descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return systemError("lock", Path);
    char Holder[32] = {};
    ssize_t Count = ::pread(Descriptor, Holder, sizeof(Holder) - 1, 0);
    std::string By =
        Count > 0 ? " by process " + llvm::StringRef(Holder).trim().str() : "";
    return failed("'" + Path + "' is in use" + By);
  }
  std::string Own = std::to_string(::getpid()) + "\n";
  // Who holds it is only for messages; a full disk must not stop the lock.
  if (::ftruncate(Descriptor, 0) == 0)
    (void)writeAll(Descriptor, Own);
  return std::unique_ptr<FileLock>(std::move(Lock));
}

llvm::Expected<std::unique_ptr<FileLock>>
FileLock::acquireFolder(llvm::StringRef Path) {
  int Descriptor =
      ::open(Path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (Descriptor < 0)
    return systemError("lock", Path);
  auto Lock = std::make_unique<FlockLock>(Descriptor);
  if (::flock(Descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return systemError("lock", Path);
    return failed("'" + Path + "' is in use by another process");
  }
  return std::unique_ptr<FileLock>(std::move(Lock));
}

llvm::Expected<TemporaryFolder>
TemporaryFolder::create(llvm::StringRef Prefix) {
  llvm::SmallString<256> Made;
  if (std::error_code Code = fs::createUniqueDirectory(Prefix, Made))
    return failed("cannot create a temporary folder: " + Code.message());
  return TemporaryFolder(std::string(Made));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&Other)
    : Path(std::move(Other.Path)) {
  Other.Path.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (!Path.empty())
    (void)fs::remove_directories(Path, /*IgnoreErrors=*/true);
}
