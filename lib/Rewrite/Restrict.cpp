//===- Restrict.cpp - Pointers that lie apart -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to pointer parameters of a kernel that the workload gives buffers
/// of their own: `__restrict__`, and `const` for those that are only read.
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

#include "Accesses.h"
#include "Catalogue.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

namespace {
class Restrict : public Rewrite {
public:
  llvm::StringRef name() const override { return "restrict"; }
  llvm::StringRef summary() const override {
    return "tell the compiler that a kernel's pointers lie apart";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

/// Every use of \p P indexes it to load, so that it may point to const.
static bool isOnlyRead(const Kernel &K, const Accesses &A,
                       const ParmVarDecl *P) {
  std::set<const Stmt *> Bases;
  for (const Access &Each : A.all())
    if (Each.Base == P && Each.Load && !Each.Store && !Each.Unclear)
      if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(Each.E))
        forEach(Sub->getBase(), [&](const Stmt *N) { Bases.insert(N); });
  bool Only = true;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (Ref && Ref->getDecl() == P)
      Only &= Bases.count(N) != 0;
  });
  return Only;
}

void Restrict::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    std::vector<const ParmVarDecl *> Pointers;
    for (const ParmVarDecl *P : K.F->parameters())
      if (P->getType()->isPointerType())
        Pointers.push_back(P);
    bool Any = false;
    for (const ParmVarDecl *P : Pointers)
      Any |= !P->getType().isRestrictQualified();
    if (Pointers.size() < 2 || !Any)
      continue;
    if (!K.Problem.empty()) {
      Out.refuse(K.name(), K.At->Line, K.Problem);
      continue;
    }
    Accesses A(F, K);
    auto Stored = [&](const ParmVarDecl *P) {
      for (const Access &Each : A.all())
        if (Each.Store && (!Each.Root || Each.Root == P))
          return true;
      return false;
    };
    std::string Why;
    bool AnyStore = false;
    for (const Access &Each : A.all())
      if (Each.Unclear || (!Each.Root && !Each.Shared))
        Why = "what line " + std::to_string(F.lineOf(Each.E)) +
              " reads or writes is not known";
    for (const ParmVarDecl *P : Pointers) {
      AnyStore |= Stored(P);
      if (!P->getType()->getPointeeType().isVolatileQualified())
        continue;
      Why = "'" + P->getNameAsString() + "' points to volatile data";
    }
    if (Why.empty() && !AnyStore)
      continue;
    for (size_t I = 0; I < Pointers.size() && Why.empty(); ++I)
      for (size_t J = I + 1; J < Pointers.size() && Why.empty(); ++J)
        if (Stored(Pointers[I]) || Stored(Pointers[J]))
          Why = F.whyNotApart(K, Pointers[I], Pointers[J]);
    std::vector<Edit> Edits;
    std::string Names;
    bool OneDeclaration = K.F->isFirstDecl() &&
                          K.F->getMostRecentDecl() == K.F &&
                          K.LaunchedElsewhere.empty();
    for (const ParmVarDecl *P : Pointers) {
      if (P->getType().isRestrictQualified() || !Why.empty())
        continue;
      std::optional<Range> R = F.range(P->getSourceRange());
      const SourceManager &SM = F.context().getSourceManager();
      size_t Name = SM.getFileOffset(P->getLocation());
      if (!R || P->getName().empty() || !SM.isInMainFile(P->getLocation()) ||
          !R->contains(Range{Name, Name + P->getName().size()}) ||
          P->getOriginalType()->isArrayType() || F.text()[R->End - 1] == ']' ||
          F.text()[R->End - 1] == ')') {
        Why = "a parameter is not written as 'type *name'";
        continue;
      }
      Edits.push_back({{Name, Name}, "__restrict__ "});
      Names += (Names.empty() ? "`" : ", `") + P->getNameAsString() + "`";
      if (OneDeclaration &&
          !P->getType()->getPointeeType().isConstQualified() &&
          isOnlyRead(K, A, P))
        Edits.push_back({{R->Begin, R->Begin}, "const "});
    }
    if (!Why.empty()) {
      Out.refuse(K.name(), K.At->Line, Why);
      continue;
    }
    Match M;
    M.Site = K.name();
    M.Line = K.At->Line;
    M.Sites = {K.name()};
    M.Promise = 40;
    M.Title = "Declare the pointers __restrict__";
    M.Advice = "The workload gives " + Names +
               " buffers of their own. Say so with __restrict__ (and const "
               "where a buffer is only read): loads may then move over stores "
               "and use the read-only path.";
    Out.offer(std::move(M),
              [Edits]() -> llvm::Expected<std::vector<Edit>> { return Edits; });
  }
}

std::unique_ptr<const Rewrite> stark::makeRestrict() {
  return std::make_unique<Restrict>();
}
