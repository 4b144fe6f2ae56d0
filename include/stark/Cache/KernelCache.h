//===- KernelCache.h - Where winners are kept ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Key = everything that can change the answer. Folders are looked through
/// in order: STORE (which a team commits), then the user's cache folder. A
/// corrupt entry is a miss, and said. docs/cache.md has the on-disk format.
/// A look-up reads the source, its workload, its headers and the entries of the
/// source, nothing else: no Clang parse, no process, no network.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_KERNELCACHE_H
#define STARK_CACHE_KERNELCACHE_H

#include "stark/Cache/GeneratedSource.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace stark {

/// Everything that can change the answer, but for the headers, which an entry
/// names. Where files lie does not count, what is in them does.
struct CacheInputs {
  std::string SourcePath, WorkloadPath; ///< read
  /// As nvcc takes them. Flags that name include folders do not count by
  /// themselves: the headers found there do. Flags that cannot change an
  /// answer (warnings, debug information, NDEBUG) do not count.
  std::vector<std::string> Flags;
  std::string Arch; ///< "sm_90"
  /// "13.0". It does not count: a winner of another toolkit is tried.
  std::string ToolkitVersion;
};

enum class LookupResult {
  Hit,
  NothingWon, ///< a search ended without a winner: the source is the best known
  Miss,
  Corrupt ///< a miss because of a damaged entry
};

/// Why a look-up is no hit.
struct MissReason {
  enum class Kind {
    NoEntry,       ///< of this source
    NothingFaster, ///< was found by a search
    NoPlan,        ///< the entry called Name does not say where it was proved
    Damaged,       ///< the entry called Name: Detail says how
    // The entry is of other headers:
    HeaderChanged, ///< Name
    HeaderMissing, ///< Name
    HeaderUnread,  ///< Detail is the error
    // The entry that is the nearest has another key:
    FileChanged, ///< Name: the source or its workload
    OtherFlags,  ///< this and those below: Then, Now
    OtherArch,
    OtherTorch, ///< empty: none
  };
  Kind Is = Kind::NoEntry;
  std::string Name = {}, Detail = {}, Then = {}, Now = {};

  LookupResult result() const;
  std::string str() const; ///< "header util.cuh changed"
};

struct CacheEntry {
  /// The whole winner, as it was measured; empty when nothing beat the source.
  std::string WinnerText;
  WinnerFacts Facts;
  /// On and with which it was proved; filled in by a look-up.
  std::string Arch, ToolkitVersion;
  DispatchPlan Plan; ///< empty in entries of an older Stark: not to be built
  /// Absolute paths of the headers whose contents are part of the entry.
  std::vector<std::string> Headers;
};

/// A look-up that is no hit.
struct Unwon {
  CacheInputs In;
  MissReason Why;

  /// A search has said that the source is the best.
  bool isSettled() const { return Why.result() == LookupResult::NothingWon; }
};

/// A hit, unless it says why not.
struct Lookup {
  std::optional<MissReason> Why = MissReason(); ///< unset: it is one
  CacheEntry Entry; ///< when Hit; its Headers also when one of them differs
  std::string From; ///< the entry's folder
  /// The source has changed since, but not in what the entry reaches: the plan
  /// is that for the source as it is, the winner has the rest as it was.
  bool Moved = false;
  /// Folders that exist and in which a better answer could appear, and the
  /// file that says which libtorch it is.
  std::vector<std::string> Watched;
  /// Of a build: further hits, of other architectures and workloads.
  std::vector<Lookup> More;
  /// Of a build: what a winner may be had for elsewhere.
  std::vector<CacheInputs> Missing;
  /// Of a build: workloads without a winner for any of its architectures.
  std::vector<Unwon> Without;

  LookupResult result() const {
    return Why ? Why->result() : LookupResult::Hit;
  }
  /// Of a build: the first workload for which no search has said what is the
  /// best; null when there is none.
  const Unwon *open() const;
};

/// The key of \p In: 64 hexadecimal digits.
llvm::Expected<std::string> cacheKey(const CacheInputs &In);

/// The first hit in \p Folders, in order. An error only when the source or the
/// workload cannot be read.
llvm::Expected<Lookup> findWinner(const CacheInputs &In,
                                  const std::vector<std::string> &Folders);

/// Writes an entry below \p Folder and returns its folder. The entry appears
/// whole or not at all; a folder that cannot be written is an error. An entry
/// with the same key and headers is replaced. Two writers at once are fine.
llvm::Expected<std::string> storeWinner(const CacheInputs &In,
                                        const CacheEntry &Entry,
                                        llvm::StringRef Folder);

/// Nothing when entries can be written below \p Folder, which is made.
llvm::Error checkWritable(llvm::StringRef Folder);

/// Looks at every entry below \p Folder: how many there are, and what is wrong
/// with those that are damaged.
struct StoreCheck {
  unsigned Entries = 0;
  std::vector<std::string> Problems;
};
llvm::Expected<StoreCheck> checkStore(llvm::StringRef Folder);

} // namespace stark

#endif
