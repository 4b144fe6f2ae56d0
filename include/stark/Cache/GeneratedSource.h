//===- GeneratedSource.h - The winner as a source to build ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Winner text -> header comment (what was changed where, by which model,
/// measured on what) + the text with #line directives back to the user's file.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_GENERATEDSOURCE_H
#define STARK_CACHE_GENERATEDSOURCE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

struct WinnerFacts {
  std::string SourceName; ///< as #line names it
  std::string Advice, Model, Device, Timings, RunDigest;
  double Speedup = 0;
  bool Modelled = false;
};

/// Unchanged lines keep their numbers in SourceName; changed ones are named
/// after the generated file itself.
std::string makeGeneratedSource(llvm::StringRef SourceText,
                                llvm::StringRef WinnerText,
                                const WinnerFacts &Facts);

} // namespace stark

#endif
