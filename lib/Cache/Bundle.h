//===- Bundle.h - What an entry is on its way ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   line := { "format": 1, "name": NAME, "entry": entry.json as a string,
///             "kernel": kernel.cu in base64, "" when nothing won }
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_BUNDLE_H
#define STARK_LIB_CACHE_BUNDLE_H

#include "Entry.h"
#include "stark/Cache/Bundle.h"

namespace stark {

struct Bundle {
  std::string Name; ///< of the source
  StoredEntry Entry;
  std::string Kernel;
};

/// Empty, or why \p Line is no entry.
std::string parseBundle(llvm::StringRef Line, Bundle &B);

/// Whether a source may have this name: a file's name, nothing more.
bool isSourceName(llvm::StringRef Name);
/// 64 hexadecimal digits.
bool isDigest(llvm::StringRef Text);

} // namespace stark

#endif
