//===- SingleStore.cpp - Kernels whose threads store one element each -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleStore.h"

using namespace stark;
using namespace clang;

/// Local variables that keep what a pure expression gives them.
static bool isPlainDeclaration(const DeclStmt *D, const Facts &F,
                               const Kernel &K) {
  return llvm::all_of(D->decls(), [&](const Decl *Each) {
    const auto *V = llvm::dyn_cast<VarDecl>(Each);
    return V && V->hasLocalStorage() && V->getInit() && K.keeps(V) &&
           !V->getType()->isReferenceType() && !V->getType()->isArrayType() &&
           isPure(V->getInit(), F.context());
  });
}

/// What \p Each is; false when it is anything else, or comes after the store.
static bool read(const Stmt *Each, const Facts &F, const Kernel &K,
                 SingleStore &S) {
  if (S.Store)
    return false;
  if (const auto *Block = llvm::dyn_cast<CompoundStmt>(Each))
    return llvm::all_of(Block->body(),
                        [&](const Stmt *One) { return read(One, F, K, S); });
  if (const auto *D = llvm::dyn_cast<DeclStmt>(Each)) {
    S.Declared.push_back(D);
    return isPlainDeclaration(D, F, K);
  }
  if (const auto *If = llvm::dyn_cast<IfStmt>(Each)) {
    if (If->getElse() || If->getInit() || If->getConditionVariable() ||
        !isPure(If->getCond(), F.context()) || readsMemory(If->getCond()))
      return false;
    bool Returns =
        llvm::isa_and_nonnull<ReturnStmt>(onlyStatement(If->getThen()));
    S.Guards.push_back({If->getCond(), Returns});
    // What comes after a guarded part would be guarded, too.
    return Returns || (read(If->getThen(), F, K, S) && S.Store);
  }
  S.Store = llvm::dyn_cast<BinaryOperator>(Each);
  return S.Store && S.Store->getOpcode() == BO_Assign &&
         llvm::isa<ArraySubscriptExpr>(strip(S.Store->getLHS())) &&
         isPure(S.Store->getRHS(), F.context());
}

std::optional<SingleStore> stark::readSingleStore(const Facts &F,
                                                  const Kernel &K) {
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  SingleStore S;
  if (!Body || !read(Body, F, K, S) || !S.Store)
    return std::nullopt;
  return S;
}
