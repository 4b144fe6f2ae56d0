//===- SiteDraft.h - Sites before they have ids --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   AST -> drafts; tokens -> drafts of what the AST lacks; both, sorted ->
/// sites with parents and ids (Site.cpp).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_SITEDRAFT_H
#define STARK_LIB_AST_SITEDRAFT_H

#include "stark/AST/Site.h"
#include <set>

namespace stark {

struct SiteDraft {
  SiteKind Kind;
  std::string Stem; ///< of the id: "loop"; of a function: its name
  std::string Name;
  Range Bytes; ///< never empty: of an expansion, the macro's use
  unsigned Line = 0, EndLine = 0;
  Obstacle Against; ///< editing it, as far as the draft can tell
  std::string Detail;
};

struct SiteDrafts {
  std::vector<SiteDraft> All;
  /// Where the words "__global__", "<<<" and the names of launching calls stand
  /// that a draft accounts for.
  std::set<size_t> Accounted;
};

/// From the AST.
void draftFromAst(const ParsedSource &Source, SiteDrafts &Into);

/// What only the tokens show: kernels and launches in skipped text, in macro
/// definitions and where Clang lost its way.
void draftFromTokens(const ParsedSource &Source, SiteDrafts &Into);

/// cudaLaunchKernel and its kin, of the runtime and the driver.
bool isLaunchingCall(llvm::StringRef Name);

} // namespace stark

#endif
