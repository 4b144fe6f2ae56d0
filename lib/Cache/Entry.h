//===- Entry.h - entry.json ----------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   StoredEntry <-> the text of entry.json, whose grammar is in Entry.cpp.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_ENTRY_H
#define STARK_LIB_CACHE_ENTRY_H

#include "stark/Cache/KernelCache.h"

namespace stark {

/// A header by how it is found again in another checkout.
struct StoredHeader {
  std::string From;   ///< "source": beside or below it; "include": on the path
  std::string Path;   ///< relative to that
  std::string Digest; ///< of its text
};

struct StoredEntry {
  std::string Key, Source, Workload; ///< digests
  std::string Reached; ///< key with what the entry reaches; empty: unknown
  std::vector<std::string> Flags; ///< those that count
  std::string Arch, Toolkit;
  std::string Torch;  ///< empty when the flags named none
  std::string Kernel; ///< digest of kernel.cu, empty when nothing beat it
  std::vector<StoredHeader> Headers;
  WinnerFacts Facts;
  DispatchPlan Plan; ///< empty: of an older Stark
};

std::string printEntry(const StoredEntry &E);

/// Empty when \p Text is a whole entry, else what is wrong with it.
std::string parseEntry(llvm::StringRef Text, StoredEntry &Entry);

/// Bytes of its files, at most.
inline constexpr size_t LargestEntry = size_t(4) << 20;
inline constexpr size_t LargestKernel = size_t(16) << 20;

/// The digest of a text file, the same with LF and CRLF line ends: git may
/// change them between checkouts.
std::string textDigest(llvm::StringRef Text);

} // namespace stark

#endif
