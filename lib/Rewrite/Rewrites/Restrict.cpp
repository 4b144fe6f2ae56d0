//===- Restrict.cpp - Pointers that lie apart -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to pointer parameters of a kernel that the workload gives buffers
/// of their own:
///
///     k(float *x, float *y)
///       ->  k(const float *__restrict__ x, float *__restrict__ y)
///
/// Faster, because loads may be moved over stores and merged, and those of
/// constant data go through the read-only path.
///
/// Kept: everything, as long as the buffers do lie apart. Only the workload can
/// say so: each of its buffers is one of its own.
///
/// Refused without a workload, where a launch passes something else than the
/// entry's own parameters, and where the same buffer is passed twice.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind Volatile("'%0' points to volatile data");
static constexpr ReasonKind
    OddParameter("a parameter is not written as 'type *name'");

namespace {
struct Pointer {
  const ParmVarDecl *P;
  size_t Name;                 ///< where it is written
  std::optional<size_t> Const; ///< where const can be put
};

struct Plan {
  const Kernel *K;
  std::vector<Pointer> Pointers;
};
} // namespace

/// Every use of \p P indexes it to load, so that it may point to const.
static bool isOnlyRead(const Kernel &K, const Accesses &A,
                       const ParmVarDecl *P) {
  std::set<const Stmt *> Bases;
  for (const Access &Each : A.all())
    if (Each.Base == P && Each.Load && !Each.Store && !Each.Unclear)
      if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(Each.E))
        Bases.merge(nodesOf(Sub->getBase()));
  bool Only = true;
  forEachUse(K.body(), [&](const DeclRefExpr *Ref, const VarDecl *V) {
    Only &= V != P || Bases.count(Ref);
  });
  return Only;
}

static bool isStored(const Accesses &A, const ParmVarDecl *P) {
  return llvm::any_of(A.all(), [&](const Access &Each) {
    return Each.Store && (!Each.Root || Each.Root == P);
  });
}

/// Unset when the pointers lie apart, as far as something is stored.
static WhyNot whyNotApart(const Facts &F, const Kernel &K, const Accesses &A,
                          llvm::ArrayRef<const ParmVarDecl *> Pointers) {
  for (size_t I = 0; I < Pointers.size(); ++I)
    for (size_t J = I + 1; J < Pointers.size(); ++J)
      if (isStored(A, Pointers[I]) || isStored(A, Pointers[J]))
        if (WhyNot Why = F.whyNotApart(K, Pointers[I], Pointers[J]))
          return Why;
  return std::nullopt;
}

static std::optional<Pointer> placesOf(const Facts &F, const ParmVarDecl *P,
                                       bool Const) {
  std::optional<Range> R = F.range(P->getSourceRange());
  std::optional<size_t> Name = R ? F.nameOffset(P, *R) : std::nullopt;
  if (!Name || P->getName().empty() || P->getOriginalType()->isArrayType() ||
      F.text()[R->End - 1] == ']' || F.text()[R->End - 1] == ')')
    return std::nullopt;
  return Pointer{P, *Name, Const ? std::optional(R->Begin) : std::nullopt};
}

/// Unset when the kernel stores nothing.
static std::optional<OrReason<Plan>>
planFor(const Facts &F, const Kernel &K,
        llvm::ArrayRef<const ParmVarDecl *> Pointers) {
  if (K.Problem)
    return *K.Problem;
  Accesses A(F, K);
  WhyNot Why;
  for (const Access &Each : A.all())
    if (Each.Unclear || (!Each.Root && !Each.Shared))
      Why = Reason(why::AccessUnknown, F.lineOf(Each.E));
  bool Stores = false;
  for (const ParmVarDecl *P : Pointers) {
    Stores |= isStored(A, P);
    if (P->getType()->getPointeeType().isVolatileQualified())
      Why = Reason(Volatile, nameOf(P));
  }
  if (Why)
    return *Why;
  if (!Stores)
    return std::nullopt;
  if (WhyNot Overlap = whyNotApart(F, K, A, Pointers))
    return *Overlap;
  Plan Found{&K, {}};
  bool OneDeclaration = K.F->isFirstDecl() && K.F->getMostRecentDecl() == K.F &&
                        !K.LaunchedElsewhere;
  for (const ParmVarDecl *P : Pointers) {
    if (P->getType().isRestrictQualified())
      continue;
    bool Const = OneDeclaration &&
                 !P->getType()->getPointeeType().isConstQualified() &&
                 isOnlyRead(K, A, P);
    std::optional<Pointer> Places = placesOf(F, P, Const);
    if (!Places)
      return Reason(OddParameter);
    Found.Pointers.push_back(*Places);
  }
  return Found;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel &K : F.kernels()) {
    std::vector<const ParmVarDecl *> Pointers;
    for (const ParmVarDecl *P : K.F->parameters())
      if (P->getType()->isPointerType())
        Pointers.push_back(P);
    bool Any = llvm::any_of(Pointers, [](const ParmVarDecl *P) {
      return !P->getType().isRestrictQualified();
    });
    if (Pointers.size() < 2 || !Any)
      continue;
    std::optional<OrReason<Plan>> P = planFor(F, K, Pointers);
    if (P && *P)
      Out.fits(**P);
    else if (P)
      Out.refuse(*K.At, P->why());
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Names = quotedList(
      P.Pointers, [](const Pointer &Each) { return nameOf(Each.P); });
  return matchAt(*P.K->At, {P.K->name()}, 40,
                 "Declare the pointers __restrict__",
                 "The workload gives " + Names +
                     " buffers of their own. Say so with __restrict__ (and "
                     "const where a buffer is only read): loads may then move "
                     "over stores and use the read-only path.");
}

static OrReason<Changes> write(const Facts &, const Plan &P) {
  Changes Made;
  for (const Pointer &Each : P.Pointers) {
    Made.insert(Each.Name, "__restrict__ ");
    if (Each.Const)
      Made.insert(*Each.Const, "const ");
  }
  return Made;
}

STARK_REWRITE(Restrict, "restrict")
