//===- ThreadLoop.cpp - Loops whose iterations the threads share ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadLoop.h"
#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

/// i += step, i = i + step, i = step + i.
static const Expr *stepOf(const Stmt *S, const VarDecl *I) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  if (!B || variableOf(B->getLHS()) != I)
    return nullptr;
  if (B->getOpcode() == BO_AddAssign)
    return B->getRHS();
  const auto *Sum = B->getOpcode() == BO_Assign
                        ? llvm::dyn_cast<BinaryOperator>(strip(B->getRHS()))
                        : nullptr;
  if (!Sum || Sum->getOpcode() != BO_Add)
    return nullptr;
  if (variableOf(Sum->getLHS()) == I)
    return Sum->getRHS();
  return variableOf(Sum->getRHS()) == I ? Sum->getLHS() : nullptr;
}

/// i < bound, bound > i.
static const Expr *boundOf(const Expr *E, const VarDecl *I) {
  const BinaryOperator *Cond = binary(E);
  if (Cond && Cond->getOpcode() == BO_LT && variableOf(Cond->getLHS()) == I)
    return Cond->getRHS();
  if (Cond && Cond->getOpcode() == BO_GT && variableOf(Cond->getRHS()) == I)
    return Cond->getLHS();
  return nullptr;
}

/// Nothing that is read from memory or from a variable of the whole program.
static bool isPlainBound(const Expr *Bound, const VarDecl *I,
                         const ASTContext &Context) {
  if (!Bound->getType()->isIntegerType() || !isPure(Bound, Context) ||
      mentions(Bound, I))
    return false;
  return !anyOf(Bound, [](const Stmt *N) {
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
      return U->getOpcode() == UO_Deref;
    const auto *E = llvm::dyn_cast<Expr>(N);
    const VarDecl *V = E ? variableOf(E) : nullptr;
    return llvm::isa<ArraySubscriptExpr>(N) ||
           (V && !V->hasLocalStorage() && !V->getType().isConstQualified());
  });
}

ThreadLoop::ThreadLoop(const IndexedLoop &L)
    : S(L.S), I(L.I), Start(L.Start), Bound(L.Bound), Step(L.Step),
      Cond(L.S->getCond()), Next(L.S->getInc()), Body(L.S->getBody()) {}

std::set<const VarDecl *> ThreadLoop::variables() const {
  std::set<const VarDecl *> Own = variablesDeclaredIn(S);
  Own.insert(I);
  return Own;
}

std::vector<const Stmt *> stark::threadLoopsOf(const Kernel &K) {
  std::vector<const Stmt *> Loops;
  forEach(K.body(), [&](const Stmt *N) {
    if (llvm::isa<ForStmt, WhileStmt>(N))
      Loops.push_back(N);
  });
  return Loops;
}

static std::optional<ThreadLoop> readFor(const Facts &F, const ForStmt *S) {
  std::optional<IndexedLoop> Index = readIndex(F, S);
  if (!Index || S->getConditionVariable())
    return std::nullopt;
  return ThreadLoop(*Index);
}

/// Every use of \p V in \p Whole stands in \p Part.
static bool isUsedOnlyIn(const VarDecl *V, const Stmt *Part,
                         const Stmt *Whole) {
  size_t Within = 0, All = 0;
  auto Count = [&](const Stmt *S, size_t &N) {
    forEachUse(
        S, [&](const DeclRefExpr *, const VarDecl *Used) { N += Used == V; });
  };
  Count(Part, Within);
  Count(Whole, All);
  return Within == All;
}

/// The block that \p S and the declaration of \p V alone both stand in, so that
/// the loop begins with what the declaration says each time.
static bool isDeclaredBeside(const VarDecl *V, const Stmt *S, const Kernel &K) {
  const Stmt *At = S, *Up = K.parent(S);
  if (llvm::isa_and_nonnull<AttributedStmt>(Up)) {
    At = Up;
    Up = K.parent(Up);
  }
  const auto *Block = llvm::dyn_cast_or_null<CompoundStmt>(Up);
  if (!Block)
    return false;
  auto Declared = llvm::find_if(
      Block->body(), [&](const Stmt *N) { return onlyVariable(N) == V; });
  return Declared != Block->body_end() &&
         std::find(Declared, Block->body_end(), At) != Block->body_end();
}

/// int i = start; while (i < bound) { ...; i += step; }
static std::optional<ThreadLoop> readWhile(const Facts &F, const Kernel &K,
                                           const WhileStmt *S) {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(S->getBody());
  const BinaryOperator *Cond = binary(S->getCond());
  if (!Body || Body->body_empty() || !Cond || S->getConditionVariable())
    return std::nullopt;
  ThreadLoop L;
  L.S = S;
  L.Body = Body;
  L.Cond = S->getCond();
  L.Next = Body->body_back();
  const auto *Next = llvm::dyn_cast<BinaryOperator>(L.Next);
  L.I = Next ? variableOf(Next->getLHS()) : nullptr;
  if (!L.I || !L.I->hasLocalStorage() || llvm::isa<ParmVarDecl>(L.I) ||
      !L.I->getInit() || !L.I->getType()->isIntegerType() ||
      L.I->getType().isVolatileQualified() ||
      F.context().getTypeSize(L.I->getType()) < 32)
    return std::nullopt;
  L.Start = L.I->getInit();
  // With continue the index would stay as it is.
  bool Continues =
      anyOf(Body, [](const Stmt *N) { return llvm::isa<ContinueStmt>(N); });
  if (Continues || !isDeclaredBeside(L.I, S, K) ||
      !isUsedOnlyIn(L.I, S, K.body()))
    return std::nullopt;
  return L;
}

std::optional<OrReason<ThreadLoop>>
stark::readThreadLoop(const Facts &F, const Kernel &K, const Stmt *S) {
  const auto *For = llvm::dyn_cast<ForStmt>(S);
  const auto *While = llvm::dyn_cast<WhileStmt>(S);
  std::optional<ThreadLoop> Read = For     ? readFor(F, For)
                                   : While ? readWhile(F, K, While)
                                           : std::nullopt;
  if (!Read)
    return std::nullopt;
  ThreadLoop L = *Read;
  L.Step = stepOf(L.Next, L.I);
  if (!L.Step)
    return std::nullopt;
  if (isThreadNumber(L.Start, K) && isBlockWidth(L.Step, F, K))
    L.Grid = false;
  else if (isGlobalThreadNumber(L.Start, F, K) && isGridWidth(L.Step, F, K))
    L.Grid = true;
  else
    return std::nullopt;
  L.Bound = boundOf(L.Cond, L.I);
  if (!L.Bound)
    return Reason(why::OddCondition);
  L.Bound = L.Bound->IgnoreImpCasts();
  if (!isPlainBound(L.Bound, L.I, F.context()))
    return Reason(why::BoundNotFixed);
  return L;
}

/// An integer that no index is too wide for, given once and for all where it is
/// declared.
static bool isNamedInteger(const Kernel &K, const VarDecl *V) {
  const auto *T = V->getType().getCanonicalType()->getAs<BuiltinType>();
  return V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
         T && isFullInteger(T) && K.keeps(V);
}

bool stark::isLoopIndex(const Kernel &K, const ThreadLoop &L, const Expr *E) {
  const VarDecl *V = variableOf(E);
  return V && (V == L.I ||
               (isNamedInteger(K, V) && variableOf(V->getInit()) == L.I));
}

const VarDecl *stark::namedIndex(const Kernel &K, const ThreadLoop &L,
                                 const Expr *E) {
  const VarDecl *V = variableOf(E);
  bool Declared =
      V && V != L.I && isNamedInteger(K, V) &&
      anyOf(L.Body, [&](const Stmt *N) { return onlyVariable(N) == V; });
  return Declared ? V : nullptr;
}

/// The terms of \p Index, those of a variable that the body declares in its
/// place.
static std::vector<const Expr *>
shiftTerms(const Kernel &K, const ThreadLoop &L, const Expr *Index) {
  std::vector<const Expr *> All;
  for (const Expr *Term : termsOf(Index)) {
    const VarDecl *V = namedIndex(K, L, Term);
    std::vector<const Expr *> Within = V && !isLoopIndex(K, L, Term)
                                           ? shiftTerms(K, L, V->getInit())
                                           : std::vector<const Expr *>{Term};
    llvm::append_range(All, Within);
  }
  return All;
}

bool stark::isShiftedIndex(const Facts &F, const Kernel &K, const ThreadLoop &L,
                           const Expr *Index) {
  std::set<const VarDecl *> Own = L.variables();
  unsigned Count = 0;
  bool Fixed = true;
  for (const Expr *Term : shiftTerms(K, L, Index)) {
    if (isLoopIndex(K, L, Term)) {
      ++Count;
      continue;
    }
    Fixed &= isPure(Term, F.context());
    forEachUse(Term, [&](const DeclRefExpr *, const VarDecl *V) {
      Fixed &= !Own.count(V) && isNeverWritten(V, L.S, *K.Parents);
    });
    Fixed &= !anyOf(Term, [](const Stmt *N) {
      const auto *U = llvm::dyn_cast<UnaryOperator>(N);
      return llvm::isa<ArraySubscriptExpr>(N) ||
             (U && U->getOpcode() == UO_Deref);
    });
  }
  return Count == 1 && Fixed;
}

bool stark::isSameShift(const Facts &F, const Kernel &K, const ThreadLoop &L,
                        const Expr *A, const Expr *B) {
  if (!isShiftedIndex(F, K, L, A) || !isShiftedIndex(F, K, L, B))
    return false;
  auto Shift = [&](const Expr *Index) {
    std::vector<const Expr *> Terms = shiftTerms(K, L, Index);
    llvm::erase_if(Terms, [&](const Expr *T) { return isLoopIndex(K, L, T); });
    return Terms;
  };
  std::vector<const Expr *> X = Shift(A), Y = Shift(B);
  return llvm::equal(X, Y, [&](const Expr *S, const Expr *T) {
    return isSameTree(S, T, F.context());
  });
}
