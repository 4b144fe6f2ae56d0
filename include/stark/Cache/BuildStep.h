//===- BuildStep.h - What a build gets -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   look-up -> generated source + depfile + stamp
/// The generated source is written only when it differs, so that nothing is
/// compiled again for nothing; the stamp is what the build system dates the
/// step by.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_BUILDSTEP_H
#define STARK_CACHE_BUILDSTEP_H

#include "stark/Cache/KernelCache.h"
#include "stark/Json/Names.h"

namespace stark {

/// How a build finds winners.
enum class BuildMode {
#define STARK_BUILD_MODE(Mode, Name) Mode,
#include "stark/Cache/BuildModes.def"
};
inline constexpr Named<BuildMode> BuildModeNames[] = {
#define STARK_BUILD_MODE(Mode, Name) {BuildMode::Mode, Name},
#include "stark/Cache/BuildModes.def"
};
constexpr std::span<const Named<BuildMode>> namesOf(BuildMode) {
  return BuildModeNames;
}
/// Usage errors name the flag --mode.
llvm::Expected<BuildMode> parseBuildMode(llvm::StringRef Name);

struct BuildStep {
  CacheInputs In;
  std::vector<std::string> Stores; ///< looked through in order
  std::string Output;              ///< the source that is compiled
  std::string Depfile, Stamp;      ///< empty: not written
};

/// What a build does once a winner was looked up.
struct BuildChoice {
  enum class Kind { UseWinner, UseSource, Search };
  Kind Does;
  std::string Warning = {}; ///< for the user; empty: nothing is amiss
};

/// \p CanSearch: somebody is there who can. An error when the mode wants what
/// there is not.
llvm::Expected<BuildChoice> chooseBuild(const BuildStep &Step,
                                        const Lookup &Found, BuildMode Mode,
                                        bool CanSearch);

/// A file of flags, one a line, as CMake writes it; none when \p Path is empty.
llvm::Expected<std::vector<std::string>> readFlagsFile(llvm::StringRef Path);

/// The stores of \p Step, then the user's cache folder.
std::vector<std::string> cacheFolders(const BuildStep &Step);

/// Writes the winner of \p Found, a hit.
llvm::Error useWinner(const BuildStep &Step, const Lookup &Found);

/// Writes the source as it is. \p Again: the step is to run in the next build,
/// too.
llvm::Error useSource(const BuildStep &Step, const Lookup &Found,
                      bool Again = false);

} // namespace stark

#endif
