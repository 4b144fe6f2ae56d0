//===- SuitePage.h - A suite's folder, read back and shown ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   DIR/tables.json -> figures -> an index as a page, or CSV
///
//===----------------------------------------------------------------------===//

#ifndef STARK_BENCH_SUITEPAGE_H
#define STARK_BENCH_SUITEPAGE_H

#include "stark/Bench/Suite.h"

namespace stark {

/// Whether \p Folder is what `bench` wrote: it has tables.json.
bool isSuiteFolder(llvm::StringRef Folder);

/// From DIR/tables.json. Errors name file and field; what names a folder is
/// held to the letters of a suite's names.
llvm::Expected<SuiteResult> readSuiteFolder(llvm::StringRef Folder);

/// "softmax/stark/seed-1", below the suite's folder.
std::string runPathOf(const CellFigures &C);

/// A line a run, under a heading; RFC 4180.
void printSuiteCsv(const SuiteResult &R, llvm::raw_ostream &OS);

/// Tables that sort, and how the speed-ups are distributed. \p Links has, for a
/// run's path, the address of its page.
void printSuitePage(const SuiteResult &R,
                    const std::map<std::string, std::string> &Links,
                    llvm::raw_ostream &OS);

} // namespace stark

#endif
