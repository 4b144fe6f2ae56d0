//===- RunPage.h - A run as one HTML file --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run folder -> a page that opens offline and asks for nothing
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_RUNPAGE_H
#define STARK_REPORT_RUNPAGE_H

#include "stark/Search/Record.h"

namespace stark {

/// Of the run in \p RunFolder, which \p Run was read from. At most about 18
/// MB: of a larger run, texts are cut, each with the file that has it.
void printRunPage(const RecordedRun &Run, llvm::StringRef RunFolder,
                  llvm::raw_ostream &OS);

} // namespace stark

#endif
