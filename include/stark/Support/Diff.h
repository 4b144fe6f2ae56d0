//===- Diff.h - Which lines of a text changed ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   two texts -> the shortest list of lines kept, removed and added
/// Myers' O(ND) algorithm over lines, with a bound on D: past it a diff is no
/// shorter than the text, and memory would grow with its square.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_DIFF_H
#define STARK_SUPPORT_DIFF_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <vector>

namespace stark {

struct LineEdit {
  enum KindType { Same, Removed, Added };
  KindType Kind = Same;
  llvm::StringRef Line; ///< in the text that has it, without its line feed
};

/// From \p Old to \p New, into which the lines point; unset when it takes more
/// than 600 edits.
std::optional<std::vector<LineEdit>> diffLines(llvm::StringRef Old,
                                               llvm::StringRef New);

} // namespace stark

#endif
