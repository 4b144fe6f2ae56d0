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
  /// Of the target, beside that of In, which is the one to search for.
  std::vector<std::string> MoreArchs;
  /// Of the source, beside that of In. Each has winners of its own, which are
  /// taken where they were proved; where several were, that of the first is.
  std::vector<std::string> MoreWorkloads;
  std::vector<std::string> Stores; ///< looked through in order
  std::string Output;              ///< the source that is compiled
  std::string Depfile, Stamp;      ///< empty: not written
  /// What the depfile says depends, as the build calls it; empty: the stamp's
  /// whole path, else the output's.
  std::string DepfileTarget;
  bool Require = false; ///< a winner that does not compile is an error
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

/// "softmax.cu", and with which workload where \p Step has several.
std::string subjectOf(const BuildStep &Step, const CacheInputs &In);

/// What \p Found is and why, a line for each architecture with a winner:
/// "softmax.cu: winner 68ee-1570 for sm_90, taken for n=1 (of CUDA toolkit
/// 13.0, this is 13.1)", and one for each workload without.
std::vector<std::string> explain(const BuildStep &Step, const Lookup &Found);

/// A file of flags, one a line, as CMake writes it; none when \p Path is empty.
llvm::Expected<std::vector<std::string>> readFlagsFile(llvm::StringRef Path);

/// In the stores of \p Step, then in the user's cache folder: the first winner
/// of its workloads and their architectures, with the others beside it. Without
/// any, why there is none for those of \p Step.In.
llvm::Expected<Lookup> findForBuild(const BuildStep &Step);

/// The same, and what is not there is asked of the user's remote, of which
/// \p Warning says what is amiss. What was found in the user's cache was used
/// now. Counted (Counters.h).
llvm::Expected<Lookup> findHereOrRemote(const BuildStep &Step,
                                        std::string &Warning);

/// The text that a build compiles for \p Found, a hit.
llvm::Expected<std::string> generatedText(const BuildStep &Step,
                                          const Lookup &Found);

/// Writes the winners of \p Found, a hit. \p Again: the step is to run in the
/// next build, too.
llvm::Error useWinner(const BuildStep &Step, const Lookup &Found,
                      bool Again = false);

/// Writes the source as it is.
llvm::Error useSource(const BuildStep &Step, const Lookup &Found,
                      bool Again = false);

} // namespace stark

#endif
