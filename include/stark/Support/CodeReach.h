//===- CodeReach.h - What of a source an entry reaches, without Clang -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source, entry -> the source without functions that nothing of it names
/// A look-up parses nothing, but has to know whether a change concerns a
/// winner. So this goes by words alone, and leaves out too little rather than
/// too much: definitions of plain functions and kernels whose name is a word of
/// nothing that is kept. Directives, types, variables and declarations are kept
/// always, and with them what they name.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_CODEREACH_H
#define STARK_SUPPORT_CODEREACH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <string>
#include <vector>

namespace stark {

/// Numbers of codeTokens(): [First, Last).
struct TokenRange {
  size_t First = 0, Last = 0;
  size_t size() const { return Last - First; }
  bool operator==(const TokenRange &) const = default;
};

struct CodeReach {
  std::vector<TokenRange> Kept;     ///< ascending, apart
  std::string Text;                 ///< what is kept: has the tokens of Kept
  std::vector<std::string> LeftOut; ///< names of functions
};

/// Unset where words do not tell: names that macros put together, braces that a
/// condition opens and does not close, no definition of \p Entry ("ns::f").
std::optional<CodeReach> reachOf(llvm::StringRef Text, llvm::StringRef Entry);

/// The words of its tokens.
llvm::StringSet<> wordsOf(llvm::StringRef Text);

/// Likewise, but for names that only prototypes of functions have, which say
/// nothing of what a function does. All words where words do not tell.
llvm::StringSet<> wordsUsedIn(llvm::StringRef Text);

/// The token of \p To that stands where the one of \p From does; unset when
/// \p From does not keep it. Both keep the same tokens.
std::optional<size_t> tokenLike(const std::vector<TokenRange> &From,
                                const std::vector<TokenRange> &To,
                                size_t Token);

} // namespace stark

#endif
