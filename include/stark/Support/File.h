//===- File.h - Whole files, atomically written ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Posix/File.h with LLVM's strings and errors.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_FILE_H
#define STARK_SUPPORT_FILE_H

#include "stark/Posix/File.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace stark {

/// The bytes of \p Path, unchanged. A missing file, a folder or an unreadable
/// one is an error that names the path.
llvm::Expected<std::string> readFile(llvm::StringRef Path);

/// The same of what is a text, and so no larger than 64 MiB.
llvm::Expected<std::string> readText(llvm::StringRef Path);

/// Creates missing parent folders, then replaces \p Path by \p Bytes. What can
/// be made again at will need not be flushed to disk, which takes milliseconds.
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes,
                                bool Flush = true);

llvm::Error createFolders(llvm::StringRef Path);

/// \p Path made absolute, with "." and ".." removed, symbolic links kept.
std::string absolutePath(llvm::StringRef Path);

/// $STARK_CACHE_DIR, else $XDG_CACHE_HOME/stark, else ~/.cache/stark; empty
/// when none is known.
std::string userCacheFolder();

/// An exclusive advisory lock, held while the object lives.
using posix::FileLock;

/// Locks a folder itself, which must exist, without waiting: nothing is written
/// to it, so that a read-only one can be locked and nothing is left behind.
llvm::Expected<std::unique_ptr<FileLock>> lockFolder(llvm::StringRef Path);

/// A folder below the system's temporary one, removed with all it holds when
/// the object goes.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef Prefix);
  TemporaryFolder(TemporaryFolder &&Other);
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();
  llvm::StringRef path() const { return Path; }

private:
  explicit TemporaryFolder(std::string Path) : Path(std::move(Path)) {}
  std::string Path;
};

} // namespace stark

#endif
