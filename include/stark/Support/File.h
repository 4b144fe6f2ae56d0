//===- File.h - Whole files, atomically written ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Files are read whole, and written to a temporary name in the same folder,
/// flushed to disk and renamed: a reader sees the old content or the new, and a
/// full disk leaves the old one in place.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_FILE_H
#define STARK_SUPPORT_FILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace stark {

/// The bytes of \p Path, unchanged. A missing file, a folder or an unreadable
/// one is an error that names the path.
llvm::Expected<std::string> readFile(llvm::StringRef Path);

/// Creates missing parent folders, then replaces \p Path by \p Bytes. What can
/// be made again at will need not be flushed to disk, which takes milliseconds.
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes,
                                bool Flush = true);

llvm::Error createFolders(llvm::StringRef Path);

/// \p Path made absolute, with "." and ".." removed, symbolic links kept.
std::string absolutePath(llvm::StringRef Path);

/// An exclusive advisory lock, held while the object lives.
class FileLock {
public:
  virtual ~FileLock() = default;
  /// Does not wait: a lock held elsewhere is an error that says which process
  /// holds it, when the file tells.
  static llvm::Expected<std::unique_ptr<FileLock>>
  acquire(llvm::StringRef Path);
  /// The same on a folder itself, which must exist: nothing is written to it,
  /// so that a read-only one can be locked and nothing is left behind.
  static llvm::Expected<std::unique_ptr<FileLock>>
  acquireFolder(llvm::StringRef Path);
};

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
