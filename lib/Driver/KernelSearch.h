//===- KernelSearch.h - A search whose winner is kept ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   step + how to search -> a run of its own below the runs' folder -> entry
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRIVER_KERNELSEARCH_H
#define STARK_LIB_DRIVER_KERNELSEARCH_H

#include "stark/Driver/KernelBuild.h"
#include "stark/Task/ExtractedTask.h"

namespace stark {

/// The run that was made, or gone on with, and what a cache keeps of it.
struct SearchedEntry {
  CacheEntry Entry;      ///< without a text when nothing beat the source
  std::string RunFolder; ///< empty: there was nothing to search for
};

/// \p More: a run that has ended makes so many attempts more; unset: none.
llvm::Expected<SearchedEntry> searchForEntry(const BuildStep &Step,
                                             const BuildSearch &Search,
                                             std::optional<unsigned> More,
                                             BuildObserver &Observer);

/// Where a new entry goes: the first store, else the user's cache. An error
/// when it cannot be written.
llvm::Expected<std::string> keepingFolder(const BuildStep &Step);

/// How a build puts the winner of \p Entry, if any, beside its source.
llvm::Error addPlan(CacheEntry &Entry, const Task &T, const UsersSource *Users);

/// Keeps \p Entry in \p Folder and, when it has a winner, in the user's remote.
/// Returns its folder.
llvm::Expected<std::string> keepEntry(const BuildStep &Step,
                                      const CacheEntry &Entry,
                                      llvm::StringRef Folder,
                                      BuildObserver &Observer);

/// Keeps \p Found in \p Folder; an error says where its run is.
llvm::Error keep(const BuildStep &Step, const SearchedEntry &Found,
                 llvm::StringRef Folder, BuildObserver &Observer);

/// "softmax.cu"
std::string sourceName(const BuildStep &Step);

} // namespace stark

#endif
