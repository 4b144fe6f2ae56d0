//===- Comparison.h - Runs side by side ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   runs of one task, under presets, models, seeds or days -> a column each
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_COMPARISON_H
#define STARK_REPORT_COMPARISON_H

#include "stark/Search/Record.h"

namespace stark {

struct ComparedRun {
  std::string Folder; ///< as given; it names the column
  RecordedRun Run;
};

/// A line a fact, a column a run; before it, what makes the runs hard to
/// compare: other tasks, other devices, modelled beside measured.
void printComparison(const std::vector<ComparedRun> &Runs, bool Markdown,
                     llvm::raw_ostream &OS);

/// The same as a page, with the best so far of all runs in one picture.
void printComparisonPage(const std::vector<ComparedRun> &Runs,
                         llvm::raw_ostream &OS);

} // namespace stark

#endif
