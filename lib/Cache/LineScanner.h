//===- LineScanner.h - Where a directive may stand -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Walks over C++ text line by line and knows at the start of each whether a
/// #line may be put there. It says yes only where that is certain: outside
/// comments, strings, raw strings, continued lines and directives, outside all
/// parentheses (a macro's arguments among them), and only behind ';', '{', '}'
/// or at the top, so that no macro's name waits for its parenthesis. Text that
/// confuses it (parentheses that #if branches share) makes it say no.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_LINESCANNER_H
#define STARK_LIB_CACHE_LINESCANNER_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

class LineScanner {
public:
  /// What a directive does to the lines behind it.
  enum class Condition { None, Opens, Switches, Closes };

  /// Whether a directive may stand before the next line.
  bool clean() const {
    return State == Code && Depth == 0 && !Continued && AtBoundary;
  }

  /// Takes the next line, with its end; says which conditional it is.
  Condition scan(llvm::StringRef Line);

private:
  size_t step(llvm::StringRef Body, size_t I);
  bool startRaw(llvm::StringRef Body, size_t Quote);

  enum { Code, BlockComment, LineComment, Quoted, Raw } State = Code;
  char Quote = 0;
  std::string RawEnd;
  unsigned Depth = 0;
  bool Continued = false;   ///< the last line ended with a backslash
  bool InDirective = false; ///< and belongs to a directive
  bool AtBoundary = true;
};

} // namespace stark

#endif
