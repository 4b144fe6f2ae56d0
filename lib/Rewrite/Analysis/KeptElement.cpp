//===- KeptElement.cpp - Elements that a loop changes again and again -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptElement.h"
#include "LoopElement.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    PerhapsNotStored("an element of '%0' is stored to under a condition, and "
                     "need not be the thread's (line %1)");
static constexpr ReasonKind Waits("it waits for other threads");

namespace {
class Finder {
public:
  Finder(const Facts &F, const Kernel &K, const Accesses &A,
         const CountedLoop &L)
      : F(F), K(K), A(A), L(L), Mine(A.in(L.S)) {}
  KeptElements run() const;

private:
  using Group = std::vector<const Access *>;
  std::vector<Group> groups() const;
  bool isSame(const Expr *X, const Expr *Y) const {
    return isSameTree(X, Y, F.context());
  }
  WhyNot whyTouched(const Group &G) const;
  bool isStored(const Group &G) const;
  void readBefore(const Group &G, KeptElement &E) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop &L;
  const std::vector<const Access *> Mine;
};
} // namespace

/// The accesses to each element that stays the same, where it is read and
/// stored to.
std::vector<Finder::Group> Finder::groups() const {
  std::vector<Group> Found;
  for (const Access *Each : Mine) {
    QualType T = Each->E->getType();
    if (!Each->Whole || Each->Whole != Each->E || !T->isArithmeticType() ||
        T.isVolatileQualified() || !isSameElement(K, L, *Each))
      continue;
    auto Known = llvm::find_if(
        Found, [&](const Group &G) { return isSame(G.front()->E, Each->E); });
    if (Known == Found.end())
      Found.push_back({Each});
    else
      Known->push_back(Each);
  }
  llvm::erase_if(Found, [](const Group &G) {
    return llvm::none_of(G, [](const Access *Each) { return Each->Store; }) ||
           llvm::none_of(G, [](const Access *Each) { return Each->Load; });
  });
  return Found;
}

WhyNot Finder::whyTouched(const Group &G) const {
  for (const Access *Other : Mine) {
    if (llvm::is_contained(G, Other))
      continue;
    Access Element = *G.front();
    Element.Load = Element.Store = true;
    if (!A.conflict(Element, *Other))
      continue;
    unsigned Line = F.lineOf(Other->E);
    if (Other->Unclear || !Other->Root)
      return Reason(why::LineWrites, Line);
    const auto *P = llvm::dyn_cast<ParmVarDecl>(Element.Root),
               *Q = llvm::dyn_cast<ParmVarDecl>(Other->Root);
    if (P && Q && P != Q)
      if (WhyNot Why = F.whyNotApart(K, P, Q))
        return Reason(why::LoadMayOverlap, *Why, Line, F.lineOf(Element.E));
    return Reason(why::OtherElement, nameOf(Element.Root), Line);
  }
  return std::nullopt;
}

/// The first iteration surely stores to it.
bool Finder::isStored(const Group &G) const {
  return llvm::any_of(G, [&](const Access *Each) {
    return Each->Store && madeIn(F, K, L, *Each) != Made::Perhaps;
  });
}

/// Looks at the statements before the loop for one that stores to the element.
void Finder::readBefore(const Group &G, KeptElement &E) const {
  const Stmt *At = L.S, *Up = K.parent(At);
  if (llvm::isa_and_nonnull<AttributedStmt>(Up)) {
    At = Up;
    Up = K.parent(Up);
  }
  const auto *Block = llvm::dyn_cast_or_null<CompoundStmt>(Up);
  if (!Block)
    return;
  bool Next = true;
  for (const Stmt *S : llvm::reverse(llvm::make_range(
           Block->body_begin(), llvm::find(Block->body(), At)))) {
    const auto *B = llvm::dyn_cast<BinaryOperator>(S);
    if (B && B->isAssignmentOp() && isSame(B->getLHS(), E.Element) &&
        keepsVariablesOf(E.Element, S, K.body(), *K.Parents)) {
      E.Owned = true;
      if (Next)
        E.Before = B;
      return;
    }
    // What is declared in between may not look at the element.
    if (!llvm::isa<DeclStmt>(S))
      Next = false;
    if (!llvm::isa<DeclStmt, Expr>(S) || meetsThreads(S) ||
        !keepsVariablesOf(E.Element, S, K.body(), *K.Parents))
      return;
    for (const Access *Each : A.in(S)) {
      if (Each->Unclear || !Each->Root)
        return;
      Access Element = *G.front();
      Element.Store = true;
      Next &= !A.conflict(Element, *Each);
    }
  }
}

KeptElements Finder::run() const {
  KeptElements Found;
  for (const Group &G : groups()) {
    KeptElement E;
    E.Element = G.front()->E;
    E.Root = G.front()->Root;
    for (const Access *Each : G)
      E.Uses.push_back(Each->E);
    readBefore(G, E);
    bool Returns = anyOf(
        L.S->getBody(), [](const Stmt *N) { return llvm::isa<ReturnStmt>(N); });
    if (meetsThreads(L.S))
      Found.Lacks = Reason(Waits);
    else if (Returns)
      Found.Lacks = Reason(why::ReturnsEarly);
    else if (WhyNot Why = whyTouched(G))
      Found.Lacks = Why;
    else if (!E.Owned && !isStored(G))
      Found.Lacks =
          Reason(PerhapsNotStored, nameOf(E.Root), F.lineOf(E.Element));
    else
      Found.All.push_back(std::move(E));
  }
  return Found;
}

KeptElements stark::findKeptElements(const Facts &F, const Kernel &K,
                                     const Accesses &A, const CountedLoop &L) {
  return Finder(F, K, A, L).run();
}

OrReason<KeptText> stark::keptText(const Facts &F, const Kernel &K,
                                   const CountedLoop &L, const KeptElement &E) {
  std::string Element = F.text(E.Element);
  if (Element.empty())
    return Reason(why::InMacro, "part of it");
  std::string Type = F.writtenType(E.Element->getType()), Condition;
  KeptText Text;
  Text.Name = F.freshName(nameOf(E.Root) + "_kept");
  Text.Load = Type + " " + Text.Name + " = " + Element + ";";
  if (!E.Owned && !surelyRuns(F, K, L)) {
    for (const Expr *Each : {L.Start, L.Bound})
      if (readsMemory(Each))
        return Reason(why::BoundFromMemory);
    OrReason<std::string> Runs = whetherItRuns(F, L);
    if (!Runs)
      return Runs.why();
    Condition = *Runs;
    Text.Load = Type + " " + Text.Name + " = " + Condition + " ? " + Element +
                " : " + Type + "{};";
  }
  std::optional<Range> Before = E.Before ? F.range(E.Before) : std::nullopt;
  std::optional<Range> Target =
      Before ? F.range(E.Before->getLHS()) : std::nullopt;
  if (Target && E.Before->getOpcode() == BO_Assign) {
    Text.Before.replace(*Target, Type + " " + Text.Name);
    Text.Load.clear();
  }
  Text.Store = Element + " = " + Text.Name + ";";
  if (!Condition.empty())
    Text.Store = "if (" + Condition + ")\n  " + Text.Store;
  return Text;
}
