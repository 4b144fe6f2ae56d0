//===- Inventory.h - What a cache holds ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   folder of an entry -> text for people
/// All of it may be a model's: whoever prints it to a terminal makes it visible
/// text first.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_INVENTORY_H
#define STARK_CACHE_INVENTORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// "softmax.cu/68eea35b1931-1570f41e sm_90, 1.540 times as fast, NVIDIA H200",
/// or what is wrong with it.
std::string entryLine(llvm::StringRef Folder);

/// All that is known of it, a line each. Errors say what is wrong with it.
llvm::Expected<std::string> entryFacts(llvm::StringRef Folder);

/// What makes the winner of the source, for `patch`. An error when the entry
/// has none.
llvm::Expected<std::string> entryDiff(llvm::StringRef Folder);

} // namespace stark

#endif
