//===- BuildFlags.h - Which flags count for a key ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   nvcc's flags -> flags that count + folders in which headers are searched
/// Include folders count through the headers that are found in them, files that
/// a flag names through what is in them. What cannot change an answer does not
/// count at all, so that Debug and Release builds share a winner: optimisation
/// of host code, debug information, warnings, NDEBUG, the choice of
/// architectures (a field of its own in the key), threads and temporary files.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_BUILDFLAGS_H
#define STARK_LIB_CACHE_BUILDFLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace stark {

struct BuildFlags {
  std::vector<std::string> Counting; ///< in order, one spelling for each
  std::vector<std::string> Folders;  ///< in the order of the search

  explicit BuildFlags(llvm::ArrayRef<std::string> Flags);
};

} // namespace stark

#endif
