//===- WinnerEntry.h - A run as an entry of the cache --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   recorded run -> what the kernel cache keeps of it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_WINNERENTRY_H
#define STARK_DRIVER_WINNERENTRY_H

#include "stark/Cache/KernelCache.h"
#include "stark/Search/Record.h"

namespace stark {

/// \p Run must have ended. Without a winner the entry says that nothing won.
CacheEntry makeEntry(const RecordedRun &Run,
                     const std::vector<std::string> &Headers);

} // namespace stark

#endif
