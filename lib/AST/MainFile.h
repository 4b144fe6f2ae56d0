//===- MainFile.h - What of the AST a source's own file writes -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Clang's locations -> bytes of the main file. Lexer::makeFileCharRange does
/// it where no macro is in the way; where a macro's use has to stand for what
/// it makes, the expansion's range is taken.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_MAINFILE_H
#define STARK_LIB_AST_MAINFILE_H

#include "stark/AST/Site.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include <optional>

namespace stark {

/// Where \p L is expanded; that of something a macro makes is its use.
inline bool isInMainFile(const clang::SourceManager &SM,
                         clang::SourceLocation L) {
  return L.isValid() && SM.isInMainFile(SM.getExpansionLoc(L));
}

/// The bytes that \p R's tokens are, or a macro's argument's; nothing when a
/// macro's own text is part of it.
std::optional<Range> fileBytes(clang::SourceRange R,
                               const clang::SourceManager &SM,
                               const clang::LangOptions &Options);

/// Of \p F, or of the template that it is the pattern of.
clang::SourceRange wholeRange(const clang::FunctionDecl &F);

/// One use of one macro makes the beginning and the end of \p R.
bool isOneExpansion(clang::SourceRange R, const clang::SourceManager &SM);

/// The source spells the attribute: Clang adds some of its own, to constants
/// for instance.
template <class Attribute> bool isWritten(const clang::Decl *D) {
  const auto *A = D->getAttr<Attribute>();
  return A && !A->isImplicit();
}

/// Where a function runs.
enum class Side { Host, Kernel, Device };
/// What runs on both sides is the host's.
Side sideOf(const clang::FunctionDecl *F);

} // namespace stark

#endif
