//===- Marks.h - Where a plan's marks stand -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A mark is `<<<IMPROVE BEGIN>>>` or `<<<IMPROVE END>>>` in a comment, or
/// bare on a line of its own: models forget the slashes. Case, spaces, BEGINS,
/// ENDS and '#' in front do not matter. What stands in a string is no mark.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_MARKS_H
#define STARK_LIB_AST_MARKS_H

#include "SourceTokens.h"

namespace stark {

struct Mark {
  bool Begin = false;
  Range Bytes;              ///< the whole comment or bare mark
  Range Tokens;             ///< of a bare mark; empty in a comment
  size_t NextToken = 0;     ///< first token after it
  bool InDirective = false; ///< more of the same directive follows
};

/// In source order. Two marks in one comment share their Bytes.
std::vector<Mark> findMarks(const SourceTokens &Tokens);

} // namespace stark

#endif
