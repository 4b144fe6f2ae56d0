//===- Report.h - What a run found, for people ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run folder -> summary. Every number says its unit, how it was taken and
/// on what; modelled times are never called measured.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_REPORT_H
#define STARK_REPORT_REPORT_H

#include "stark/Search/Record.h"

namespace stark {

enum class ReportFormat {
  Text,
  Markdown, ///< for a pull request
  Json,
  Sarif,   ///< refused candidates
  Remarks, ///< LLVM's, in YAML
};
inline constexpr Named<ReportFormat> ReportFormatNames[] = {
    {ReportFormat::Text, "text"},
    {ReportFormat::Markdown, "markdown"},
    {ReportFormat::Json, "json"},
    {ReportFormat::Sarif, "sarif"},
    {ReportFormat::Remarks, "remarks"}};
constexpr std::span<const Named<ReportFormat>> namesOf(ReportFormat) {
  return ReportFormatNames;
}

/// What was tried and what came of it: a line an attempt, the tree, verdict
/// counts, tokens, and for each timed size the source and the winner.
llvm::Error printReport(const RecordedRun &Run, ReportFormat Format,
                        llvm::raw_ostream &OS);

/// The end of the text alone: sizes, counts, tokens, winner.
void printSummary(const RecordedRun &Run, llvm::raw_ostream &OS);

} // namespace stark

#endif
