//===- Review.h - A run for those who review its winner -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run --> Markdown that fits a pull request
///       --> SARIF 2.1.0: candidates that were refused, at the lines of the
///           source that they meant to change
///       --> LLVM's optimisation remarks, for llvm-opt-report and its kin
/// docs/review.md says what is in each.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_REVIEW_H
#define STARK_REPORT_REVIEW_H

#include "stark/Search/Record.h"

namespace stark {

void printReview(const RecordedRun &Run, llvm::raw_ostream &OS);

void printSarif(const RecordedRun &Run, llvm::raw_ostream &OS);

/// Of a verdict on \p File alone: no result when it is correct.
void printSarif(const Verdict &V, llvm::StringRef File, llvm::raw_ostream &OS);

/// In YAML.
llvm::Error printRemarks(const RecordedRun &Run, llvm::raw_ostream &OS);

} // namespace stark

#endif
