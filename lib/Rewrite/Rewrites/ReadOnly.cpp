//===- ReadOnly.cpp - Loads through the read-only path --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to loads through pointers to const of which the workload says that
/// nothing the kernel stores to overlaps them:
///
///     y[i] = x[i] * 2;  ->  y[i] = __ldg(&x[i]) * 2;
///
/// Faster, because such loads may be moved and merged, and need not be repeated
/// after a store.
///
/// Kept: everything, as long as the buffers lie apart. Refused without a
/// workload that says so.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind StoresGlobal("a store goes to a global variable");
static constexpr ReasonKind IsStored("it is stored to");
static constexpr ReasonKind
    LoadInIndex("one of its loads gives the index of another");
static constexpr ReasonKind OfPointer("'%0': %1");

namespace {
struct Plan {
  const Kernel *K;
  const ParmVarDecl *Pointer;
  std::vector<Range> Loads;
};
} // namespace

/// Of the types that __ldg takes; loads of long are left as they are.
static bool hasLoad(QualType T) {
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B || T.isVolatileQualified())
    return false;
  BuiltinType::Kind Kind = B->getKind();
  bool Long = Kind == BuiltinType::Long || Kind == BuiltinType::ULong;
  return (isFullInteger(B) && !Long) || Kind == BuiltinType::Float ||
         Kind == BuiltinType::Double;
}

/// Why \p P may change while the kernel runs, by the store \p Each.
static WhyNot whyChanged(const Facts &F, const Kernel &K, const ParmVarDecl *P,
                         const Access &Each) {
  const auto *Q = llvm::dyn_cast<ParmVarDecl>(Each.Root);
  if (!Q)
    return Reason(StoresGlobal);
  if (Q == P)
    return Reason(IsStored);
  return F.whyNotApart(K, P, Q);
}

/// Unset when nothing is loaded or nothing is stored.
static std::optional<OrReason<Plan>> planFor(const Facts &F, const Kernel &K,
                                             const Accesses &A,
                                             const ParmVarDecl *P) {
  Plan Found{&K, P, {}};
  WhyNot Why;
  bool Stores = false;
  for (const Access &Each : A.all()) {
    if (Each.Unclear || (!Each.Root && !Each.Shared))
      Why = Reason(why::AccessUnknown, F.lineOf(Each.E));
    if (Each.Store && !Each.Shared && Each.Root) {
      Stores = true;
      if (WhyNot No = whyChanged(F, K, P, Each))
        Why = No;
    }
    std::optional<Range> R = F.range(Each.E);
    if (R && Each.Root == P && Each.Load && Each.Index &&
        Each.Whole == Each.E && hasLoad(Each.E->getType()) &&
        Each.E->getType().isConstQualified())
      Found.Loads.push_back(*R);
  }
  // A load in another's index would be changed twice.
  for (const Range &One : Found.Loads)
    for (const Range &Other : Found.Loads)
      if (!Why && &One < &Other && One.overlaps(Other))
        Why = Reason(LoadInIndex);
  if (Found.Loads.empty() || !Stores)
    return std::nullopt;
  if (Why)
    return Reason(OfPointer, nameOf(P), *Why);
  return Found;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ParmVarDecl *P : K->F->parameters()) {
      QualType T = P->getType();
      if (!T->isPointerType() || !T->getPointeeType().isConstQualified() ||
          T.isRestrictQualified() || !hasLoad(T->getPointeeType()))
        continue;
      std::optional<OrReason<Plan>> Found = planFor(F, *K, A, P);
      if (Found && *Found)
        Out.fits(**Found);
      else if (Found)
        Out.refuse(*K->At, Found->why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Name = nameOf(P.Pointer);
  Match M = matchAt(*P.K->At, {P.K->name()}, 25,
                    "Load " + Name + " through the read-only path",
                    "The workload gives '" + Name +
                        "' a buffer of its own and the kernel never stores to "
                        "it. Load it with __ldg.");
  M.Variant = Name;
  return M;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  Changes Made;
  for (Range Load : P.Loads)
    Made.replace(Load, "__ldg(&" + F.text(Load) + ")");
  return Made;
}

STARK_REWRITE(ReadOnly, "read-only")
