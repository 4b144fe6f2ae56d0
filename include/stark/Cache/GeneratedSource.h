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
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stark {

/// How long a timed size took, in microseconds: the median of the samples and
/// how far apart their quartiles are. Speedup is the source's by the winner's
/// time, with the bounds of its 95 % interval.
struct SizeTimes {
  std::string Size; ///< "n=4096"
  uint64_t Samples = 0;
  double SourceUs = 0, SourceIqrUs = 0, WinnerUs = 0, WinnerIqrUs = 0;
  double Speedup = 0, SpeedupLow = 0, SpeedupHigh = 0;
  bool operator==(const SizeTimes &) const = default;
};

/// What is known of a winner. Those behind Modelled are empty in entries of an
/// older Stark.
struct WinnerFacts {
  std::string Title, Advice;        ///< of its instruction
  std::string Model;                ///< what wrote it
  std::string Device;               ///< what it was measured on
  std::vector<std::string> Timings; ///< one line a timed size
  std::string RunDigest;            ///< of the run's task
  double Speedup = 0;               ///< geometric mean over the timed sizes
  bool Modelled = false;            ///< times are modelled, not measured
  std::string Driver;               ///< of the device
  std::vector<SizeTimes> Times;     ///< as Timings says it to people
  /// How many candidates of its search came to what: "wrong", 3.
  std::map<std::string, uint64_t> Verdicts;
  std::string Diff; ///< what makes the winner of the source, for `patch`
  /// With what it was compared, and what it rounds with that the source does
  /// not: Verdict::Proved and Precision.
  std::vector<std::string> Proved, Precision;
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

/// With this macro a call that no winner takes ends the process, so that who
/// judges a generated source knows that it was the winner that was called.
inline constexpr llvm::StringLiteral TrapMacro = "STARK_NO_SOURCE";

/// What the part of the winner with this suffix begins with.
std::string winnerMark(llvm::StringRef Suffix);

/// The source as it is, under the user's name.
std::string passThrough(llvm::StringRef SourceText, llvm::StringRef SourcePath);

} // namespace stark

#endif
