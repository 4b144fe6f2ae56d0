//===- ContractOutputs.cpp - What headers keep for whoever asks
//------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Variables of headers, and the settings of the streams among them.
///
//===----------------------------------------------------------------------===//

#include "ContractReader.h"
#include "clang/AST/ExprCXX.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

namespace {
class OutputReader : public ContractReader {
public:
  explicit OutputReader(const ContractText &Text) : ContractReader(Text) {}

  std::vector<Finding> run() {
    walk(Source);
    return std::move(Findings);
  }

  bool onDecl(Decl *D) override {
    if (auto *Using = dyn_cast<UsingDecl>(D))
      for (const UsingShadowDecl *S : Using->shadows())
        variableOfHeader(S->getTargetDecl(), D->getLocation());
    return true;
  }

  bool onStmt(Stmt *S) override {
    printing(S);
    if (auto *Call = dyn_cast<CXXMemberCallExpr>(S))
      ofOutput(Call);
    if (auto *Ref = dyn_cast<DeclRefExpr>(S))
      variableOfHeader(Ref->getDecl(), Ref->getLocation(), Ref);
    else if (auto *Member = dyn_cast<MemberExpr>(S))
      variableOfHeader(Member->getMemberDecl(), Member->getMemberLoc());
    return true;
  }

private:
  /// What is printed to is named there, and nowhere else: its settings live.
  void printing(const Stmt *S) {
    const Expr *To = nullptr;
    if (auto *Cast = dyn_cast<ImplicitCastExpr>(S);
        Cast && Cast->getCastKind() == CK_LValueToRValue)
      To = Cast->getSubExpr();
    else if (auto *Call = dyn_cast<CXXOperatorCallExpr>(S);
             Call && Call->getOperator() == OO_LessLess)
      To = Call->getArg(0);
    const auto *Ref =
        To ? dyn_cast<DeclRefExpr>(To->IgnoreParenImpCasts()) : nullptr;
    if (!Ref || !Ref->getDecl()->getDeclName().isIdentifier())
      return;
    for (StringRef Name : {"stdout", "stderr", "cout", "cerr", "clog"})
      if (Ref->getDecl()->getName() == Name)
        Prints.insert(Ref);
  }

  /// What a stream that is not the function's own is asked beside to print: its
  /// settings live, and the counters that it has for whoever wants one.
  void ofOutput(const CXXMemberCallExpr *Call) {
    const CXXMethodDecl *M = Call->getMethodDecl();
    if (!M || onDevice() || !isOwn(Call->getExprLoc()) ||
        !M->getDeclName().isIdentifier())
      return;
    StringRef Of = M->getParent()->getName(), Name = M->getName();
    if (!(Of == "ios_base" || Of == "basic_ios" || Of == "basic_ostream") ||
        Name == "write" || Name == "put" || Name == "flush")
      return;
    const Expr *Object = Call->getImplicitObjectArgument()->IgnoreParenCasts();
    const auto *Ref = dyn_cast<DeclRefExpr>(Object);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !V->hasLocalStorage() || V->getType()->isReferenceType() ||
        V->getType()->isPointerType())
      add(Call->getExprLoc(), ViolationKind::CallsFunction,
          ("std::" + Of + "::" + Name).str(), Name, Harm::State);
  }

  /// A variable of a header that can change keeps what is put there.
  void variableOfHeader(const NamedDecl *D, SourceLocation L,
                        const Expr *By = nullptr) {
    const auto *V = dyn_cast<VarDecl>(D);
    if (!V || onDevice() || !isOwn(L) || !V->hasGlobalStorage() ||
        V->isConstexpr() || isOwn(V->getLocation()) || Prints.count(By))
      return;
    QualType Type = V->getType().getNonReferenceType();
    if (!Context.getBaseElementType(Type).isConstQualified())
      add(L, ViolationKind::ForeignVariable, qualifiedName(V),
          qualifiedName(V));
  }

  std::set<const Expr *> Prints; ///< what is only printed to
};
} // namespace

std::vector<Finding> stark::outputFindings(const ContractText &Text) {
  return OutputReader(Text).run();
}
