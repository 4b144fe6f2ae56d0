//===- Edits.h - Changes of a text, made together ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text + edits at offsets of it -> text
/// By bytes, where clang::tooling::Replacements would go through a
/// SourceManager: what a model replies may be no source that Clang accepts (a
/// foreign byte order mark, bytes of any encoding), and every byte outside the
/// edits stays. For the same reason indentation and line ends are read from the
/// bytes here, not by clang::Lexer.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EDITS_H
#define STARK_LIB_AST_EDITS_H

#include "stark/AST/Site.h"

namespace stark {

struct Edit {
  Range Place; ///< empty: an insertion
  std::string Text;
};

/// At one place, insertions come before what replaces something, and in the
/// order given. An edit that begins inside one before it is left out.
std::string applyEdits(llvm::StringRef Text, std::vector<Edit> Edits);

inline bool isBlank(char C) { return C == ' ' || C == '\t'; }

/// The offset of the first, or behind the last, of the blanks that touch \p At.
size_t blanksBefore(llvm::StringRef Text, size_t At);
size_t blanksBehind(llvm::StringRef Text, size_t At);

/// Nothing but blanks stands between \p At and the line's beginning or end.
bool startsLine(llvm::StringRef Text, size_t At);
bool endsLine(llvm::StringRef Text, size_t At);

/// What the lines of \p Text end with: that of the first one.
llvm::StringRef lineEnding(llvm::StringRef Text);

/// \p Text with \p Ending at the end of each line.
std::string withLineEndings(llvm::StringRef Text, llvm::StringRef Ending);

} // namespace stark

#endif
