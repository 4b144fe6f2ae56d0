//===- Winner.h - What a run came to --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run --> its winner's text, and a paragraph on how it was judged
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_WINNER_H
#define STARK_REPORT_WINNER_H

#include "stark/Search/Record.h"

namespace stark {

struct Winner {
  unsigned Node = 0;
  std::string Text;
  /// Where and how it was judged: a line, then "* " and a line a size.
  std::string Story;
};

/// A run that goes on, or has no winner, is a usage error that says so.
llvm::Expected<Winner> winnerOf(const RecordedRun &Run);

} // namespace stark

#endif
