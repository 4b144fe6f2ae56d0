//===- Dispatch.h - The code that chooses a winner  ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   plans -> what stands before the source, behind its entry and round each
/// winner
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_DISPATCH_H
#define STARK_LIB_CACHE_DISPATCH_H

#include "stark/Cache/GeneratedSource.h"
#include "llvm/ADT/ArrayRef.h"

namespace stark {

using Winners = llvm::ArrayRef<PlannedWinner>;

/// Whether the code of a winner runs on the current device, for each.
std::string dispatchPreamble(Winners All);

/// The edits of the source: its entries renamed, and behind each of them the
/// function that chooses.
std::vector<TokenEdit> sourceEdits(Winners All);

/// What stands before and behind the text of a winner: names, macros, headers.
std::string winnerHead(const PlannedWinner &W, Winners All);
std::string winnerTail(const PlannedWinner &W, Winners All);

} // namespace stark

#endif
