//===- GeneratedSource.h - The winner as a source to build ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + winners -> a comment that says what was changed, by which model
/// and measured on what + both, with a function that chooses and with #line
/// directives, so that compilers and debuggers show the user's file where it
/// was not changed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_GENERATEDSOURCE_H
#define STARK_CACHE_GENERATEDSOURCE_H

#include "stark/Cache/DispatchPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
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

/// A winner with what its entry of the cache says.
struct PlannedWinner {
  std::string Text; ///< the whole of it, as it was measured
  WinnerFacts Facts;
  DispatchPlan Plan;
  std::string Arch; ///< on which it was proved
};

/// The source and its winners: a function with the entry's name takes the first
/// winner that was proved for this device and these arguments, else the source.
/// \p SourcePath and \p OutputPath are what #line names: lines that are the
/// source's belong to the user's file, the others to the generated one. A #line
/// is put only where none can fall into a comment, a string, a continued line
/// or a macro's arguments (lib/Cache/LineScanner.h); until the next such place,
/// lines count on from the last one. An error when a plan does not fit.
llvm::Expected<std::string>
makeGeneratedSource(llvm::StringRef SourceText,
                    llvm::ArrayRef<PlannedWinner> Winners,
                    llvm::StringRef SourcePath, llvm::StringRef OutputPath);

/// What the part of the winner with this suffix begins with.
std::string winnerMark(llvm::StringRef Suffix);

/// The source as it is, under the user's name.
std::string passThrough(llvm::StringRef SourceText, llvm::StringRef SourcePath);

} // namespace stark

#endif
