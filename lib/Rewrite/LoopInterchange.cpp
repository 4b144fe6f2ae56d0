//===- LoopInterchange.cpp - Walk along the rows --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop that holds nothing but another one, where the inner loop
/// steps from row to row of what a thread touches, and the outer one along the
/// row: the loops change places.
///
///     for (int j = 0; j < cols; ++j)         for (int r = 0; r < 8; ++r)
///       for (int r = 0; r < 8; ++r)     ->     for (int j = 0; j < cols; ++j)
///         y[(at + r) * cols + j] = ...           y[(at + r) * cols + j] = ...
///
/// Faster, because a thread then uses all of a sector of 32 bytes before it
/// turns to the next, rather than have it fetched again for each element.
/// Threads of a warp that lie side by side already share sectors, so accesses
/// that grow by one with threadIdx.x do not count.
///
/// Kept: each pair of indices is gone through once. What one iteration stores
/// no other one touches, or only those that follow it in the same loop, whose
/// order stays. Sums in a variable are added in another order, which the advice
/// says. Refused where the inner bounds depend on the outer index, where an
/// iteration may use what another one stored, where an element's index is not
/// seen to differ from iteration to iteration, and where a loop can end early,
/// waits for other threads or calls something.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "CountedLoop.h"
#include "Linear.h"
#include "ThreadLoop.h"
#include "stark/Support/Error.h"

using namespace stark;
using namespace clang;

namespace {
class LoopInterchange : public Rewrite {
public:
  llvm::StringRef name() const override { return "loop-interchange"; }
  llvm::StringRef summary() const override {
    return "let a thread walk along the rows";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};

class Nest {
public:
  Nest(const Facts &F, const Kernel &K, const Accesses &A, CountedLoop Outer,
       CountedLoop Inner);
  /// Whether walking the other way would be along rows.
  bool pays() const;
  std::string whyNot();
  bool reorders() const { return !Sums.empty(); }
  llvm::Expected<std::vector<Edit>> write() const;

private:
  std::string headers() const;
  std::string statements(const Stmt *S, bool InInner);
  std::string changes(const Expr *Target, const BinaryOperator *Whole);
  std::string sums() const;
  std::string memory() const;
  std::string elements(const Access &Store) const;
  std::string localArrays() const;
  std::string pointers(const std::vector<const Access *> &All) const;
  bool isPositive(const std::vector<const Expr *> &Factors) const;
  /// \p Rows are so long that no two indices of \p Along meet the same element.
  bool isRow(const std::vector<const Expr *> &Rows,
             const CountedLoop &Along) const;
  bool isClear(const std::vector<LinearTerm> &Terms) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop Outer, Inner;
  const Linear Indices;
  std::set<const VarDecl *> Own; ///< declared in the inner body
  std::map<const VarDecl *, std::string> Sums;
};
} // namespace

Nest::Nest(const Facts &F, const Kernel &K, const Accesses &A,
           CountedLoop Outer, CountedLoop Inner)
    : F(F), K(K), A(A), Outer(Outer), Inner(Inner), Indices(F, K) {
  forEach(Inner.S->getBody(), [&](const Stmt *N) {
    if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
      for (const Decl *Each : D->decls())
        if (const auto *V = llvm::dyn_cast<VarDecl>(Each))
          Own.insert(V);
  });
}

bool Nest::pays() const {
  int Better = 0;
  for (const Access *Each : A.in(Inner.S->getBody())) {
    std::optional<std::vector<LinearTerm>> Terms =
        Each->Shared ? std::nullopt : Indices.offsetOf(*Each);
    if (!Terms)
      continue;
    bool SideBySide = false;
    for (const LinearTerm &T : *Terms)
      SideBySide |= T.Factors.size() == 1 &&
                    isBuiltin(T.Factors.front(), "threadIdx", 'x');
    Growth ByInner = Indices.growth(*Terms, Inner.I),
           ByOuter = Indices.growth(*Terms, Outer.I);
    if (SideBySide || ByInner.Is == Growth::Unclear ||
        ByOuter.Is == Growth::Unclear)
      continue;
    auto Along = [&](const Growth &G) {
      return G.Is == Growth::Linear &&
             Indices.constantOf(G.Coefficient) == std::optional<uint64_t>(1);
    };
    auto Apart = [&](const Growth &G) {
      std::optional<uint64_t> C = Indices.constantOf(G.Coefficient);
      return G.Is == Growth::Linear && (!C || *C >= 8);
    };
    Better += Along(ByOuter) && Apart(ByInner);
    Better -= Along(ByInner) && Apart(ByOuter);
  }
  return Better > 0;
}

std::string Nest::headers() const {
  const VarDecl *I = Outer.I;
  for (const Expr *E : {Inner.Start, Inner.Bound, Inner.Step})
    if (E && mentions(E, I))
      return "the inner loop's bounds depend on '" + I->getNameAsString() + "'";
  if (Outer.I->getName() == Inner.I->getName())
    return "both indices have the same name";
  for (const CountedLoop *L : {&Outer, &Inner})
    for (const Expr *E : {L->Start, L->Bound, L->Step}) {
      if (!E)
        continue;
      if (readsMemory(E))
        return "a bound is read from memory";
      bool Same = true;
      forEach(E, [&](const Stmt *N) {
        const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
        const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
        if (V && V->hasLocalStorage())
          Same &= isUnchangedIn(V, Outer.S, K.body(), *K.Parents);
      });
      if (!Same)
        return "a bound changes within the loops";
    }
  return "";
}

/// What an iteration does, but for what it does to memory.
std::string Nest::statements(const Stmt *S, bool InInner) {
  if (!S)
    return "";
  if (std::string Why = whyNotPlain(S, InInner); !Why.empty())
    return Why;
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(S);
      B && B->isAssignmentOp()) {
    if (std::string Why = changes(B->getLHS(), B); !Why.empty())
      return Why;
    return statements(B->getRHS(), InInner);
  }
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(S);
      U && U->isIncrementDecrementOp())
    return changes(U->getSubExpr(), nullptr);
  if (const auto *O = llvm::dyn_cast<CXXOperatorCallExpr>(S);
      O && O->getOperator() == OO_Equal && O->getNumArgs() == 2) {
    if (std::string Why = changes(O->getArg(0), nullptr); !Why.empty())
      return Why;
    return statements(O->getArg(1), InInner);
  }
  if (llvm::isa<CallExpr, CXXConstructExpr, PseudoObjectExpr>(S)) {
    std::string Met;
    return isPure(S, F.context(), &Met) ? "" : "its body has " + Met;
  }
  if (const auto *E = llvm::dyn_cast<Expr>(S); E && isPure(E, F.context()))
    return "";
  bool Loop = InInner || llvm::isa<ForStmt, WhileStmt, DoStmt>(S);
  for (const Stmt *Child : S->children())
    if (std::string Why = statements(Child, Loop); !Why.empty())
      return Why;
  return "";
}

/// Variables that outlive an iteration may only be summed up in.
std::string Nest::changes(const Expr *Target, const BinaryOperator *Whole) {
  const Expr *E = strip(Target);
  if (E->getType().isVolatileQualified())
    return "it stores to volatile memory";
  while (true) {
    if (const auto *M = llvm::dyn_cast<MemberExpr>(E); M && !M->isArrow())
      E = strip(M->getBase());
    else if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(E))
      E = strip(Sub->getBase());
    else
      break;
  }
  const VarDecl *V = variableOf(E);
  if (!V) {
    // *p, p->m, (p + 1)[i]: seen as accesses, or refused.
    return llvm::isa<ArraySubscriptExpr>(strip(Target))
               ? ""
               : "it stores to something other than an element of an array";
  }
  if (Own.count(V) || llvm::isa<ArraySubscriptExpr>(strip(Target)))
    return "";
  std::optional<Accumulation> Sum =
      Whole ? readAccumulation(Whole, F.context()) : std::nullopt;
  if (!Sum || !V->hasLocalStorage())
    return "'" + V->getNameAsString() +
           "' outlives an iteration and is no plain sum, product, minimum or "
           "maximum";
  auto [At, New] = Sums.emplace(V, Sum->Operation);
  if (!New && At->second != Sum->Operation)
    return "'" + V->getNameAsString() + "' is accumulated in two ways";
  return "";
}

/// A sum is read nowhere in the loops but where it grows.
std::string Nest::sums() const {
  for (const auto &[V, Operation] : Sums) {
    unsigned Count = 0, Expected = 0;
    auto CountIn = [V = V](const Stmt *S, unsigned &Into) {
      forEach(S, [&](const Stmt *N) {
        const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
        Into += Ref && Ref->getDecl() == V;
      });
    };
    CountIn(Outer.S, Count);
    forEach(Outer.S, [&, V = V](const Stmt *N) {
      std::optional<Accumulation> Sum = readAccumulation(N, F.context());
      if (Sum && Sum->Into == V)
        CountIn(N, Expected);
    });
    if (Count != Expected)
      return "'" + V->getNameAsString() + "' is read while it grows";
  }
  return "";
}

bool Nest::isPositive(const std::vector<const Expr *> &Factors) const {
  if (std::optional<uint64_t> C = Indices.constantOf(Factors))
    return *C > 0;
  // Within its loop, a bound is larger than where the loop began.
  for (const CountedLoop *L : {&Outer, &Inner})
    if (L->Compare == BO_LT && F.constantOf(L->Start, K) &&
        Indices.isThe(Factors, L->Bound))
      return true;
  return false;
}

bool Nest::isRow(const std::vector<const Expr *> &Rows,
                 const CountedLoop &Along) const {
  if (Along.Compare != BO_LT || !F.constantOf(Along.Start, K))
    return false;
  std::optional<uint64_t> Length = Indices.constantOf(Rows),
                          Bound = F.constantOf(Along.Bound, K);
  if (Length && Bound)
    return *Bound <= *Length;
  return Indices.isThe(Rows, Along.Bound);
}

/// Nothing in \p Terms but the indices changes within the loops.
bool Nest::isClear(const std::vector<LinearTerm> &Terms) const {
  bool Clear = true;
  for (const LinearTerm &T : Terms)
    for (const Expr *Factor : T.Factors) {
      Clear &= !readsMemory(Factor) && isPure(Factor, F.context());
      forEach(Factor, [&](const Stmt *N) {
        const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
        const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
        if (!V || V == Outer.I || V == Inner.I || !V->hasLocalStorage())
          return;
        Clear &=
            !Own.count(V) && isUnchangedIn(V, Outer.S, K.body(), *K.Parents);
      });
    }
  return Clear;
}

/// Iterations that store to the same element differ in one index alone.
std::string Nest::elements(const Access &Store) const {
  std::string Name = "'" + Store.Root->getNameAsString() + "'";
  std::optional<std::vector<LinearTerm>> Terms = Indices.offsetOf(Store);
  std::string Unknown = "which elements of " + Name +
                        " the iterations store to is not seen (line " +
                        std::to_string(F.lineOf(Store.E)) + ")";
  if (!Terms || !isClear(*Terms))
    return Unknown;
  Growth I = Indices.growth(*Terms, Outer.I),
         J = Indices.growth(*Terms, Inner.I);
  if (I.Is == Growth::Unclear || J.Is == Growth::Unclear)
    return Unknown;
  if (I.Is == Growth::None && J.Is == Growth::None)
    return "all iterations store to the same element of " + Name;
  if (I.Is == Growth::None || J.Is == Growth::None)
    return isPositive(I.Is == Growth::None ? J.Coefficient : I.Coefficient)
               ? ""
               : Unknown;
  auto IsOne = [&](const Growth &G) {
    return !G.Negative &&
           Indices.constantOf(G.Coefficient) == std::optional<uint64_t>(1);
  };
  if ((IsOne(I) && isRow(J.Coefficient, Outer)) ||
      (IsOne(J) && isRow(I.Coefficient, Inner)))
    return "";
  return "rows of " + Name +
         " may be shorter than what the loop walks along "
         "them";
}

/// Memory that Accesses does not list, but for elements of local arrays by
/// their own name: a thread's own, by a pointer.
std::string Nest::pointers(const std::vector<const Access *> &All) const {
  std::string Why;
  forEach(Inner.S->getBody(), [&](const Stmt *N) {
    const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N);
    const auto *U = llvm::dyn_cast<UnaryOperator>(N);
    const auto *M = llvm::dyn_cast<MemberExpr>(N);
    bool Through = (Sub && !Sub->getType()->isArrayType()) ||
                   (U && U->getOpcode() == UO_Deref) ||
                   (M && M->isArrow() && !builtinIndex(M));
    if (!Through ||
        llvm::any_of(All, [&](const Access *Each) { return Each->E == N; }))
      return;
    const Expr *Base = Sub;
    while (const auto *Row = llvm::dyn_cast_or_null<ArraySubscriptExpr>(Base))
      Base = strip(Row->getBase());
    const VarDecl *V = Base ? variableOf(Base) : nullptr;
    if (!V || !V->hasLocalStorage() || !V->getType()->isArrayType())
      Why = "what line " + std::to_string(F.lineOf(N)) +
            " reads or writes is not known";
  });
  return Why;
}

std::string Nest::memory() const {
  std::vector<const Access *> All = A.in(Outer.S);
  if (std::string Why = pointers(All); !Why.empty())
    return Why;
  for (const Access *Store : All) {
    if (Store->Unclear)
      return "what line " + std::to_string(F.lineOf(Store->E)) +
             " reads or writes is not known";
    if (!Store->Store)
      continue;
    if (!Store->Root || !Store->Index || Store->Root->getType()->isArrayType())
      return "it stores to something other than an element of a parameter";
    if (std::string Why = elements(*Store); !Why.empty())
      return Why;
    for (const Access *Other : All) {
      if (Other == Store || !A.conflict(*Store, *Other))
        continue;
      if (Other->Root == Store->Root && Other->Base == Store->Base &&
          Other->Index && !F.text(Store->Index).empty() &&
          F.text(Other->Index) == F.text(Store->Index))
        continue;
      std::string Lines = " (lines " + std::to_string(F.lineOf(Store->E)) +
                          " and " + std::to_string(F.lineOf(Other->E)) + ")";
      const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(Store->Root),
                 *Q = llvm::dyn_cast_or_null<ParmVarDecl>(Other->Root);
      if (P && Q && P != Q)
        return F.whyNotApart(K, P, Q) + Lines;
      return "an iteration may use what another one stores" + Lines;
    }
  }
  return localArrays();
}

/// Accesses has no arrays of a thread's own.
std::string Nest::localArrays() const {
  std::map<const VarDecl *, std::set<std::string>> Texts;
  std::map<const VarDecl *, const ArraySubscriptExpr *> First;
  std::string Why;
  forEach(Inner.S->getBody(), [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !V->hasLocalStorage() || Own.count(V) || !Why.empty() ||
        !(V->getType()->isArrayType() || V->getType()->isRecordType()))
      return;
    if (isNeverWritten(V, K.body(), *K.Parents) && V->getType()->isRecordType())
      return;
    // The whole subscript: v[a][b].
    const ArraySubscriptExpr *Whole = nullptr;
    for (const Stmt *Up = Ref;
         (Up = K.Parents->getParent(const_cast<Stmt *>(Up)));) {
      if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(Up))
        Whole = Sub;
      else if (!llvm::isa<ImplicitCastExpr, ParenExpr>(Up))
        break;
      if (Whole && !Whole->getType()->isArrayType())
        break;
    }
    if (!Whole || !V->getType()->isArrayType() || F.text(Whole).empty() ||
        Whole->getType()->isArrayType()) {
      Why = "'" + V->getNameAsString() + "' outlives an iteration";
      return;
    }
    Texts[V].insert(F.text(Whole));
    First[V] = Whole;
  });
  for (const auto &[V, Each] : Texts) {
    if (!Why.empty())
      break;
    std::string Name = "'" + V->getNameAsString() + "'";
    if (Each.size() > 1) {
      Why = "elements of " + Name + " outlive an iteration";
      break;
    }
    // With one index in each of them, no element is met twice by two.
    bool Clear = true;
    unsigned ByOuter = 0, ByInner = 0;
    for (const Expr *At = First[V];;) {
      const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(At);
      if (!Sub)
        break;
      std::optional<std::vector<LinearTerm>> Terms =
          Indices.expand(Sub->getIdx());
      Clear &= Terms && isClear(*Terms);
      if (!Clear)
        break;
      Growth I = Indices.growth(*Terms, Outer.I),
             J = Indices.growth(*Terms, Inner.I);
      for (const Growth *G : {&I, &J})
        Clear &= G->Is == Growth::None ||
                 (G->Is == Growth::Linear && isPositive(G->Coefficient));
      Clear &= I.Is == Growth::None || J.Is == Growth::None;
      ByOuter += I.Is == Growth::Linear;
      ByInner += J.Is == Growth::Linear;
      At = Sub->getBase()->IgnoreParenImpCasts();
    }
    if (!Clear || ByOuter + ByInner == 0)
      Why = "which elements of " + Name + " the iterations use is not seen";
  }
  return Why;
}

std::string Nest::whyNot() {
  if (std::string Why = headers(); !Why.empty())
    return Why;
  if (std::string Why = statements(Inner.S->getBody(), false); !Why.empty())
    return Why;
  if (std::string Why = sums(); !Why.empty())
    return Why;
  if (std::string Why = memory(); !Why.empty())
    return Why;
  return "";
}

llvm::Expected<std::vector<Edit>> Nest::write() const {
  std::optional<Range> Headers[2];
  const CountedLoop *Loops[2] = {&Outer, &Inner};
  for (unsigned I = 0; I < 2; ++I) {
    Headers[I] = F.range(
        SourceRange(Loops[I]->S->getLParenLoc(), Loops[I]->S->getRParenLoc()));
    if (!Headers[I])
      return failed("a loop stands in a macro");
  }
  return std::vector<Edit>{{*Headers[0], F.text(*Headers[1])},
                           {*Headers[1], F.text(*Headers[0])}};
}

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

void LoopInterchange::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    Accesses A(F, K);
    forEach(K.body(), [&](const Stmt *N) {
      const auto *S = llvm::dyn_cast<ForStmt>(N);
      const ForStmt *Within = S ? onlyLoop(S->getBody()) : nullptr;
      const Site *At = Within ? F.siteAt(SiteKind::Loop, S) : nullptr;
      if (!At)
        return;
      std::optional<CountedLoop> Outer = readCountedLoop(F, K, S),
                                 Inner = readCountedLoop(F, K, Within);
      if (!Outer || !Inner)
        return;
      Nest Both(F, K, A, *Outer, *Inner);
      if (!Both.pays())
        return;
      if (std::string Why = Both.whyNot(); !Why.empty()) {
        Out.refuse(At->Id, At->Line, Why);
        return;
      }
      Match M;
      M.Site = At->Id;
      M.Line = At->Line;
      M.Sites = {At->Id};
      M.Alone = true;
      M.Promise = 70;
      M.Title = "Walk along the rows in the inner loop";
      M.Advice =
          "The loop over '" + Inner->I->getNameAsString() + "' in that over '" +
          Outer->I->getNameAsString() +
          "' steps from row to row, so that a thread uses one element of each "
          "sector before it goes on. The loops may change places: then it "
          "walks along a row.";
      if (Both.reorders())
        M.Advice += " What they sum up is added in another order.";
      llvm::Expected<std::vector<Edit>> Edits = Both.write();
      if (!Edits) {
        Out.refuse(At->Id, At->Line, llvm::toString(Edits.takeError()));
        return;
      }
      Out.offer(std::move(M), std::move(*Edits));
    });
  }
}

std::unique_ptr<const Rewrite> stark::makeLoopInterchange() {
  return std::make_unique<LoopInterchange>();
}
