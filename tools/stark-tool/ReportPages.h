//===- ReportPages.h - Pages, suites and runs side by side ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_TOOL_REPORTPAGES_H
#define STARK_TOOL_REPORTPAGES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark::tool {

/// What --format says, else what -o does: a FILE.html is a page, all else text.
std::string formatOf(llvm::StringRef Given, llvm::StringRef Out);

/// Several runs, a suite's folder, or a page, written to \p Out (empty:
/// standard output); false, and nothing done, for what is none of these.
llvm::Expected<bool> reportPages(const std::vector<std::string> &Folders,
                                 llvm::StringRef Format, llvm::StringRef Out);

/// The last search of each source of targets, of which \p Files say what they
/// are built with, as a page at \p Out, whose path is printed: of one search
/// its own, of several an index.
llvm::Error reportTargets(const std::vector<std::string> &Files,
                          llvm::StringRef Format, llvm::StringRef Out);

/// \p Name as a link has it.
std::string addressOf(llvm::StringRef Name);

} // namespace stark::tool

#endif
