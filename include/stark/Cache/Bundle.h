//===- Bundle.h - Entries on their way -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   entry <-> one line of JSON
/// What `stark-tool cache export` writes, a line an entry, and what a remote
/// keeps. It comes from anywhere: nothing of it is written to a disk before its
/// names, sizes and digests were found right.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_BUNDLE_H
#define STARK_CACHE_BUNDLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark {

/// Of a line, at most.
inline constexpr size_t LargestBundle = size_t(32) << 20;

/// The line of the entry in \p Folder, without a line end. An error when it is
/// damaged.
llvm::Expected<std::string> packEntry(llvm::StringRef Folder);

/// Writes the entry of \p Line below \p Store and returns its folder. An error,
/// and nothing was written, when it is none.
llvm::Expected<std::string> unpackEntry(llvm::StringRef Line,
                                        llvm::StringRef Store);

/// Entries of \p Store: all, or those that \p Names name, as "softmax.cu",
/// "softmax.cu/68eea35b1931-1570f41e" or what begins like the second part. A
/// usage error when one names none.
llvm::Expected<std::vector<std::string>>
selectEntries(llvm::StringRef Store, const std::vector<std::string> &Names);

} // namespace stark

#endif
