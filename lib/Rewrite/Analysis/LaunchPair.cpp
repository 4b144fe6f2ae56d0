//===- LaunchPair.cpp - Two launches that follow each other ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchPair.h"
#include "Accesses.h"
#include "stark/AST/CalledName.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

/// The same tree, and the same value at both places.
static bool isSame(const Facts &F, const Expr *A, const Expr *B,
                   const Launch &L) {
  if (!A || !B)
    return A == B;
  if (!isPure(A, F.context()) || !isPure(B, F.context()))
    return false;
  if (isSameTree(A, B, F.context()))
    return true;
  std::optional<uint64_t> X = F.constantOf(A, L), Y = F.constantOf(B, L);
  return X && Y && *X == *Y;
}

/// Of a grid or block: dim3 is built of its numbers, or a variable.
static bool isSameSize(const Facts &F, const Expr *A, const Expr *B,
                       const Launch &L, const Launch &M) {
  std::array<const Expr *, 3> X = F.dimensions(A, L), Y = F.dimensions(B, M);
  if (!X[0] || !Y[0])
    return isSame(F, A, B, L);
  for (unsigned I = 0; I < 3; ++I) {
    bool One = (!X[I] && F.constantOf(Y[I], L) == 1u) ||
               (!Y[I] && F.constantOf(X[I], L) == 1u);
    if (!One && !isSame(F, X[I], Y[I], L))
      return false;
  }
  return true;
}

bool stark::isNothing(const Facts &F, const Expr *E, const Launch &L) {
  return !E || F.constantOf(E, L) == 0u ||
         E->isNullPointerConstant(const_cast<ASTContext &>(F.context()),
                                  Expr::NPC_ValueDependentIsNotNull);
}

WhyNot stark::whyNotOneLaunch(const Facts &F, const LaunchPair &Pair) {
  const Launch &A = *Pair[0].L, &B = *Pair[1].L;
  if (!isSameSize(F, A.Grid, B.Grid, A, B))
    return Reason(why::GridsDiffer);
  if (!isSameSize(F, A.Block, B.Block, A, B))
    return Reason(why::BlocksDiffer);
  if (!isNothing(F, A.Shared, A) || !isNothing(F, B.Shared, B))
    return Reason(why::WithShared);
  if (!isSame(F, A.Stream, B.Stream, A) &&
      !(isNothing(F, A.Stream, A) && isNothing(F, B.Stream, B)))
    return Reason(why::StreamsDiffer);
  // In two dimensions several threads have the same number.
  for (const Expr *Size : {A.Block, A.Grid}) {
    std::array<const Expr *, 3> D = F.dimensions(Size, A);
    bool Flat = D[0] != nullptr;
    for (unsigned I = 1; I < 3; ++I)
      Flat &= !D[I] || F.constantOf(D[I], A) == 1u;
    if (!Flat)
      return Reason(why::NotFlat);
  }
  return std::nullopt;
}

namespace {
/// What the two kernels do to memory, as the host sees it.
class PairMemory {
public:
  PairMemory(const Facts &F, const LaunchPair &Pair)
      : F(F), Pair(Pair), Host(F.hostOf(Pair[0].L->Host)) {}
  WhyNot whyMeet() const;

private:
  const VarDecl *given(const LaunchSide &S, const Access &A) const;
  bool isFresh(const VarDecl *V) const;
  bool isBuffer(const VarDecl *V) const;
  WhyNot whyNotApart(const VarDecl *P, const VarDecl *Q) const;
  WhyNot whyNotOwn(const LaunchSide &S, const Access &A) const;
  WhyNot whyNotNear(const Access &A, const Access &B) const;

  const Facts &F;
  const LaunchPair &Pair;
  const HostFunction *Host;
};
} // namespace

/// The host's variable that is behind the pointer of \p A, or the global array.
const VarDecl *PairMemory::given(const LaunchSide &S, const Access &A) const {
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(A.Root);
  return P ? variableOf(S.argumentOf(P)) : A.Root;
}

/// Memory that this very function allocated: it lies apart from all else.
bool PairMemory::isFresh(const VarDecl *V) const {
  if (!V || !Host || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V))
    return false;
  bool Allocated = false, Clean = true;
  const ParentMap &Parents = *Host->Parents;
  forEachUse(Host->F->getBody(), [&](const DeclRefExpr *Ref,
                                     const VarDecl *Used) {
    if (Used != V)
      return;
    const Stmt *Up = Parents.getParent(Ref);
    const Stmt *Use =
        Up ? Parents.getParentIgnoreParenCasts(const_cast<Stmt *>(Up))
           : nullptr;
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    if (Cast && Cast->getCastKind() == CK_LValueToRValue) {
      // Read, but not to make another pointer to it.
      Clean &= llvm::isa_and_nonnull<CallExpr>(Use) &&
               (llvm::isa<CUDAKernelCallExpr>(Use) ||
                calleeOf(Use).starts_with("cuda"));
      return;
    }
    const auto *Address = llvm::dyn_cast_or_null<UnaryOperator>(Up);
    bool Here =
        Address && Address->getOpcode() == UO_AddrOf &&
        (calleeOf(Use) == "cudaMalloc" || calleeOf(Use) == "cudaMallocAsync");
    Allocated |= Here;
    Clean &= Here;
  });
  return Allocated && Clean;
}

/// The workload gives \p V a buffer of its own, and the host keeps it.
bool PairMemory::isBuffer(const VarDecl *V) const {
  return llvm::isa<ParmVarDecl>(V) && Host->keeps(V) &&
         llvm::any_of(F.In.Given->Load.Arguments, [&](const Argument &A) {
           return A.IsBuffer && A.Name == V->getName();
         });
}

WhyNot PairMemory::whyNotApart(const VarDecl *P, const VarDecl *Q) const {
  if (!P || !Q) {
    if (P)
      return Reason(why::UnknownOverlap, nameOf(P));
    return Q ? Reason(why::SomethingOverlaps, nameOf(Q))
             : Reason(why::AllUnknown);
  }
  // No kernel writes to constant memory.
  if (P->hasAttr<CUDAConstantAttr>() || Q->hasAttr<CUDAConstantAttr>() ||
      (P->getType()->isArrayType() && Q->getType()->isArrayType()))
    return std::nullopt;
  if (P != Q && (isFresh(P) || isFresh(Q)))
    return std::nullopt;
  const Task *Given = F.In.Given;
  if (!Given)
    return Reason(why::OnlyWorkload, nameOf(P), nameOf(Q));
  if (!Host || Given->Load.Launch || calledName(Host->F) != Given->Entry.Name ||
      !isBuffer(P) || !isBuffer(Q))
    return Reason(why::NotBuffers, nameOf(P), nameOf(Q));
  return std::nullopt;
}

/// \p A of one side is the thread's own element of a buffer.
WhyNot PairMemory::whyNotOwn(const LaunchSide &S, const Access &A) const {
  unsigned Line = F.lineOf(A.E);
  if (A.Base != A.Root || !llvm::isa_and_nonnull<ParmVarDecl>(A.Root))
    return Reason(why::NotOwnElement, Line);
  if ((A.Index ? variableOf(A.Index) : nullptr) != S.Shape.I)
    return Reason(why::OtherElements, Line);
  if (A.Whole != A.E)
    return Reason(why::ReadOnlyLoad, Line);
  return std::nullopt;
}

/// Both touch memory of one buffer, and one writes.
WhyNot PairMemory::whyNotNear(const Access &A, const Access &B) const {
  if (WhyNot Why = whyNotOwn(Pair[0], A))
    return Why;
  if (WhyNot Why = whyNotOwn(Pair[1], B))
    return Why;
  if (!F.context().hasSameUnqualifiedType(A.E->getType(), B.E->getType()))
    return Reason(why::TypesDiffer);
  return std::nullopt;
}

WhyNot PairMemory::whyMeet() const {
  Accesses A(F, *Pair[0].K), B(F, *Pair[1].K);
  WhyNot MayOverlap;
  for (const Access &X : A.all())
    for (const Access &Y : B.all()) {
      if (!X.Store && !Y.Store)
        continue;
      if (X.Unclear || Y.Unclear || !X.Root || !Y.Root)
        return Reason(why::AccessUnknown,
                      F.lineOf(X.Unclear || !X.Root ? X.E : Y.E));
      const VarDecl *P = given(Pair[0], X), *Q = given(Pair[1], Y);
      // A pointer that the host changes in between it could only by an
      // argument, and those are pure.
      if (P && P == Q) {
        if (WhyNot Why = whyNotNear(X, Y))
          return Why;
      } else if (!MayOverlap) {
        MayOverlap = whyNotApart(P, Q);
      }
    }
  return MayOverlap;
}

WhyNot stark::whyThreadsMeet(const Facts &F, const LaunchPair &Pair) {
  return PairMemory(F, Pair).whyMeet();
}
