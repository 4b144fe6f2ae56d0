//===- ReportParts.h - What text and Markdown have in common --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run -> one part of a report
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REPORT_REPORTPARTS_H
#define STARK_LIB_REPORT_REPORTPARTS_H

#include "Figures.h"

namespace stark {

/// \p Text, which a model may have written, as Markdown that shows it: it makes
/// no markup, no link, and calls nobody.
std::string quoteMarkdown(llvm::StringRef Text);

/// Who answered and judged, and how times were taken.
void printOrigin(const RecordedRun &Run, const Figures &F, bool Markdown,
                 llvm::raw_ostream &OS);
/// A table, a row a node.
void printAttempts(const RecordedRun &Run, bool Markdown,
                   llvm::raw_ostream &OS);
/// The tree, a line a node, without titles. What lies very deep is no further
/// to the right, and names its parent.
void printBranches(const RecordedRun &Run, const Figures &F,
                   llvm::raw_ostream &OS);
/// Source against winner, a row a size, with the share of the floor where there
/// is one; nothing without a winner.
void printSizes(const RecordedRun &Run, const Figures &F, bool Markdown,
                llvm::raw_ostream &OS);
/// Verdicts, tokens, money.
void printCounts(const RecordedRun &Run, const Figures &F,
                 llvm::raw_ostream &OS);

} // namespace stark

#endif
