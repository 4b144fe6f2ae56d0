//===- LoopJamBody.cpp - Loops of which rounds may run side by side -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopJamBody.h"
#include "IterationBody.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OtherHeader("its bound is not 'index < number', or its step not 1");
static constexpr ReasonKind
    MixesSigns("it compares a number that may be below zero as one without a "
               "sign");
static constexpr ReasonKind
    LengthDiffers("how long its inner loop is depends on the round");
static constexpr ReasonKind
    OddBefore("line %0, before its inner loop, does more than give variables "
              "of the round a value");
static constexpr ReasonKind
    ChangesMore("its inner loop changes more than variables of the round");
static constexpr ReasonKind
    UsesChanged("its inner loop uses '%0', which a round may change");
static constexpr ReasonKind
    MayEnd("line %0 may end it, wait or work together with other threads");
static constexpr ReasonKind
    ReadsStored("line %0 stores to what its inner loop may read");
static constexpr ReasonKind
    NothingShared("its rounds load nothing in common in their inner loop");
static constexpr ReasonKind WithPragma("a pragma stands before line %0");
static constexpr ReasonKind TooManyOwn("a round has too many variables");

namespace {
/// Registers are what the variables of four rounds cost.
constexpr size_t MostOwn = 4;

/// The body of the inner loops: it changes what \p Own has, or declares.
class RoundBody : public IterationBody {
public:
  RoundBody(const ASTContext &Context, const std::set<const VarDecl *> &Own)
      : IterationBody(Context), Own(Own) {}

private:
  WhyNot changes(const Expr *Target, const BinaryOperator *By) override {
    return By ? counts(Target) : Reason(ChangesMore);
  }
  WhyNot counts(const Expr *Target) override {
    const VarDecl *V = variableOf(Target);
    if (V && Own.count(V))
      return std::nullopt;
    return Reason(ChangesMore);
  }
  const std::set<const VarDecl *> &Own;
};

class JamReader {
public:
  JamReader(const Facts &F, const Kernel &K, const Accesses &A,
            const ForStmt *S)
      : F(F), K(K), A(A), S(S) {}
  bool comesNear();
  OrReason<JammedLoop> read();

private:
  bool isFromZeroOn(const Expr *E) const;
  WhyNot readOuter();
  WhyNot readBefore(const Stmt *Line);
  WhyNot readInner();
  WhyNot whyOwn(const Stmt *Part) const;
  WhyNot readVariables() const;
  WhyNot readAfter() const;
  WhyNot readMemory() const;
  bool isOwn(const VarDecl *V) const { return llvm::is_contained(P.Own, V); }
  bool usesRound(const Stmt *N) const;
  bool differs(const Stmt *N, unsigned Depth = 0) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const ForStmt *S;
  JammedLoop P;
  std::vector<const Stmt *> Lines; ///< before the inner loop
};
} // namespace

static const ForStmt *forOf(const Stmt *N) {
  if (const auto *With = llvm::dyn_cast_or_null<AttributedStmt>(N))
    N = With->getSubStmt();
  return llvm::dyn_cast_or_null<ForStmt>(N);
}

/// One inner loop that goes through memory, in the body itself.
bool JamReader::comesNear() {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(S->getBody());
  P.At = F.siteAt(SiteKind::Loop, S);
  if (!Body || !P.At)
    return false;
  for (const Stmt *Each : Body->body()) {
    const ForStmt *Inner = forOf(Each);
    if (Inner && P.Inner.empty() && !A.in(Inner).empty())
      P.Inner.push_back(Inner);
    else
      (P.Inner.empty() ? Lines : P.After).push_back(Each);
  }
  if (P.Inner.empty())
    return false;
  while (const ForStmt *Next = forOf(onlyStatement(P.Inner.back()->getBody())))
    P.Inner.push_back(Next);
  // It adds up, or else it is no loop of this kind.
  return anyOf(P.Inner.back()->getBody(), [](const Stmt *N) {
    const auto *B = llvm::dyn_cast<BinaryOperator>(N);
    return B && B->isAssignmentOp() && variableOf(B->getLHS());
  });
}

/// A constant of zero and more.
bool JamReader::isFromZeroOn(const Expr *E) const {
  std::optional<uint64_t> Number = F.constantOf(E, K);
  return Number && *Number <= INT32_MAX;
}

WhyNot JamReader::readOuter() {
  std::optional<CountedLoop> L = readCountedLoop(F, K, S);
  if (!L || L->Compare != BO_LT ||
      (L->Step && F.constantOf(L->Step, K) != 1u) || readsMemory(L->Start) ||
      readsMemory(L->Bound))
    return Reason(OtherHeader);
  // Which rounds are left is computed with a sign.
  const BinaryOperator *Cond = binary(S->getCond());
  if (L->I->getType()->isSignedIntegerType() && Cond &&
      Cond->getLHS()->getType()->isUnsignedIntegerType() &&
      !isFromZeroOn(L->Start))
    return Reason(MixesSigns);
  P.Outer = *L;
  return std::nullopt;
}

/// A number or a pointer of the thread's own.
static bool isPlain(const VarDecl *V) {
  return V && V->hasLocalStorage() && V->getType()->isScalarType() &&
         !V->getType().isVolatileQualified();
}

/// T v = e;   v = e;
WhyNot JamReader::readBefore(const Stmt *Line) {
  const Reason Odd(OddBefore, F.lineOf(Line));
  if (const auto *D = llvm::dyn_cast<DeclStmt>(Line)) {
    for (const Decl *Each : D->decls()) {
      const auto *V = llvm::dyn_cast<VarDecl>(Each);
      if (!isPlain(V) || (V->getInit() && !isPure(V->getInit(), F.context())))
        return Odd;
      P.Own.push_back(V);
    }
    P.Before.push_back(Line);
    return std::nullopt;
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(Line);
  const VarDecl *V =
      B && B->getOpcode() == BO_Assign ? variableOf(B->getLHS()) : nullptr;
  if (!isPlain(V) || llvm::isa<ParmVarDecl>(V) || mentions(B->getRHS(), V) ||
      !isPure(B->getRHS(), F.context()))
    return Odd;
  P.Before.push_back(Line);
  if (isOwn(V))
    return std::nullopt;
  // Declared before the loop, and used nowhere else.
  size_t Within = 0, All = 0;
  forEachUse(S,
             [&](const DeclRefExpr *, const VarDecl *U) { Within += U == V; });
  forEachUse(K.body(),
             [&](const DeclRefExpr *, const VarDecl *U) { All += U == V; });
  bool Earlier = llvm::any_of(P.Before, [&](const Stmt *Other) {
    return Other != Line && mentions(Other, V);
  });
  if (Within != All || Earlier || V->getType().isConstQualified())
    return Odd;
  P.Own.push_back(V);
  P.Outside.push_back(V);
  return std::nullopt;
}

/// Whether \p N names the round, or what each round has for itself.
bool JamReader::usesRound(const Stmt *N) const {
  bool Uses = false;
  forEachUse(N, [&](const DeclRefExpr *, const VarDecl *V) {
    Uses |= V == P.Outer.I || isOwn(V);
  });
  return Uses;
}

/// Whether \p N may be another thing in another round; a variable of the round
/// that only holds what is the same in all is none.
bool JamReader::differs(const Stmt *N, unsigned Depth) const {
  bool Differs = false;
  forEachUse(N, [&](const DeclRefExpr *, const VarDecl *V) {
    if (V == P.Outer.I)
      Differs = true;
    else if (isOwn(V))
      Differs |= !V->getInit() || !K.keeps(V) || Depth == MostSteps ||
                 differs(V->getInit(), Depth + 1);
  });
  return Differs;
}

WhyNot JamReader::readInner() {
  for (const ForStmt *Each : P.Inner) {
    std::optional<CountedLoop> L = readCountedLoop(F, K, Each);
    if (!L)
      return Reason(OtherHeader);
    for (const Expr *E : {L->Start, L->Bound, L->Step})
      if (E && (readsMemory(E) || usesRound(E)))
        return Reason(LengthDiffers);
  }
  const Stmt *Body = P.Inner.back()->getBody();
  if (anyOf(Body, [](const Stmt *N) {
        return llvm::isa<ContinueStmt, BreakStmt>(N) || isBlockBarrier(N) ||
               isWarpOperation(N);
      }))
    return Reason(MayEnd, F.lineOf(Body));
  std::set<const VarDecl *> Own = variablesDeclaredIn(Body);
  Own.insert(P.Own.begin(), P.Own.end());
  return RoundBody(F.context(), Own).whyNot(Body);
}

/// &v, &v.m and &v[i] of a variable of the thread's own, and v as a pointer.
static bool pointsToOwn(const Stmt *N, const Kernel &K) {
  const auto *U = llvm::dyn_cast<UnaryOperator>(N);
  const auto *Cast = llvm::dyn_cast<ImplicitCastExpr>(N);
  const Expr *Of = nullptr;
  if (U && U->getOpcode() == UO_AddrOf)
    Of = U->getSubExpr();
  else if (Cast && Cast->getCastKind() == CK_ArrayToPointerDecay &&
           !llvm::isa_and_nonnull<ArraySubscriptExpr>(K.parent(N)))
    Of = Cast->getSubExpr();
  while (Of) {
    Of = Of->IgnoreParenImpCasts();
    const auto *Member = llvm::dyn_cast<MemberExpr>(Of);
    const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(Of);
    if (Member && !Member->isArrow())
      Of = Member->getBase();
    else if (Sub &&
             Sub->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
      Of = Sub->getBase();
    else
      break;
  }
  const VarDecl *V = Of ? variableOf(Of) : nullptr;
  return V && V->hasLocalStorage();
}

/// Why \p Part may read a variable of the thread's own by way of a pointer: a
/// round may change it by its name.
WhyNot JamReader::whyOwn(const Stmt *Part) const {
  std::map<const Stmt *, const Access *> Seen;
  for (const Access *Each : A.in(Part))
    Seen[Each->E] = Each;
  bool Taken =
      anyOf(K.body(), [&](const Stmt *N) { return pointsToOwn(N, K); });
  WhyNot Why;
  forEach(Part, [&](const Stmt *N) {
    const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N);
    const auto *U = llvm::dyn_cast<UnaryOperator>(N);
    const Expr *Pointer = Sub ? Sub->getBase() : nullptr;
    if (U && U->getOpcode() == UO_Deref)
      Pointer = U->getSubExpr();
    // readVariables() looks at arrays that are named.
    if (!Pointer || !Taken ||
        Pointer->IgnoreParenImpCasts()->getType()->isArrayType())
      return;
    auto At = Seen.find(N);
    if (At == Seen.end() || !At->second->Root)
      Why = Reason(UsesChanged, F.text(Pointer));
  });
  return Why;
}

/// What is used beside the round's own stays as it is while the loop runs.
WhyNot JamReader::readVariables() const {
  std::set<const VarDecl *> Within = variablesDeclaredIn(P.Inner.front());
  for (const ForStmt *Each : P.Inner)
    Within.insert(indexOf(Each).V);
  std::vector<const Stmt *> Parts = P.Before;
  Parts.push_back(P.Inner.front());
  WhyNot Why;
  for (const Stmt *Part : Parts)
    forEachUse(Part, [&](const DeclRefExpr *, const VarDecl *V) {
      if (V == P.Outer.I || isOwn(V) || Within.count(V) ||
          !V->hasLocalStorage())
        return;
      // An array's elements may change though it does not.
      bool Array =
          V->getType()->isArrayType() && !V->getType().isConstQualified() &&
          !F.context().getBaseElementType(V->getType()).isConstQualified();
      if (Array || !isUnchangedIn(V, S, K.body(), *K.Parents))
        Why = Reason(UsesChanged, nameOf(V));
    });
  for (const Stmt *Part : Parts)
    if (WhyNot Own = whyOwn(Part))
      return Own;
  return Why;
}

WhyNot JamReader::readAfter() const {
  WhyNot Why;
  for (const Stmt *Line : P.After)
    if (llvm::isa<AttributedStmt>(Line))
      return Reason(WithPragma, F.lineOf(Line));
  for (const Stmt *Line : P.After)
    forEach(Line, [&](const Stmt *N) {
      if (llvm::isa<ReturnStmt, BreakStmt, ContinueStmt, LambdaExpr,
                    SwitchStmt>(N) ||
          isBlockBarrier(N) || isWarpOperation(N))
        Why = Reason(MayEnd, F.lineOf(N));
      // Nobody else gets hold of what a round has for itself.
      const auto *U = llvm::dyn_cast<UnaryOperator>(N);
      if (U && U->getOpcode() == UO_AddrOf && usesRound(U) &&
          variableOf(U->getSubExpr()))
        Why = Reason(MayEnd, F.lineOf(N));
    });
  return Why;
}

WhyNot JamReader::readMemory() const {
  bool Shares = false, Varies = false;
  std::vector<const Access *> Mine = A.in(P.Inner.front());
  for (const Access *Each : Mine)
    (differs(Each->E) ? Varies : Shares) = true;
  if (!Shares || !Varies)
    return Reason(NothingShared);
  for (const Stmt *Line : P.Before)
    llvm::append_range(Mine, A.in(Line));
  for (const Access *Each : Mine) {
    if (Each->Store || Each->Unclear ||
        Each->E->getType().isVolatileQualified())
      return Reason(why::AccessUnknown, F.lineOf(Each->E));
    for (const Stmt *Line : P.After)
      for (const Access *Other : A.in(Line))
        if (A.conflict(*Each, *Other))
          return Reason(ReadsStored, F.lineOf(Line));
  }
  return std::nullopt;
}

OrReason<JammedLoop> JamReader::read() {
  if (WhyNot Why = readOuter())
    return *Why;
  for (const Stmt *Line : Lines)
    if (WhyNot Why = readBefore(Line))
      return *Why;
  if (P.Own.empty() || P.Own.size() > MostOwn)
    return Reason(P.Own.empty() ? ChangesMore : TooManyOwn);
  if (WhyNot Why = readInner())
    return *Why;
  for (auto Check : {&JamReader::readVariables, &JamReader::readAfter,
                     &JamReader::readMemory})
    if (WhyNot Why = (this->*Check)())
      return *Why;
  return P;
}

std::optional<OrReason<JammedLoop>> stark::readJammedLoop(const Facts &F,
                                                          const Kernel &K,
                                                          const Accesses &A,
                                                          const ForStmt *S) {
  JamReader Reader(F, K, A, S);
  if (!Reader.comesNear())
    return std::nullopt;
  return Reader.read();
}
