//===- RemoteStorage.h - Where a team's winners are ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   name -> bytes, somewhere else
/// The names are those of Bazel's HTTP protocol, so that its servers serve:
///
///   "ac/"  KEY     index: for which headers there is which entry
///   "cas/" SHA256  entry: a line of a bundle (Bundle.h), by its own digest
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_REMOTESTORAGE_H
#define STARK_CACHE_REMOTESTORAGE_H

#include "stark/Cache/KernelCache.h"

namespace stark {

/// Errors say what is wrong with the remote.
class RemoteStorage {
public:
  virtual ~RemoteStorage() = default;
  /// Unset when there is none. More than \p Limit bytes are an error.
  virtual llvm::Expected<std::optional<std::string>> get(llvm::StringRef Name,
                                                         size_t Limit) = 0;
  virtual llvm::Expected<bool> has(llvm::StringRef Name) = 0;
  virtual llvm::Error put(llvm::StringRef Name, llvm::StringRef Bytes) = 0;
};

/// Looks for the winner of \p In and puts it below \p Folder. False when there
/// is none. What the remote says is checked before anything is written.
llvm::Expected<bool> fetchEntry(const CacheInputs &In, RemoteStorage &From,
                                llvm::StringRef Folder);

/// Sends the entry in \p Folder. False when it is there.
llvm::Expected<bool> sendEntry(llvm::StringRef Folder, RemoteStorage &To);

} // namespace stark

#endif
