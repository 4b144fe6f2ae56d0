//===- ContractReader.cpp - What readers of the AST share -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractReader.h"
#include "MainFile.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

ContractReader::ContractReader(const ContractText &Text)
    : Text(Text), Source(Text.Source), SM(Source.unit().getSourceManager()),
      Context(Source.unit().getASTContext()) {}

bool ContractReader::isOwn(SourceLocation L) const {
  return isInMainFile(SM, L);
}

bool ContractReader::onDevice() const {
  return !Functions.empty() && sideOf(Functions.back()) != Side::Host;
}

bool ContractReader::isNull(const Expr *E) const {
  return isa<CXXDefaultArgExpr>(E) ||
         E->isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNotNull) !=
             Expr::NPCK_NotNull;
}

void ContractReader::clears(const CallExpr *Call) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || !F->getDeclName().isIdentifier() || F->getName() != "memset" ||
      Call->getNumArgs() != 3 || Call->getArg(1)->isValueDependent())
    return;
  auto With = Call->getArg(1)->getIntegerConstantExpr(Context);
  if (!With || !With->isZero())
    return;
  for (const Expr *E = Call->getArg(0); const auto *C = dyn_cast<CastExpr>(E);
       E = C->getSubExpr())
    Cleared.insert(C);
}

Finding ContractReader::finding(SourceLocation L, ViolationKind Kind,
                                StringRef Name, StringRef Key,
                                std::optional<Harm> Why) const {
  SourceLocation At = SM.getExpansionLoc(L);
  unsigned Line = SM.isInMainFile(At) ? SM.getSpellingLineNumber(At) : 0;
  return {{Kind, Line, Name.str(), Why}, Key.str()};
}

const FunctionDecl *ContractReader::patternOf(const FunctionDecl *F) {
  if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
    F = Pattern;
  return F->getCanonicalDecl();
}
