//===- Limits.h - How large and old a cache gets -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   folder + limits -> least recently used entries removed
/// Of the user's folder alone: a store belongs to version control. What else
/// lies in the folder is neither counted nor removed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_LIMITS_H
#define STARK_CACHE_LIMITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace stark {

struct CacheLimits {
  uint64_t Bytes = uint64_t(1) << 30; ///< of all entries together
  std::optional<unsigned> Days;       ///< since an entry was used last
};

/// "500M": bytes, or with K, M or G; "30": whole days. Usage errors begin with
/// \p Of.
llvm::Expected<uint64_t> parseBytes(llvm::StringRef Text, llvm::StringRef Of);
llvm::Expected<unsigned> parseDays(llvm::StringRef Text, llvm::StringRef Of);

/// The defaults, and what STARK_CACHE_MAX_SIZE and STARK_CACHE_MAX_AGE say.
llvm::Expected<CacheLimits> limitsOfUser();

struct Pruned {
  unsigned Entries = 0, Leftovers = 0; ///< removed
  uint64_t Bytes = 0;
  unsigned Kept = 0;
  uint64_t KeptBytes = 0;
  std::vector<std::string> Problems; ///< entries that stay for another reason
};

/// Removes what is over \p Limits at \p Now, least recently used first, and
/// what killed processes left an hour ago. Others may use the folder meanwhile.
Pruned prune(llvm::StringRef Folder, const CacheLimits &Limits,
             llvm::sys::TimePoint<> Now);

/// The same for the user's folder, once a minute at most; nothing is said.
void pruneUsersFolder();

} // namespace stark

#endif
