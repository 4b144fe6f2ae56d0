//===- Products.cpp - Whether a source adds up products -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Products.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace clang;

namespace {
class ProductFinder : public Walker {
public:
  explicit ProductFinder(const ParsedSource &Source)
      : Context(Source.unit().getASTContext()) {
    walk(Source);
  }
  bool Found = false;

  bool onStmt(Stmt *S) override {
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S))
      Found = Found || addsUp(S);
    else if (auto *Asm = dyn_cast<GCCAsmStmt>(S))
      Found = Found || Asm->getAsmString()->getString().contains("mma");
    else if (auto *Call = dyn_cast<CallExpr>(S))
      Found = Found || isTensorName(calledName(*Call));
    return !Found;
  }

private:
  bool addsUp(const Stmt *S) const;
  bool areFactors(const Expr *A, const Expr *B) const;
  bool holdsProduct(const Expr *E) const;
  static llvm::StringRef calledName(const CallExpr &Call);
  static bool isTensorName(llvm::StringRef Name);

  ASTContext &Context;
};
} // namespace

/// Empty for a call of what has no name of its own.
llvm::StringRef ProductFinder::calledName(const CallExpr &Call) {
  DeclarationName Name;
  const Expr *Callee = Call.getCallee()->IgnoreParenImpCasts();
  if (auto *Ref = dyn_cast<DeclRefExpr>(Callee))
    Name = Ref->getDecl()->getDeclName();
  else if (auto *Several = dyn_cast<OverloadExpr>(Callee))
    Name = Several->getName();
  return Name.isIdentifier() && !Name.isEmpty()
             ? Name.getAsIdentifierInfo()->getName()
             : "";
}

/// "mma_sync", "wgmma", and not "gammaf".
bool ProductFinder::isTensorName(llvm::StringRef Name) {
  llvm::SmallVector<llvm::StringRef> Words;
  Name.split(Words, '_');
  return llvm::any_of(Words, [](llvm::StringRef Word) {
    return Word == "mma" || Word == "wmma" || Word == "wgmma";
  });
}

/// Whether both may differ from call to call, and are not the same.
bool ProductFinder::areFactors(const Expr *A, const Expr *B) const {
  auto Identity = [&](const Expr *E) {
    llvm::FoldingSetNodeID Id;
    E->IgnoreParenImpCasts()->Profile(Id, Context, /*Canonical=*/true);
    return Id;
  };
  auto IsConstant = [&](const Expr *E) {
    return !E->isInstantiationDependent() && E->isEvaluatable(Context);
  };
  return !IsConstant(A) && !IsConstant(B) && !(Identity(A) == Identity(B));
}

/// The operands of \p E, when it is the operator \p Plain, or \p Overloaded.
static std::pair<const Expr *, const Expr *>
operandsOf(const Stmt *E, BinaryOperatorKind Plain,
           OverloadedOperatorKind Overloaded) {
  if (auto *Op = dyn_cast<BinaryOperator>(E); Op && Op->getOpcode() == Plain)
    return {Op->getLHS(), Op->getRHS()};
  if (auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
      Op && Op->getOperator() == Overloaded && Op->getNumArgs() == 2)
    return {Op->getArg(0), Op->getArg(1)};
  return {};
}

bool ProductFinder::holdsProduct(const Expr *E) const {
  E = E->IgnoreParenCasts();
  if (E->getType()->isIntegerType())
    return false;
  if (auto [A, B] = operandsOf(E, BO_Mul, OO_Star); A)
    return areFactors(A, B);
  for (auto [Plain, Overloaded] :
       {std::pair(BO_Add, OO_Plus), std::pair(BO_Sub, OO_Minus)})
    if (auto [A, B] = operandsOf(E, Plain, Overloaded); A)
      return holdsProduct(A) || holdsProduct(B);
  return false;
}

bool ProductFinder::addsUp(const Stmt *S) const {
  if (!S)
    return false;
  for (auto [Plain, Overloaded] : {std::pair(BO_AddAssign, OO_PlusEqual),
                                   std::pair(BO_SubAssign, OO_MinusEqual)})
    if (auto [To, What] = operandsOf(S, Plain, Overloaded);
        To && !To->getType()->isIntegerType() && holdsProduct(What))
      return true;
  // sum = sum + a * b
  if (auto [To, What] = operandsOf(S, BO_Assign, OO_Equal); To)
    if (auto [A, B] = operandsOf(What->IgnoreParenImpCasts(), BO_Add, OO_Plus);
        A && !areFactors(To, A) && holdsProduct(B))
      return true;
  if (auto *Call = dyn_cast<CallExpr>(S);
      Call && calledName(*Call).contains("fma") && Call->getNumArgs() >= 3 &&
      areFactors(Call->getArg(0), Call->getArg(1)))
    return true;
  return llvm::any_of(S->children(),
                      [&](const Stmt *Child) { return addsUp(Child); });
}

bool stark::addsUpProducts(const ParsedSource &Source) {
  return ProductFinder(Source).Found;
}
