//===- CacheKey.h - What an answer follows from -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   CacheInputs -> digests of its parts -> key
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_CACHEKEY_H
#define STARK_LIB_CACHE_CACHEKEY_H

#include "BuildFlags.h"
#include "stark/Cache/KernelCache.h"

namespace stark {

/// The parts of a key, apart, so that a miss can say which one differs.
struct KeyParts {
  std::string Name;             ///< file name of the source
  std::string Source, Workload; ///< digests
  std::string Key;              ///< of all: cacheKey()
  BuildFlags Flags;
  std::string Torch;     ///< version of libtorch, empty without
  std::string TorchFile; ///< that says so

  explicit KeyParts(const CacheInputs &In);
  /// What the names of the key's entries begin with.
  std::string prefix() const;
};

/// An error when the source or the workload cannot be read.
llvm::Expected<KeyParts> makeKey(const CacheInputs &In);

/// The key with what the workload's entry reaches of the source for the source.
struct ReachedKey {
  std::string Key;
  CodeReach Reach;
};

/// \p Parts are of \p In. Unset where it is not known what is reached.
std::optional<ReachedKey> makeReachedKey(const CacheInputs &In,
                                         const KeyParts &Parts);

} // namespace stark

#endif
