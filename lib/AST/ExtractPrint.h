//===- ExtractPrint.h - Kept tokens as a text -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   kept tokens -> one text, in the order in which they are read
/// Runs of kept tokens are copied byte for byte, with the comments that stand
/// right before or behind them, each at its column. Where a run is of another
/// file, or further down, a #line directive says so, or a comment names it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTPRINT_H
#define STARK_LIB_AST_EXTRACTPRINT_H

#include "ExtractDirectives.h"

namespace stark {

struct PrintedText {
  std::string Text;
  std::map<int, std::string> OfFile; ///< what of it is of each header
};

PrintedText printKept(const IncludeTree &Tree, const UnitsOfFiles &Units,
                      const KeptTokens &Kept, bool WithLines);

} // namespace stark

#endif
