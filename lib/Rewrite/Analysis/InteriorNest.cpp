//===- InteriorNest.cpp - Loops that test each neighbour ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InteriorNest.h"
#include "CodeTemplate.h"
#include "LoopElement.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind Waits("it waits for other threads");
static constexpr ReasonKind DeclaresStatic("it declares what outlives it");

namespace {
/// Finds what is the same at the ends of the loops of one nest.
class NestReader {
public:
  NestReader(const Facts &F, const Kernel &K, const ForStmt *Outer);
  InteriorNest Found;
  void read();

private:
  enum class End { Least, Most };
  static End other(End Which) {
    return Which == End::Least ? End::Most : End::Least;
  }

  bool isFixed(const Expr *E) const;
  std::optional<std::string> at(const Expr *E, End Which,
                                unsigned Depth = 0) const;
  std::optional<std::string> ofVariable(const VarDecl *V, End Which,
                                        unsigned Depth) const;
  bool addTests(const Expr *Cond, bool Holds, std::vector<std::string> &Tests,
                bool &Varies) const;
  bool addTest(const BinaryOperator *B, bool Holds,
               std::vector<std::string> &Tests, bool &Varies) const;
  bool isOfPlace(const Expr *E) const;
  void take(std::vector<std::string> Tests, std::vector<Substitute> Instead);
  void readIf(const IfStmt *If);
  void readConditional(const ConditionalOperator *C);
  void readClamp(const CallExpr *Call);

  const Facts &F;
  const Kernel &K;
  const ForStmt *Outer;
  const std::set<const VarDecl *> Own; ///< declared in the nest
  std::map<const VarDecl *, CountedLoop> Loops;
};

/// Of min(max(e, lo), hi) and the like.
struct Clamp {
  const Expr *E = nullptr, *Low = nullptr, *High = nullptr;
};
} // namespace

static bool isSigned(const Expr *E) {
  return E->getType()->isSignedIntegerType();
}

NestReader::NestReader(const Facts &F, const Kernel &K, const ForStmt *Outer)
    : F(F), K(K), Outer(Outer), Own(variablesDeclaredIn(Outer)) {
  forEach(Outer, [&](const Stmt *N) {
    const auto *Loop = llvm::dyn_cast<ForStmt>(N);
    std::optional<CountedLoop> L =
        Loop ? readCountedLoop(F, K, Loop) : std::nullopt;
    if (!L || L->Down || !L->I->getType()->isSignedIntegerType() ||
        (L->Compare != BO_LT && L->Compare != BO_LE) || Loops.count(L->I))
      return;
    std::optional<uint64_t> Step =
        L->Step ? F.constantOf(L->Step, K) : std::optional<uint64_t>(1);
    if (Step && *Step && isFixed(L->Start) && isFixed(L->Bound))
      Loops.emplace(L->I, *L);
  });
}

/// A signed number that is the same before the nest and all through it.
bool NestReader::isFixed(const Expr *E) const {
  if (!isSigned(E) || !isPure(E, F.context()) || readsMemory(E) ||
      F.text(E).empty())
    return false;
  bool Fixed = keepsVariablesOf(E, Outer, K.body(), *K.Parents);
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *V) {
    Fixed &= !Own.count(V) &&
             (V->hasLocalStorage() || V->getType().isConstQualified());
  });
  return Fixed;
}

std::optional<std::string> NestReader::ofVariable(const VarDecl *V, End Which,
                                                  unsigned Depth) const {
  if (auto Known = Loops.find(V); Known != Loops.end()) {
    const CountedLoop &L = Known->second;
    if (Which == End::Least)
      return asOperand(F.text(L.Start));
    std::string Bound = asOperand(F.text(L.Bound));
    return L.Compare == BO_LE ? Bound : "(" + Bound + " - 1)";
  }
  if (!Own.count(V) || !V->getInit() || !K.keeps(V) ||
      !V->getType()->isSignedIntegerType())
    return std::nullopt;
  return at(V->getInit(), Which, Depth + 1);
}

/// The least or the most that \p E can be in the nest, or something beyond it,
/// in terms of what stands before the nest.
std::optional<std::string> NestReader::at(const Expr *E, End Which,
                                          unsigned Depth) const {
  if (!isSigned(E) || Depth > 2 * MostSteps)
    return std::nullopt;
  if (isFixed(E))
    return asOperand(F.text(E));
  const Expr *Inner = E->IgnoreParens();
  // Wider at most: nothing is cut off.
  if (const auto *C = llvm::dyn_cast<CastExpr>(Inner)) {
    if (F.context().getTypeSize(C->getType()) <
        F.context().getTypeSize(C->getSubExpr()->getType()))
      return std::nullopt;
    return at(C->getSubExpr(), Which, Depth + 1);
  }
  if (const VarDecl *V = variableOf(Inner))
    return ofVariable(V, Which, Depth);
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(Inner);
      U && U->getOpcode() == UO_Minus) {
    std::optional<std::string> Of =
        at(U->getSubExpr(), other(Which), Depth + 1);
    return Of ? std::optional("(-" + *Of + ")") : std::nullopt;
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(Inner);
  if (!B)
    return std::nullopt;
  const Expr *L = B->getLHS(), *R = B->getRHS();
  BinaryOperatorKind Kind = B->getOpcode();
  // Times something that is not negative.
  if (Kind == BO_Mul && F.constantOf(L, K))
    std::swap(L, R);
  bool Sum = Kind == BO_Add || Kind == BO_Sub;
  if (!Sum && !(Kind == BO_Mul && F.constantOf(R, K)))
    return std::nullopt;
  std::optional<std::string> Left = at(L, Which, Depth + 1),
                             Right =
                                 at(R, Kind == BO_Sub ? other(Which) : Which,
                                    Depth + 1);
  if (!Left || !Right)
    return std::nullopt;
  return "(" + *Left + " " + BinaryOperator::getOpcodeStr(Kind).str() + " " +
         *Right + ")";
}

/// a < b always, where the most that a is lies below the least that b is.
bool NestReader::addTest(const BinaryOperator *B, bool Holds,
                         std::vector<std::string> &Tests, bool &Varies) const {
  const Expr *Small = B->getLHS(), *Large = B->getRHS();
  BinaryOperatorKind Kind = B->getOpcode();
  if (!Holds)
    Kind = BinaryOperator::negateComparisonOp(Kind);
  if (Kind == BO_GT || Kind == BO_GE) {
    std::swap(Small, Large);
    Kind = BinaryOperator::reverseComparisonOp(Kind);
  }
  if (!isSigned(Small) || !isSigned(Large))
    return false;
  std::optional<std::string> Most = at(Small, End::Most),
                             Least = at(Large, End::Least);
  if (!Most || !Least)
    return false;
  Varies |= !isFixed(Small) || !isFixed(Large);
  Tests.push_back(*Most + (Kind == BO_LT ? " < " : " <= ") + *Least);
  return true;
}

/// All of what has to be for \p Cond to be \p Holds.
bool NestReader::addTests(const Expr *Cond, bool Holds,
                          std::vector<std::string> &Tests, bool &Varies) const {
  const BinaryOperator *B = binary(Cond);
  if (!B)
    return false;
  if (B->getOpcode() == (Holds ? BO_LAnd : BO_LOr))
    return addTests(B->getLHS(), Holds, Tests, Varies) &&
           addTests(B->getRHS(), Holds, Tests, Varies);
  return B->isRelationalOp() && addTest(B, Holds, Tests, Varies);
}

/// It is another one in another iteration.
bool NestReader::isOfPlace(const Expr *E) const {
  bool Found = readsMemory(E);
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *V) {
    Found |= Own.count(V) != 0;
  });
  return Found;
}

void NestReader::take(std::vector<std::string> Tests,
                      std::vector<Substitute> Instead) {
  for (const Substitute &New : Instead)
    for (const Substitute &Old : Found.Inside)
      if (New.Bytes.Begin < Old.Bytes.End && Old.Bytes.Begin < New.Bytes.End)
        return;
  for (std::string &Each : Tests)
    if (!llvm::is_contained(Found.Tests, Each))
      Found.Tests.push_back(std::move(Each));
  Found.Inside.insert(Found.Inside.end(), Instead.begin(), Instead.end());
}

void NestReader::readIf(const IfStmt *If) {
  if (If->getElse() || If->getInit() || If->getConditionVariable())
    return;
  std::vector<std::string> Tests;
  bool Skips = llvm::isa_and_nonnull<ContinueStmt, BreakStmt, ReturnStmt>(
      onlyStatement(If->getThen()));
  bool Varies = false;
  std::optional<Range> Whole = F.statementRange(If),
                       Then = F.range(If->getThen());
  if (!Whole || !Then || !addTests(If->getCond(), !Skips, Tests, Varies) ||
      !Varies)
    return;
  if (Skips)
    take(std::move(Tests), {{*Whole, "{}"}});
  else
    take(std::move(Tests), {{{Whole->Begin, Then->Begin}, ""}});
}

/// What stays of \p Whole is \p Part.
static std::vector<Substitute> keeping(Range Whole, Range Part,
                                       const std::string &Before) {
  return {{{Whole.Begin, Part.Begin}, Before}, {{Part.End, Whole.End}, ")"}};
}

void NestReader::readConditional(const ConditionalOperator *C) {
  for (bool Holds : {true, false}) {
    std::vector<std::string> Tests;
    bool Varies = false;
    const Expr *Taken = Holds ? C->getTrueExpr() : C->getFalseExpr(),
               *Edge = Holds ? C->getFalseExpr() : C->getTrueExpr();
    std::optional<Range> Whole = F.range(C), Part = F.range(Taken);
    if (!Whole || !Part || isOfPlace(Edge) || !isOfPlace(Taken) ||
        !addTests(C->getCond(), Holds, Tests, Varies) || !Varies)
      continue;
    const Expr *Plain = Taken->IgnoreParenImpCasts();
    bool Same =
        F.context().hasSameUnqualifiedType(Plain->getType(), C->getType());
    std::string Before = Same ? "(" : "((" + F.typeName(C->getType()) + ")(";
    std::vector<Substitute> Kept = keeping(*Whole, *Part, Before);
    if (!Same)
      Kept.back().Text = "))";
    take(std::move(Tests), std::move(Kept));
    return;
  }
}

static const Expr *argument(const CallExpr *Call, unsigned I) {
  return Call->getArg(I)->IgnoreParenImpCasts();
}

/// low of "v < low ? low : v", where v and low are parameters.
static bool readPick(const Expr *E, const Expr *&Value, const Expr *&Edge,
                     bool &Below) {
  const auto *C = llvm::dyn_cast<ConditionalOperator>(E->IgnoreParenImpCasts());
  const BinaryOperator *B = C ? binary(C->getCond()) : nullptr;
  if (!B || !B->isRelationalOp() || !variableOf(B->getLHS()) ||
      variableOf(C->getTrueExpr()) != variableOf(B->getRHS()) ||
      !variableOf(B->getRHS()))
    return false;
  Below = B->getOpcode() == BO_LT || B->getOpcode() == BO_LE;
  Value = B->getLHS();
  Edge = C->getTrueExpr();
  return true;
}

/// return v < low ? low : (v > high ? high : v); of the function's parameters.
static bool isClampFunction(const FunctionDecl *D, unsigned &V, unsigned &Low,
                            unsigned &High) {
  const auto *Return =
      D && D->hasBody() && D->getNumParams() == 3
          ? llvm::dyn_cast_or_null<ReturnStmt>(onlyStatement(D->getBody()))
          : nullptr;
  const Expr *Outer = Return ? Return->getRetValue() : nullptr;
  const Expr *Value = nullptr, *Edge = nullptr, *Value2 = nullptr,
             *Edge2 = nullptr;
  bool Below = false, Below2 = false;
  if (!Outer || !readPick(Outer, Value, Edge, Below))
    return false;
  const Expr *Rest =
      llvm::cast<ConditionalOperator>(Outer->IgnoreParenImpCasts())
          ->getFalseExpr();
  if (!readPick(Rest, Value2, Edge2, Below2) || Below == Below2)
    return false;
  const Expr *Last =
      llvm::cast<ConditionalOperator>(Rest->IgnoreParenImpCasts())
          ->getFalseExpr();
  auto Number = [&](const Expr *E) -> std::optional<unsigned> {
    const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(E));
    return P ? std::optional(P->getFunctionScopeIndex()) : std::nullopt;
  };
  std::optional<unsigned> Of = Number(Value), A = Number(Edge),
                          B = Number(Edge2);
  if (!Of || !A || !B || Number(Value2) != Of || Number(Last) != Of ||
      *A == *B || *A == *Of || *B == *Of)
    return false;
  V = *Of;
  Low = Below ? *A : *B;
  High = Below ? *B : *A;
  return true;
}

static std::optional<Clamp> readClampCall(const CallExpr *Call) {
  unsigned V = 0, Low = 0, High = 0;
  if (isClampFunction(Call->getDirectCallee(), V, Low, High))
    return Clamp{Call->getArg(V), Call->getArg(Low), Call->getArg(High)};
  llvm::StringRef Name = calleeOf(Call);
  if ((Name != "min" && Name != "max") || Call->getNumArgs() != 2)
    return std::nullopt;
  for (unsigned I : {0u, 1u}) {
    const auto *Inner = llvm::dyn_cast<CallExpr>(argument(Call, I));
    if (!Inner || calleeOf(Inner) != (Name == "min" ? "max" : "min") ||
        Inner->getNumArgs() != 2)
      continue;
    const Expr *Outside = Call->getArg(1 - I);
    // Which of the two is the edge is told by what varies.
    for (unsigned J : {0u, 1u}) {
      Clamp C{Inner->getArg(J), Inner->getArg(1 - J), Outside};
      if (Name == "max")
        std::swap(C.Low, C.High);
      if (!llvm::isa<IntegerLiteral>(argument(Inner, J)))
        return C;
    }
  }
  return std::nullopt;
}

void NestReader::readClamp(const CallExpr *Call) {
  std::optional<Clamp> C = readClampCall(Call);
  if (!C || !isSigned(Call) ||
      !F.context().hasSameUnqualifiedType(C->E->getType(), Call->getType()))
    return;
  std::optional<std::string> Least = at(C->E, End::Least),
                             Most = at(C->E, End::Most),
                             Low = at(C->Low, End::Most),
                             High = at(C->High, End::Least);
  std::optional<Range> Whole = F.range(Call), Part = F.range(C->E);
  if (!Least || !Most || !Low || !High || !Whole || !Part || isFixed(C->E))
    return;
  take({*Low + " <= " + *Least, *Most + " <= " + *High},
       keeping(*Whole, *Part, "("));
}

void NestReader::read() {
  forEach(Outer->getBody(), [&](const Stmt *N) {
    if (const auto *If = llvm::dyn_cast<IfStmt>(N))
      readIf(If);
    else if (const auto *C = llvm::dyn_cast<ConditionalOperator>(N))
      readConditional(C);
    else if (const auto *Call = llvm::dyn_cast<CallExpr>(N))
      readClamp(Call);
  });
}

std::optional<OrReason<InteriorNest>>
stark::readInteriorNest(const Facts &F, const Kernel &K, const ForStmt *Outer) {
  NestReader Reader(F, K, Outer);
  Reader.read();
  if (Reader.Found.Tests.empty())
    return std::nullopt;
  if (meetsThreads(Outer) || anyOf(Outer, isWarpOperation))
    return Reason(Waits);
  for (const VarDecl *V : variablesDeclaredIn(Outer))
    if (!V->hasLocalStorage())
      return Reason(DeclaresStatic);
  return std::move(Reader.Found);
}
