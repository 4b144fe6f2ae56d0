//===- KernelCache.h - Where winners are kept ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Key = everything that can change the answer. Lookup order: STORE (a folder
/// that a team commits), the user's cache folder. A corrupt entry is a miss,
/// and said. docs/cache.md has the on-disk format.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_KERNELCACHE_H
#define STARK_CACHE_KERNELCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark {

/// Everything that can change the answer. Paths do not count, contents do.
struct CacheInputs {
  std::string SourcePath, WorkloadPath; ///< read
  std::vector<std::string> Flags; ///< as given; -I and the like by content
  std::string Arch;               ///< "sm_90"
  std::string ToolkitVersion;     ///< "13.0"
};

enum class LookupResult { Hit, Miss, Corrupt };

struct CacheEntry {
  std::string Key;
  std::string GeneratedText; ///< with header and #line directives
  std::string Meta;          ///< JSON: model, device, speed-up, run digest
  std::vector<std::string> Headers; ///< files whose content is in the key
};

struct Lookup {
  LookupResult Result = LookupResult::Miss;
  CacheEntry Entry; ///< when Hit
  std::string From; ///< the folder it came from
  std::string
      Note; ///< why it is a miss: "header util.cuh changed", "corrupt: ..."
};

class KernelCache {
public:
  virtual ~KernelCache() = default;
  virtual Lookup find(const CacheInputs &In) = 0;
  /// Writes to the first folder. A read-only one is an error; nothing is left.
  virtual llvm::Error store(const CacheInputs &In, const CacheEntry &Entry) = 0;
};

/// \p Folders in lookup order. Starts no parse, no process, no network.
std::unique_ptr<KernelCache> makeFolderCache(std::vector<std::string> Folders);

/// $STARK_CACHE_DIR, else $XDG_CACHE_HOME/stark, else ~/.cache/stark.
std::string userCacheFolder();

} // namespace stark

#endif
