//===- ReadOnly.cpp - Loads through the read-only path --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to loads through pointers to const of which the workload says that
/// nothing the kernel stores to overlaps them: `__ldg(&p[i])`.
///
/// Faster, because such loads may be moved and merged, and need not be repeated
/// after a store.
///
/// Kept: everything, as long as the buffers lie apart. Refused without a
/// workload that says so.
///
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

namespace {
class ReadOnly : public Rewrite {
public:
  llvm::StringRef name() const override { return "read-only"; }
  llvm::StringRef summary() const override {
    return "load constant data through the read-only path";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

static bool hasLoad(QualType T) {
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B || T.isVolatileQualified())
    return false;
  switch (B->getKind()) {
  case BuiltinType::Int:
  case BuiltinType::UInt:
  case BuiltinType::LongLong:
  case BuiltinType::ULongLong:
  case BuiltinType::Float:
  case BuiltinType::Double:
    return true;
  default:
    return false;
  }
}

void ReadOnly::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    Accesses A(F, K);
    for (const ParmVarDecl *P : K.F->parameters()) {
      if (!P->getType()->isPointerType() ||
          !P->getType()->getPointeeType().isConstQualified() ||
          P->getType().isRestrictQualified() ||
          !hasLoad(P->getType()->getPointeeType()))
        continue;
      std::vector<Edit> Edits;
      std::string Why;
      bool Stores = false;
      for (const Access &Each : A.all()) {
        if (Each.Unclear || (!Each.Root && !Each.Shared))
          Why = "what line " + std::to_string(F.lineOf(Each.E)) +
                " reads or writes is not known";
        if (Each.Store && !Each.Shared && Each.Root) {
          Stores = true;
          const auto *Q = llvm::dyn_cast<ParmVarDecl>(Each.Root);
          std::string No = !Q       ? "a store goes to a global variable"
                           : Q == P ? "it is stored to"
                                    : F.whyNotApart(K, P, Q);
          if (!No.empty())
            Why = No;
        }
        if (Each.Root != P || !Each.Load || !Each.Index ||
            Each.Whole != Each.E || !hasLoad(Each.E->getType()) ||
            !Each.E->getType().isConstQualified())
          continue;
        std::optional<Range> R = F.range(Each.E);
        if (R)
          Edits.push_back({*R, "__ldg(&" + F.text(*R) + ")"});
      }
      // A load in another's index would be changed twice.
      for (size_t I = 0; I < Edits.size() && Why.empty(); ++I)
        for (size_t J = I + 1; J < Edits.size(); ++J)
          if (Edits[I].Bytes.overlaps(Edits[J].Bytes))
            Why = "one of its loads gives the index of another";
      if (Edits.empty() || !Stores)
        continue;
      std::string Id = K.name();
      if (!Why.empty()) {
        Out.refuse(Id, K.At->Line, "'" + P->getNameAsString() + "': " + Why);
        continue;
      }
      Match M;
      M.Variant = P->getNameAsString();
      M.Site = Id;
      M.Line = K.At->Line;
      M.Sites = {K.name()};
      M.Promise = 25;
      M.Title = "Load " + P->getNameAsString() + " through the read-only path";
      M.Advice = "The workload gives '" + P->getNameAsString() +
                 "' a buffer of its own and the kernel never stores to it. "
                 "Load it with __ldg.";
      Out.offer(std::move(M), [Edits]() -> llvm::Expected<std::vector<Edit>> {
        return Edits;
      });
    }
  }
}

std::unique_ptr<const Rewrite> stark::makeReadOnly() {
  return std::make_unique<ReadOnly>();
}
