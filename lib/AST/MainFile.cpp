//===- MainFile.cpp - What of the AST a source's own file writes ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MainFile.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Lex/Lexer.h"

using namespace stark;
using namespace clang;

std::optional<Range> stark::fileBytes(SourceRange R, const SourceManager &SM,
                                      const LangOptions &Options) {
  CharSourceRange Chars =
      Lexer::makeFileCharRange(CharSourceRange::getTokenRange(R), SM, Options);
  if (Chars.isInvalid())
    return std::nullopt;
  return Range{SM.getFileOffset(Chars.getBegin()),
               SM.getFileOffset(Chars.getEnd())};
}

SourceRange stark::wholeRange(const FunctionDecl &F) {
  const FunctionTemplateDecl *Template = F.getDescribedFunctionTemplate();
  return Template ? Template->getSourceRange() : F.getSourceRange();
}

bool stark::isOneExpansion(SourceRange R, const SourceManager &SM) {
  return R.getBegin().isMacroID() && R.getEnd().isMacroID() &&
         SM.getExpansionLoc(R.getBegin()) == SM.getExpansionLoc(R.getEnd());
}

Side stark::sideOf(const FunctionDecl *F) {
  if (F->hasAttr<CUDAGlobalAttr>())
    return Side::Kernel;
  return F->hasAttr<CUDADeviceAttr>() && !F->hasAttr<CUDAHostAttr>()
             ? Side::Device
             : Side::Host;
}
