//===- LoopNest.cpp - A loop that holds another one -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"
#include "Accumulation.h"
#include "IterationBody.h"
#include "Linear.h"
#include "NestMemory.h"

using namespace stark;
using namespace clang;

/// Elements from which on two lie in different sectors of 32 bytes.
static constexpr uint64_t SectorElements = 8;

/// The loop that is all that \p S does.
static const ForStmt *onlyLoop(const Stmt *S) {
  while (S) {
    const auto *C = llvm::dyn_cast<CompoundStmt>(S);
    if (const auto *A = llvm::dyn_cast<AttributedStmt>(S))
      S = A->getSubStmt();
    else if (C && C->size() == 1)
      S = C->body_front();
    else
      break;
  }
  return llvm::dyn_cast_or_null<ForStmt>(S);
}

std::optional<LoopNest> stark::readLoopNest(const Facts &F, const Kernel &K,
                                            const ForStmt *S) {
  const ForStmt *Within = onlyLoop(S->getBody());
  if (!Within)
    return std::nullopt;
  std::optional<CountedLoop> Outer = readCountedLoop(F, K, S),
                             Inner = readCountedLoop(F, K, Within);
  if (!Outer || !Inner)
    return std::nullopt;
  return LoopNest{*Outer, *Inner};
}

bool stark::walksAcrossRows(const Facts &F, const Kernel &K, const Accesses &A,
                            const LoopNest &N) {
  Linear Indices(F, K);
  auto Along = [&](const Growth &G) {
    return G.Is == Growth::Linear && Indices.constantOf(G.Coefficient) == 1u;
  };
  auto Apart = [&](const Growth &G) {
    std::optional<uint64_t> C = Indices.constantOf(G.Coefficient);
    return G.Is == Growth::Linear && (!C || *C >= SectorElements);
  };
  int Better = 0;
  for (const Access *Each : A.in(N.Inner.S->getBody())) {
    std::optional<std::vector<LinearTerm>> Terms =
        Each->Shared ? std::nullopt : Indices.offsetOf(*Each);
    if (!Terms)
      continue;
    // Threads that lie side by side share sectors already.
    bool SideBySide = llvm::any_of(*Terms, [](const LinearTerm &T) {
      return T.Factors.size() == 1 &&
             isBuiltin(T.Factors.front(), "threadIdx", 'x');
    });
    Growth ByInner = Indices.growth(*Terms, N.Inner.I),
           ByOuter = Indices.growth(*Terms, N.Outer.I);
    if (SideBySide || ByInner.Is == Growth::Unclear ||
        ByOuter.Is == Growth::Unclear)
      continue;
    Better += Along(ByOuter) && Apart(ByInner);
    Better -= Along(ByInner) && Apart(ByOuter);
  }
  return Better > 0;
}

static WhyNot whyHeadersTied(const Kernel &K, const LoopNest &N) {
  for (const Expr *E : {N.Inner.Start, N.Inner.Bound, N.Inner.Step})
    if (E && mentions(E, N.Outer.I))
      return Reason(why::InnerDepends, nameOf(N.Outer.I));
  if (N.Outer.I->getName() == N.Inner.I->getName())
    return Reason(why::SameName);
  for (const CountedLoop *L : {&N.Outer, &N.Inner})
    for (const Expr *E : {L->Start, L->Bound, L->Step}) {
      if (E && readsMemory(E))
        return Reason(why::BoundFromMemory);
      if (E && !keepsVariablesOf(E, N.Outer.S, K.body(), *K.Parents))
        return Reason(why::BoundChanges);
    }
  return std::nullopt;
}

namespace {
/// What an iteration does, but for what it does to memory.
class NestBody : public IterationBody {
public:
  NestBody(const Facts &F, const LoopNest &N)
      : IterationBody(F.context()), F(F),
        Own(variablesDeclaredIn(N.Inner.S->getBody())) {}
  Accumulators Sums;

private:
  WhyNot changes(const Expr *Target, const BinaryOperator *By) override;
  WhyNot counts(const Expr *Target) override {
    return changes(Target, nullptr);
  }

  const Facts &F;
  const std::set<const VarDecl *> Own; ///< declared in the inner body
};
} // namespace

/// Variables that outlive an iteration may only be summed up in.
WhyNot NestBody::changes(const Expr *Target, const BinaryOperator *By) {
  const Expr *E = strip(Target);
  if (E->getType().isVolatileQualified())
    return Reason(why::StoresVolatile);
  while (true) {
    if (const auto *M = llvm::dyn_cast<MemberExpr>(E); M && !M->isArrow())
      E = strip(M->getBase());
    else if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(E))
      E = strip(Sub->getBase());
    else
      break;
  }
  bool Element = llvm::isa<ArraySubscriptExpr>(strip(Target));
  const VarDecl *V = variableOf(E);
  if (!V) {
    // *p, p->m, (p + 1)[i]: seen as accesses, or refused.
    if (!Element)
      return Reason(why::StoresToNoElement);
    return std::nullopt;
  }
  if (Own.count(V) || Element)
    return std::nullopt;
  return Sums.add(V, By, F.context());
}

OrReason<bool> stark::readInterchange(const Facts &F, const Kernel &K,
                                      const Accesses &A, const LoopNest &N) {
  if (WhyNot Why = whyHeadersTied(K, N))
    return *Why;
  NestBody Body(F, N);
  if (WhyNot Why = Body.whyNot(N.Inner.S->getBody()))
    return *Why;
  if (WhyNot Why = Body.Sums.whyRead(N.Outer.S, F.context()))
    return *Why;
  if (WhyNot Why = whyMemoryOrdered(F, K, A, N))
    return *Why;
  return !Body.Sums.empty();
}
