//===- RewriteReport.h - All rewrites of a source, shown and tried --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source file [+ workload] -> RewriteSet -> text, JSON, or which are bad
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REWRITE_REWRITEREPORT_H
#define STARK_REWRITE_REWRITEREPORT_H

#include "stark/Rewrite/Rewrite.h"
#include <optional>

namespace stark {

/// A source with what its rewrites look at.
struct RewriteSource {
  std::shared_ptr<ParsedSource> Source;
  std::optional<Task> Given; ///< when it has a workload
  Sites All;
  /// Points into this.
  RewriteInput input() const;
};

/// \p Workload is empty when there is none. Errors: those of loadTask() or of
/// parseSourceFile().
llvm::Expected<RewriteSource> loadRewriteSource(llvm::StringRef File,
                                                llvm::StringRef Workload,
                                                const ParseOptions &Options);

/// One line a match and a refusal.
void printRewrites(const RewriteSet &Set, llvm::raw_ostream &OS);

/// What `stark-tool rewrites --json` prints; \p File is named in it.
std::string rewritesJson(const RewriteSet &Set, llvm::StringRef File);

/// A match that should not be one.
struct BadMatch {
  std::string Key;
  std::string Why; ///< it cannot be made, changes nothing or does not parse
};

/// Makes each match of \p Set by itself and has Clang parse what it gives. \p
/// Source, which \p Set is of, was parsed with \p Options.
std::vector<BadMatch> checkMatches(const RewriteSet &Set,
                                   const ParsedSource &Source,
                                   const ParseOptions &Options);

} // namespace stark

#endif
