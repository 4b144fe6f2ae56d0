//===- ElementKernel.cpp - Kernels of one element a thread ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementKernel.h"
#include "Accesses.h"
#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

static bool builtinIndexIn(const Stmt *S) {
  return anyOf(S, [](const Stmt *N) { return builtinNode(N).has_value(); });
}

/// \p E is the same number in each thread, and stands for it wherever \p S
/// begins: made of constants, of parameters, and of variables that hold such.
static bool isFixed(const Expr *E, const Kernel &K, const ElementKernel &S,
                    unsigned Depth = 0) {
  bool Fixed = Depth <= MostSteps && E->getType()->isIntegerType() &&
               isPure(E, K.F->getASTContext()) && !readsMemory(E) &&
               !builtinIndexIn(E);
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *V) {
    if (!V->hasLocalStorage())
      return;
    bool Earlier = !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
                   V->getLocation() < S.I->getLocation() &&
                   isFixed(V->getInit(), K, S, Depth + 1);
    Fixed &= K.keeps(V) && (llvm::isa<ParmVarDecl>(V) || Earlier);
  });
  return Fixed;
}

/// if (i < n) ..., if (i >= n) return;
static WhyNot readGuard(const Kernel &K, ElementKernel &S) {
  if (S.Guard->getElse() || S.Guard->getInit() ||
      S.Guard->getConditionVariable())
    return Reason(why::OddGuard);
  const BinaryOperator *Cond = binary(S.Guard->getCond());
  S.Returns =
      llvm::isa_and_nonnull<ReturnStmt>(onlyStatement(S.Guard->getThen()));
  BinaryOperatorKind Wanted = S.Returns ? BO_GE : BO_LT;
  if (!Cond || Cond->getOpcode() != Wanted || variableOf(Cond->getLHS()) != S.I)
    return Reason(why::OddGuardBound);
  // Of a variable "int n = rows * columns;" what it holds.
  S.Bound = resolve(Cond->getRHS(), K.body(), *K.Parents);
  bool Same = K.F->getASTContext().hasSameUnqualifiedType(
      S.Bound->getType(), strip(Cond->getRHS())->getType());
  if (!Same || !isFixed(S.Bound, K, S))
    return Reason(why::BoundNoParameter);
  return std::nullopt;
}

/// Why a node of what a thread does for its element has to do with others.
static WhyNot whyNotAlone(const Stmt *N) {
  if (llvm::isa<ReturnStmt>(N))
    return Reason(why::ReturnsEarly);
  if (isBlockBarrier(N) || isWarpOperation(N))
    return Reason(why::WorksTogether);
  if (std::optional<BuiltinIndex> B = builtinNode(N))
    return Reason(why::UsesMore, B->Name);
  if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
    for (const Decl *Each : D->decls())
      if (const auto *V = llvm::dyn_cast<VarDecl>(Each);
          V && !V->hasLocalStorage())
        return Reason(why::DeclaresShared);
  return std::nullopt;
}

/// Elements become ordered that were not: nothing may tell. A function or a
/// pointer that is not understood could.
static WhyNot whyNotUnordered(const Facts &F, const Kernel &K) {
  Accesses A(F, K);
  for (const Access &Each : A.all()) {
    if (Each.Shared)
      return Reason(why::UsesShared);
    const auto *C = llvm::dyn_cast<CallExpr>(Each.E);
    llvm::StringRef Name = calleeOf(C);
    if (C && !Name.starts_with("atomic"))
      return Reason(why::CallSeesThread, Name.empty() ? "a function" : Name);
  }
  return std::nullopt;
}

/// The declaration of the thread's element, the guard, and what stands between
/// them and after; false when \p Body does not begin so.
static bool readHead(const Facts &F, const Kernel &K, const CompoundStmt *Body,
                     ElementKernel &S) {
  std::set<const VarDecl *> Threads;
  for (auto At = Body->body_begin(); At != Body->body_end(); ++At) {
    S.Guard = llvm::dyn_cast<IfStmt>(*At);
    if (S.Guard) {
      S.Rest.assign(At + 1, Body->body_end());
      break;
    }
    if (!llvm::isa<DeclStmt>(*At))
      return false;
    const VarDecl *V = onlyVariable(*At);
    if (!S.I && V && V->getInit() && isGlobalThreadNumber(V->getInit(), F, K)) {
      S.I = V;
      S.Declared = llvm::cast<DeclStmt>(*At);
    } else if (S.I) {
      S.Between.push_back(*At);
    } else {
      bool Tells = builtinIndexIn(*At) ||
                   llvm::any_of(Threads, [&](const VarDecl *Each) {
                     return mentions(*At, Each);
                   });
      for (const VarDecl *Each : variablesDeclaredIn(*At)) {
        if (!K.keeps(Each))
          return false; // it would go from element to element
        if (Tells)
          Threads.insert(Each);
      }
    }
  }
  if (!S.I || !S.Guard)
    return false;
  // What is declared before may tell threads apart.
  std::vector<const Stmt *> Parts = S.Between;
  Parts.insert(Parts.end(), S.Rest.begin(), S.Rest.end());
  Parts.push_back(S.Guard);
  return llvm::none_of(Parts, [&](const Stmt *Part) {
    return llvm::any_of(Threads,
                        [&](const VarDecl *V) { return mentions(Part, V); });
  });
}

std::optional<OrReason<ElementKernel>>
stark::readElementKernel(const Facts &F, const Kernel &K) {
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  ElementKernel S;
  if (!Body || !readHead(F, K, Body, S))
    return std::nullopt;
  if (!S.I->getType()->isIntegerType() ||
      F.context().getTypeSize(S.I->getType()) < 32)
    return Reason(why::OddIndex);
  if (!K.keeps(S.I))
    return Reason(why::IndexChanges);
  if (WhyNot Why = readGuard(K, S))
    return *Why;
  if (!S.Returns && !S.Rest.empty())
    return Reason(why::DoesMoreAfter);
  if (!S.Returns)
    S.Rest.push_back(S.Guard->getThen());
  if (S.Rest.empty())
    return std::nullopt;
  WhyNot Why;
  auto Look = [&](const Stmt *N) {
    if (WhyNot Other = whyNotAlone(N))
      Why = Other;
  };
  for (const Stmt *Part : S.Between)
    for (const Decl *D : llvm::cast<DeclStmt>(Part)->decls())
      if (const auto *V = llvm::dyn_cast<VarDecl>(D);
          !V || (V->getInit() && !isPure(V->getInit(), F.context())))
        return Reason(why::OddDeclaration);
  for (const Stmt *Part : S.Between)
    forEach(Part, Look);
  for (const Stmt *Part : S.Rest)
    forEach(Part, Look);
  if (!Why)
    Why = whyNotUnordered(F, K);
  if (Why)
    return *Why;
  return S;
}
