//===- GeneratedSource.h - The winner as a source to build ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Winner text -> a comment that says what was changed, by which model and
/// measured on what + the text with #line directives, so that compilers and
/// debuggers show the user's file where it was not changed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_GENERATEDSOURCE_H
#define STARK_CACHE_GENERATEDSOURCE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

/// What is known of a winner; all of it text for people but for Speedup.
struct WinnerFacts {
  std::string Title, Advice;        ///< of its instruction
  std::string Model;                ///< what wrote it
  std::string Device;               ///< what it was measured on
  std::vector<std::string> Timings; ///< one line a timed size
  std::string RunDigest;            ///< of the run's task
  double Speedup = 0;               ///< geometric mean over the timed sizes
  bool Modelled = false;            ///< times are modelled, not measured
};

/// \p SourcePath and \p OutputPath are what #line names: lines that are the
/// source's belong to the user's file, the others to the generated one. The
/// text between is that of \p WinnerText, byte for byte. A #line is put only
/// where none can fall into a comment, a string, a continued line or a macro's
/// arguments (lib/Cache/LineScanner.h); until the next such place, lines count
/// on from the last one.
std::string makeGeneratedSource(llvm::StringRef SourceText,
                                llvm::StringRef WinnerText,
                                const WinnerFacts &Facts,
                                llvm::StringRef SourcePath,
                                llvm::StringRef OutputPath);

/// The source as it is, under the user's name.
std::string passThrough(llvm::StringRef SourceText, llvm::StringRef SourcePath);

} // namespace stark

#endif
