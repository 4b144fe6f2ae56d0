//===- Specializations.h - What a library says once more ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ParsedSource -> the lines of what repeats one class template for other
/// types and sizes, as a library's vector types do
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_SPECIALIZATIONS_H
#define STARK_AST_SPECIALIZATIONS_H

#include <string>
#include <vector>

namespace stark {

class ParsedSource;

/// Lines of the source's own file, 1-based, both included.
struct RepeatedLines {
  unsigned First = 0, Last = 0;
  std::string Template; ///< "vec_t"
};

/// Of class templates with three specialisations or more for one type as the
/// first argument, partial ones included: each but the longest, and the
/// definitions of members that stand outside of them. In source order; what
/// only blank lines and comments part is one.
std::vector<RepeatedLines> findRepeatedLines(const ParsedSource &Source);

} // namespace stark

#endif
