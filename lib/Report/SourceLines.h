//===- SourceLines.h - Where in the source a node's anchors lie -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   anchors, in the lines of a candidate -> lines of the user's source
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REPORT_SOURCELINES_H
#define STARK_LIB_REPORT_SOURCELINES_H

#include "stark/Search/Record.h"

namespace stark {

/// Counted from 1, both included.
struct SourceRegion {
  unsigned Line = 1, EndLine = 1;
  /// The function of the anchor's first site; empty where it has none.
  std::string Function;
};

/// Of each anchor of node \p Number. What was added to the source lies at the
/// line before it.
std::vector<SourceRegion> sourceRegions(const RecordedRun &Run,
                                        unsigned Number);

/// "softmax.cu": a run does not know more of it.
std::string sourceFile(const RecordedRun &Run);

} // namespace stark

#endif
