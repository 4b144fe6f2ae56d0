//===- CodeTokens.h - The tokens of a source, without Clang --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bytes -> tokens, for programs that link no Clang: a place in a source is
/// the number of a token, which comments, white space and line ends do not
/// change. lib/AST/SourceTokens.h has Clang's own, for all that is parsed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_CODETOKENS_H
#define STARK_SUPPORT_CODETOKENS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

struct CodeToken {
  enum KindType { Word, Number, Literal, Punctuator, EndOfDirective };
  size_t Begin = 0, End = 0; ///< bytes; of the end of a directive none
  KindType Kind = Punctuator;
  bool InDirective = false;
};

/// Punctuators are single characters, a backslash that continues a line among
/// them. What is no C++ still gives tokens.
std::vector<CodeToken> codeTokens(llvm::StringRef Text);

/// Of the tokens and of what touches what: the same for texts that differ in
/// comments, white space, line ends and a byte order mark alone.
std::string codeDigest(llvm::StringRef Text);

} // namespace stark

#endif
