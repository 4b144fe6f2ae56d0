//===- SourceTokens.h - The tokens of a source, by bytes -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bytes -> tokens and comments, with no preprocessing: two texts with the
/// same tokens mean the same to a compiler, whatever their white space and
/// comments. Each directive ends with a token of its own, and `#define F(x)`
/// and `#define F (x)` differ, since they do to the preprocessor.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_SOURCETOKENS_H
#define STARK_LIB_AST_SOURCETOKENS_H

#include "stark/AST/Site.h"
#include "llvm/ADT/StringMap.h"
#include <cstdint>

namespace stark {

/// Numbers for spellings, shared by the sources that are to be compared.
class Spellings {
public:
  uint32_t number(llvm::StringRef Text);
  llvm::StringRef text(uint32_t Number) const { return Texts[Number]; }

private:
  llvm::StringMap<uint32_t> Numbers;
  std::vector<llvm::StringRef> Texts; ///< owned by Numbers
};

struct SourceToken {
  enum KindType : uint8_t { Word, Literal, Punctuator, EndOfDirective };
  Range Bytes;
  uint32_t Spelling = 0; ///< line splices removed
  KindType Kind = Punctuator;
  bool StartsLine = false;  ///< nothing but white space or comments before it
  bool InDirective = false; ///< from '#' to EndOfDirective
};

struct SourceComment {
  Range Bytes;      ///< without the line ending of a // comment
  size_t NextToken; ///< index of the first token after it
  bool InDirective; ///< more tokens of the same directive follow
};

class SourceTokens {
public:
  SourceTokens(llvm::StringRef Text, Spellings &Names);

  std::vector<SourceToken> All;
  std::vector<SourceComment> Comments;

  llvm::StringRef source() const { return Source; }
  llvm::StringRef text(size_t Index) const {
    return Names->text(All[Index].Spelling);
  }
  bool is(size_t Index, llvm::StringRef Text) const {
    return Index < All.size() && text(Index) == Text;
  }
  /// 1-based; of a byte at or after the last one too.
  unsigned line(size_t Offset) const;
  /// The text of a line, without its ending.
  llvm::StringRef lineText(unsigned Line) const;
  /// The first token that begins at or after \p Offset.
  size_t firstAt(size_t Offset) const;
  /// The bytes of some tokens; of none, the place behind the one before them.
  Range bytes(Range Tokens) const;

private:
  llvm::StringRef Source;
  Spellings *Names;
  std::vector<size_t> LineStarts;
};

} // namespace stark

#endif
