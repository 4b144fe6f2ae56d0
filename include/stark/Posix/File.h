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
/// full disk leaves the old one in place. Errors are texts that name the path;
/// Support's File.h has the same as llvm::Expected.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_FILE_H
#define STARK_POSIX_FILE_H

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stark::posix {

/// The bytes of \p Path, unchanged. Nothing, with \p Error, when it is missing,
/// unreadable, a folder or larger than \p Limit bytes.
std::optional<std::string> readFile(const std::string &Path, std::string &Error,
                                    size_t Limit = std::string::npos);

/// The bytes of \p Path, which somebody else may have put there: a link, a
/// device, a pipe and a file of more than \p Limit bytes are refused, and none
/// is waited for.
std::optional<std::string> readRegularFile(const std::string &Path,
                                           size_t Limit, std::string &Error);

/// Creates missing parent folders, then replaces \p Path by \p Bytes. What can
/// be made again at will need not be flushed to disk, which takes milliseconds.
/// False, with \p Error, when the old content is still in place.
bool writeFileAtomically(const std::string &Path, std::string_view Bytes,
                         std::string &Error, bool Flush = true);

/// Creates \p Path where it is missing. False, with \p Error.
bool appendToFile(const std::string &Path, std::string_view Bytes,
                  std::string &Error);

/// With its parents; one that exists is fine. False, with \p Error.
bool createFolders(const std::string &Path, std::string &Error);

/// Puts \p From in the place of \p To, a folder or nothing, so that at no time
/// there is neither. What was there has the name \p From then; false, with
/// errno, when nothing has changed. File systems that cannot exchange two names
/// refuse a \p To that exists (EEXIST, ENOTEMPTY).
bool exchangeFolders(const std::string &From, const std::string &To);

/// An exclusive advisory lock, held while the object lives.
class FileLock {
public:
  virtual ~FileLock() = default;
  /// A child that has it open holds the lock, too.
  virtual int descriptor() const = 0;
};

/// Creates \p Path where it is missing. Does not wait: a lock held elsewhere is
/// null with an \p Error that says which process holds it, when the file tells,
/// and \p Busy set.
std::unique_ptr<FileLock> lockFile(const std::string &Path, std::string &Error,
                                   bool *Busy = nullptr);

/// The same on a folder itself, which must exist: nothing is written to it, so
/// that a read-only one can be locked and nothing is left behind.
std::unique_ptr<FileLock> lockFolder(const std::string &Path,
                                     std::string &Error);

} // namespace stark::posix

#endif
