//===- WinnerEntry.h - A run as an entry of the cache --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   recorded run, or a judged candidate -> what the kernel cache keeps of it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_WINNERENTRY_H
#define STARK_DRIVER_WINNERENTRY_H

#include "stark/Cache/KernelCache.h"
#include "stark/Search/Record.h"
#include "stark/Task/Task.h"

namespace stark {

/// \p Run must have ended. Without a winner the entry says that nothing won.
CacheEntry makeEntry(const RecordedRun &Run,
                     const std::vector<std::string> &Headers);

/// A form of a whole source that no search of ours wrote.
struct WrittenCandidate {
  std::string Text;
  std::string Title;  ///< what it does, in a line
  std::string Author; ///< who or what wrote it
};

/// \p Judged, correct, is the verdict of the candidate's confirmation.
CacheEntry makeEntry(const Task &Of, const WrittenCandidate &Winner,
                     const Verdict &Judged);

} // namespace stark

#endif
