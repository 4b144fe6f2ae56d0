//===- RemoteState.h - How a remote fares --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   waits and failures of all processes -> whether to ask once more
/// A build asks a remote from many processes, and may lose one time-out to it,
/// not one each. So what they know lies in the user's cache folder, where all
/// of the user's builds find it: files below ".remote", one set for each
/// address and direction.
///
/// A remote that failed is not asked again by the same build, nor for ten
/// minutes by another. One that answers slowly has a purse: what a request
/// takes longer than a tenth of a second is taken from it, and when the
/// time-out is spent by this build, or within ten minutes, it failed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_REMOTESTATE_H
#define STARK_CACHE_REMOTESTATE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace stark {

/// Fetching goes on when there is no room to store.
enum class RemoteWay { Fetch, Send };

class RemoteState {
public:
  /// \p Remote: the value of STARK_REMOTE.
  RemoteState(llvm::StringRef Remote, RemoteWay Way);
  /// \p OfBuild: which build this process belongs to; empty: none that is
  /// known.
  RemoteState(llvm::StringRef Remote, RemoteWay Way, std::string OfBuild);

  /// Whether it failed in this build or within the last ten minutes.
  bool isDown() const;
  /// What is left in the purse of \p TimeoutMs.
  uint64_t leftMs(uint64_t TimeoutMs) const;
  /// A request was answered after \p Ms.
  void answered(uint64_t Ms) const;
  /// It failed: counts that; true for the first process that says so.
  bool fail() const;

  /// Whoever asks on purpose asks in any case.
  void forget() const;

private:
  std::string File, Build;
};

} // namespace stark

#endif
