//===- Literals.cpp - Numbers that may be others, in a dry run ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// The macro of the file whose whole text is from \p Begin to \p End, but for
/// what stands around it: "((N))". Empty when there is none.
static std::string wholeMacro(SourceLocation Begin, SourceLocation End,
                              const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  // CHECK(cudaMalloc(&a, SIZE))
  for (SourceLocation *Each : {&Begin, &End})
    while (SM.isMacroArgExpansion(*Each))
      *Each = SM.getImmediateSpellingLoc(*Each);
  if (!Begin.isMacroID() || !SM.isMacroBodyExpansion(Begin) ||
      SM.getFileID(Begin) != SM.getFileID(End))
    return "";
  SourceLocation From = SM.getSpellingLoc(Begin), To = SM.getSpellingLoc(End);
  if (!SM.isInMainFile(From))
    return "";
  llvm::StringRef Text = SM.getBufferData(SM.getFileID(From));
  llvm::StringRef Before = Text.take_front(SM.getFileOffset(From)),
                  After = Text.drop_front(
                      SM.getFileOffset(To) +
                      Lexer::MeasureTokenLength(To, SM, Context.getLangOpts()));
  After = After.ltrim("() \t\r");
  if (!After.empty() && !After.starts_with("\n") && !After.starts_with("/"))
    return "";
  std::string Macro =
      Lexer::getImmediateMacroName(Begin, SM, Context.getLangOpts()).str();
  return Before.rtrim("( \t").ends_with(Macro) ? Macro : "";
}

/// A number that a macro of the file stands for may be another, unless kernels
/// are written with the macro.
Value Machine::evalLiteral(const IntegerLiteral *L) {
  Value V = Value::integer(int64_t(L->getValue().getLimitedValue(INT64_MAX)));
  if (As || V.Number < 2 || !L->getLocation().isMacroID())
    return V;
  // What has it cannot be another.
  V.Fixed = FixedNames.count(
      Lexer::getImmediateMacroName(L->getLocation(), Context.getSourceManager(),
                                   Context.getLangOpts())
          .str());
  return named(V, wholeMacro(L->getLocation(), L->getLocation(), Context));
}

/// "#define SIZE (100 * 1024)" is one size.
Value Machine::nameMacro(const BinaryOperator *B, const Value &V) {
  if (As || !V.isInteger() || !B->getBeginLoc().isMacroID())
    return V;
  return named(V, wholeMacro(B->getBeginLoc(), B->getEndLoc(), Context));
}
