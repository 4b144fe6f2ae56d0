//===- CodeText.h - What tells code from what looks like it ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> its tokens and characters -> what keeps it from being code
/// For text that a model sent: no AST is asked. What the base holds itself is
/// never complained of.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_CODETEXT_H
#define STARK_AST_CODETEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

/// \p Text without the characters of no width that \p Base does not hold
/// (U+200B, U+FEFF, ...), which come along when text is copied, and with a
/// blank for each that is one of another width (U+00A0, U+3000, ...).
std::string withoutInvisible(llvm::StringRef Text, llvm::StringRef Base);

/// The first character that may not stay, "line 3 has the quotation mark
/// U+201C, wanted '\"'": typographic ones outside of comments and literals, and
/// anywhere those that change the direction of writing. Empty: none.
std::string strangeCharacter(llvm::StringRef Text, llvm::StringRef Base);

/// The first bracket without its twin, "'{' of line 12 is never closed", or the
/// comment or string that the text ends in; empty: none, or \p Base has such
/// itself.
std::string oddBracket(llvm::StringRef Text, llvm::StringRef Base);

/// The first line with dots where a statement or a value should be, "x = ...;";
/// empty: none.
std::string elidedCode(llvm::StringRef Text);

/// Whether a function \p Name has a body in \p Text, as far as tokens tell.
bool definesFunction(llvm::StringRef Text, llvm::StringRef Name);

} // namespace stark

#endif
