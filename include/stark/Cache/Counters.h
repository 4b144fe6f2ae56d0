//===- Counters.h - What became of look-ups ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   event -> a byte at the end of a file in the user's cache folder
/// So that any number of processes count at once without a lock: the size of
/// the file is the count. Without a folder that exists nothing is counted.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_COUNTERS_H
#define STARK_CACHE_COUNTERS_H

#include "stark/Json/Names.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace stark {

enum class CacheEvent {
#define STARK_CACHE_EVENT(Event, Name, Text) Event,
#include "stark/Cache/CacheEvents.def"
};
inline constexpr Named<CacheEvent> CacheEventNames[] = {
#define STARK_CACHE_EVENT(Event, Name, Text) {CacheEvent::Event, Name},
#include "stark/Cache/CacheEvents.def"
};
constexpr std::span<const Named<CacheEvent>> namesOf(CacheEvent) {
  return CacheEventNames;
}

/// In the user's cache folder, if it is there.
void count(CacheEvent Event);

/// All counts of the cache in \p Folder, a line each, with its entries and
/// their size.
void printStats(llvm::StringRef Folder, llvm::raw_ostream &OS);

} // namespace stark

#endif
