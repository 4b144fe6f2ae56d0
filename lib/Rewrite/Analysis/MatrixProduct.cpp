//===- MatrixProduct.cpp - Kernels that compute a matrix product ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"
#include "ProductIndex.h"
#include "clang/AST/ExprCXX.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/ASTMatchers/ASTMatchers.h"

using namespace stark;
using namespace clang;
namespace m = clang::ast_matchers;

static bool isZero(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult R;
  if (!E || E->isValueDependent() || !E->EvaluateAsRValue(R, Context) ||
      R.HasSideEffects)
    return false;
  return (R.Val.isInt() && R.Val.getInt().isZero()) ||
         (R.Val.isFloat() && R.Val.getFloat().isPosZero());
}

static bool isUnitStep(const Stmt *S, const VarDecl *V, const Facts &F,
                       const Kernel &K) {
  if (const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(S))
    return U->isIncrementOp() && variableOf(U->getSubExpr()) == V;
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  return B && B->getOpcode() == BO_AddAssign && variableOf(B->getLHS()) == V &&
         F.constantOf(B->getRHS(), K) == 1u;
}

/// An element, converted at most: x, (float)x, __half2float(x); or one of
/// \p Named, variables that hold one.
static const Access *elementOf(const Expr *E, const std::vector<Access> &All,
                               llvm::ArrayRef<const VarDecl *> Named = {}) {
  for (unsigned Depth = 0; Depth < 6; ++Depth) {
    if (const VarDecl *V = variableOf(E); V && llvm::is_contained(Named, V))
      return elementOf(V->getInit(), All);
    for (const Access &A : All)
      if (A.Whole == E || A.E == E)
        return &A;
    const Expr *Inner = strip(E);
    if (Inner == E) {
      if (const auto *C = llvm::dyn_cast<CastExpr>(E))
        Inner = C->getSubExpr();
      else if (const auto *M = llvm::dyn_cast<CXXMemberCallExpr>(E);
               M &&
               llvm::isa_and_nonnull<CXXConversionDecl>(M->getMethodDecl()))
        Inner = M->getImplicitObjectArgument();
      else if (const auto *Call = llvm::dyn_cast<CallExpr>(E);
               Call && Call->getNumArgs() == 1 &&
               (calleeOf(Call) == "__half2float" ||
                calleeOf(Call) == "__bfloat162float"))
        Inner = Call->getArg(0);
      else
        return nullptr;
    }
    E = Inner;
  }
  return nullptr;
}

/// The use of a variable, bound or as it was bound.
static m::internal::Matcher<Expr> useOf(const m::DeclarationMatcher &V) {
  return m::ignoringParenImpCasts(m::declRefExpr(m::to(V)));
}

namespace {
class Reader {
public:
  Reader(const Facts &F, const Kernel &K, const Accesses &All)
      : F(F), K(K), All(All), Indices(F, K) {}
  std::optional<OrReason<MatrixProduct>> read();

private:
  bool takeLines(const CompoundStmt *Block);
  bool readGuard(const Expr *E, bool Inside);
  bool matchSum();
  const Stmt *readNamed();
  WhyNot checkSum() const;
  WhyNot readFactors();
  WhyNot readPlaces();
  WhyNot readPlace(const VarDecl *V, const Stmt *Line);
  bool readShifted(const VarDecl *V, const Stmt *Line);
  WhyNot checkStart() const;
  WhyNot readStore();
  WhyNot checkStored(const Expr *Value) const;
  bool isPlace(const Expr *Index, const VarDecl *Major, const VarDecl *Minor);
  WhyNot readOperands();

  const Facts &F;
  const Kernel &K;
  const Accesses &All;
  const ProductIndex Indices;
  std::vector<const Stmt *> Lines; ///< but for the guards
  std::vector<Coordinate> Guarded, Placed;
  const ForStmt *Loop = nullptr;
  std::vector<const VarDecl *> Named;      ///< in the loop, an element each
  const Access *X = nullptr, *Y = nullptr; ///< what is multiplied
  const Access *Result = nullptr;
  MatrixProduct P;
};
} // namespace

/// row >= m || col >= n (Inside false), row < m && col < n (Inside true).
bool Reader::readGuard(const Expr *E, bool Inside) {
  const BinaryOperator *B = binary(E);
  if (!B)
    return false;
  if (B->getOpcode() == (Inside ? BO_LAnd : BO_LOr))
    return readGuard(B->getLHS(), Inside) && readGuard(B->getRHS(), Inside);
  const Expr *L = B->getLHS(), *R = B->getRHS();
  BinaryOperatorKind Kind = B->getOpcode();
  if (Kind == BO_GT || Kind == BO_LE) {
    std::swap(L, R);
    Kind = Kind == BO_GT ? BO_LT : BO_GE;
  }
  if (Kind != (Inside ? BO_LT : BO_GE) || !variableOf(L) || !Indices.isFixed(R))
    return false;
  Guarded.push_back({variableOf(L), 0, R});
  return true;
}

/// The statements that run when no guard ends the thread; false when a
/// condition is no guard.
bool Reader::takeLines(const CompoundStmt *Block) {
  for (const Stmt *S : Block->body()) {
    const auto *If = llvm::dyn_cast<IfStmt>(S);
    if (!If) {
      Lines.push_back(S);
      continue;
    }
    if (If->getElse() || If->getInit() || If->getConditionVariable())
      return false;
    const auto *Then = llvm::dyn_cast<CompoundStmt>(If->getThen());
    if (llvm::isa_and_nonnull<ReturnStmt>(onlyStatement(If->getThen()))) {
      if (!readGuard(If->getCond(), false))
        return false;
    } else if (!Then || S != Block->body_back() ||
               !readGuard(If->getCond(), true) || !takeLines(Then)) {
      return false;
    }
  }
  return true;
}

/// The last statement of the loop, where elements are named before it.
const Stmt *Reader::readNamed() {
  const Stmt *Body = onlyStatement(Loop->getBody());
  const auto *Block = llvm::dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block || Block->body_empty())
    return Block ? nullptr : Body;
  for (const Stmt *S : Block->body()) {
    if (S == Block->body_back())
      return S;
    const VarDecl *V = onlyVariable(S);
    if (!V || !V->getInit() || !K.keeps(V) ||
        !isPure(V->getInit(), F.context()) ||
        !elementOf(V->getInit(), All.all()))
      return nullptr;
    Named.push_back(V);
    P.Named.push_back(S);
  }
  return nullptr;
}

/// for (int i = ...; i OP n; ...) sum += term, with one such loop.
bool Reader::matchSum() {
  for (const Stmt *S : Lines)
    if (const auto *Each = llvm::dyn_cast<ForStmt>(S)) {
      if (Loop)
        return false;
      Loop = Each;
    }
  if (!Loop)
    return false;
  auto Sum = useOf(m::varDecl().bind("sum"));
  auto Again = useOf(m::varDecl(m::equalsBoundNode("sum")));
  auto Term = m::expr().bind("term");
  auto Adds = m::binaryOperator(
      m::hasLHS(Sum),
      m::anyOf(m::allOf(m::hasOperatorName("+="), m::hasRHS(Term)),
               m::allOf(m::hasOperatorName("="),
                        m::hasRHS(m::ignoringParenImpCasts(m::binaryOperator(
                            m::hasOperatorName("+"), m::hasLHS(Again),
                            m::hasRHS(Term)))))));
  ASTContext &Context = const_cast<ASTContext &>(F.context());
  const Stmt *Body = readNamed();
  const BinaryOperator *Cond = binary(Loop->getCond());
  auto Added = Body ? m::match(m::stmt(Adds), *Body, Context)
                    : llvm::SmallVector<m::BoundNodes, 1>();
  P.Depth = indexOf(Loop).V;
  if (!P.Depth || !Cond || Added.size() != 1)
    return false;
  P.DepthBound = Cond->getRHS();
  P.Sum = Added[0].getNodeAs<VarDecl>("sum");
  P.Term = Added[0].getNodeAs<Expr>("term");
  return true;
}

/// Two elements, and else what stays the same.
WhyNot Reader::readFactors() {
  for (const Expr *Factor : factorsOf(P.Term)) {
    const Access *Each = elementOf(Factor, All.all(), Named);
    if (!Each && Indices.isOfBlock(Factor))
      continue;
    if (!Each || Y)
      return Reason(why::NoProduct);
    (X ? Y : X) = Each;
  }
  if (!Y)
    return Reason(why::NoProduct);
  return std::nullopt;
}

WhyNot Reader::checkSum() const {
  if (!P.Sum->getType()->isArithmeticType() ||
      P.Sum->getType()->isBooleanType())
    return Reason(why::NoNumber);
  const BinaryOperator *Cond = binary(Loop->getCond());
  if (!isZero(indexOf(Loop).Start, F.context()) ||
      !P.Depth->getType()->isIntegerType() || Cond->getOpcode() != BO_LT ||
      variableOf(Cond->getLHS()) != P.Depth || !Indices.isFixed(P.DepthBound) ||
      !isUnitStep(Loop->getInc(), P.Depth, F, K))
    return Reason(why::OddLoop);
  return std::nullopt;
}

/// An index of the grid and something fixed.
bool Reader::readShifted(const VarDecl *V, const Stmt *Line) {
  if (!V->getInit() || !K.keeps(V) || onlyVariable(Line) != V ||
      !V->getType()->isIntegerType() ||
      F.context().getTypeSize(V->getType()) < 32)
    return false;
  const VarDecl *Of = nullptr;
  for (const Expr *Term : termsOf(V->getInit())) {
    const VarDecl *Named = variableOf(Term);
    bool Place =
        llvm::any_of(Placed, [&](const Coordinate &C) { return C.V == Named; });
    if (Place && !Of)
      Of = Named;
    else if (!Indices.isFixed(Term))
      return false;
  }
  if (Of)
    P.Shifted.push_back({V, Of, Line});
  return Of;
}

WhyNot Reader::readPlace(const VarDecl *V, const Stmt *Line) {
  if (V == P.Sum) {
    if (!V->getInit() || !isPure(V->getInit(), F.context()))
      return Reason(why::OddStart);
    if (!isZero(V->getInit(), F.context()))
      P.Start = V->getInit();
    return std::nullopt;
  }
  if (V == P.Depth)
    return std::nullopt;
  // A name for what tells threads apart.
  if (V->getInit() && builtinIndex(V->getInit()) && K.keeps(V))
    return std::nullopt;
  char Axis = V->getInit() ? Indices.axisOf(V->getInit()) : 0;
  if (Axis == 'z' && Indices.isOfBlock(V))
    Axis = 0;
  if (!Axis && readShifted(V, Line))
    return std::nullopt;
  if (!Axis && Indices.isOfBlock(V)) {
    P.OfBlock = true;
    return std::nullopt;
  }
  if (!Axis || !V->getType()->isIntegerType() ||
      F.context().getTypeSize(V->getType()) < 32 || !K.keeps(V))
    return Reason(why::OddVariable, nameOf(V));
  Coordinate C{V, Axis, nullptr};
  for (const Coordinate &G : Guarded)
    if (G.V == V)
      C.Bound = G.Bound;
  if (!C.Bound && !Guarded.empty())
    return Reason(why::NoBound, nameOf(V));
  Placed.push_back(C);
  return std::nullopt;
}

/// What stands beside the loop: two indices, the sum, the store.
WhyNot Reader::readPlaces() {
  for (const Stmt *S : Lines) {
    if (S == Loop)
      continue;
    if (const auto *D = llvm::dyn_cast<DeclStmt>(S)) {
      for (const Decl *Each : D->decls()) {
        const auto *V = llvm::dyn_cast<VarDecl>(Each);
        if (!V || (V == P.Sum && !D->isSingleDecl()))
          return Reason(why::OddDeclaration);
        if (WhyNot Why = readPlace(V, S))
          return Why;
      }
      if (onlyVariable(S) != P.Sum && onlyVariable(S) != P.Depth)
        P.Declared.push_back(S);
      continue;
    }
    if (P.Store)
      return Reason(why::SumDoesMore);
    P.Store = S;
  }
  if (Placed.size() != 2 || !P.Store || Placed[0].Axis == Placed[1].Axis)
    return Reason(why::NotTwoDimensions);
  return std::nullopt;
}

/// Of the loop's own variables what is stored uses the sum alone.
WhyNot Reader::checkStored(const Expr *Value) const {
  bool More = anyOf(Value, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return llvm::isa<PseudoObjectExpr>(N) ||
           (V && V != P.Sum && V != P.Row.V && V != P.Col.V &&
            !llvm::isa<ParmVarDecl>(V) && !V->getType().isConstQualified() &&
            !Indices.isOfBlock(V) &&
            llvm::none_of(P.Shifted,
                          [&](const ShiftedIndex &S) { return S.V == V; }));
  });
  if (More)
    return Reason(why::StoreUsesMore);
  return std::nullopt;
}

bool Reader::isPlace(const Expr *Index, const VarDecl *Major,
                     const VarDecl *Minor) {
  ProductIndex::Place Found = Indices.placeOf(Index, Major, Minor, P.Shifted);
  P.OfBlock |= Found == ProductIndex::Place::OfBlock;
  return Found != ProductIndex::Place::No;
}

/// The store, and nothing else, touches the result.
WhyNot Reader::readStore() {
  std::vector<const Access *> Mine = All.in(P.Store);
  for (const Access *Each : Mine) {
    if (Each->Unclear || !Each->Index || !Each->Base)
      return Reason(why::StoreUnclear);
    if (Each->Store)
      Result = Each;
  }
  if (!Result)
    return Reason(why::StoresNothing);
  for (const Access *Each : Mine)
    if (Each->Base != Result->Base ||
        !isSameTree(Each->Index, Result->Index, F.context()))
      return Reason(why::StoreReads);
  const auto *Whole = llvm::dyn_cast<Expr>(P.Store);
  const Expr *Value = nullptr;
  if (const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Whole))
    Value = B->isAssignmentOp() ? B->getRHS() : nullptr;
  else if (const auto *O = llvm::dyn_cast_or_null<CXXOperatorCallExpr>(
               Whole ? strip(Whole) : nullptr))
    Value = O->getOperator() == OO_Equal && O->getNumArgs() == 2 ? O->getArg(1)
                                                                 : nullptr;
  if (!Value || !isPure(Value, F.context()))
    return Reason(why::StoreDoesMore);
  P.Row = Placed[0];
  P.Col = Placed[1];
  if (!isPlace(Result->Index, P.Row.V, P.Col.V))
    std::swap(P.Row, P.Col);
  if (!isPlace(Result->Index, P.Row.V, P.Col.V))
    return Reason(why::OddResult);
  return checkStored(Value);
}

/// The sum begins with what neither the result nor another variable changes.
WhyNot Reader::checkStart() const {
  if (!P.Start)
    return std::nullopt;
  for (const Access *Each : All.in(P.Start))
    if (Each->Store || Each->Unclear || !Each->Root ||
        !llvm::isa<ParmVarDecl>(Each->Root) || Each->Root != Each->Base ||
        Each->Base == Result->Base || Each->E->getType().isVolatileQualified())
      return Reason(why::OddStart);
  bool Other = false;
  forEachUse(P.Start, [&](const DeclRefExpr *, const VarDecl *V) {
    Other |= V != P.Row.V && V != P.Col.V &&
             !(llvm::isa<ParmVarDecl>(V) && K.keeps(V));
  });
  if (Other || anyOf(P.Start, [](const Stmt *N) {
        return llvm::isa<PseudoObjectExpr>(N);
      }))
    return Reason(why::OddStart);
  return std::nullopt;
}

WhyNot Reader::readOperands() {
  for (const Access *Each : {X, Y})
    if (!Each || !Each->Index || !Each->Base || Each->Store || Each->Shared)
      return Reason(why::NoProduct);
  auto Fits = [&](const Access *Each, const Coordinate &C, Operand &O) {
    O.At = *Each;
    O.Type = F.typeName(Each->E->getType());
    O.Along = isPlace(Each->Index, C.V, P.Depth);
    return O.Along || isPlace(Each->Index, P.Depth, C.V);
  };
  if (!(Fits(X, P.Row, P.A) && Fits(Y, P.Col, P.B)) &&
      !(Fits(Y, P.Row, P.A) && Fits(X, P.Col, P.B)))
    return Reason(why::OddOperands);
  for (const Access *Each :
       std::initializer_list<const Access *>{&P.A.At, &P.B.At, Result})
    if (!Each->Root || !llvm::isa<ParmVarDecl>(Each->Root) ||
        !(Each->Root == Each->Base || Indices.isOfBlock(Each->Base)) ||
        Each->E->getType().isVolatileQualified())
      return Reason(why::NoParameters);
  if (P.A.At.Root == Result->Root || P.B.At.Root == Result->Root)
    return Reason(why::ReadsResult);
  if (F.context().getTypeSize(P.A.At.E->getType()) > 64 ||
      F.context().getTypeSize(P.B.At.E->getType()) > 64)
    return Reason(why::LargeElements);
  return std::nullopt;
}

std::optional<OrReason<MatrixProduct>> Reader::read() {
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  if (!Body || !takeLines(Body))
    return std::nullopt;
  auto Own = llvm::partition(
      Guarded, [&](const Coordinate &C) { return Indices.isOfBlock(C.V); });
  P.Common.assign(Guarded.begin(), Own);
  Guarded.erase(Guarded.begin(), Own);
  if ((!Guarded.empty() && Guarded.size() != 2) || !matchSum())
    return std::nullopt;
  if (WhyNot Why = readFactors())
    return *Why;
  if (WhyNot Why = checkSum())
    return *Why;
  if (WhyNot Why = readPlaces())
    return *Why;
  if (WhyNot Why = readStore())
    return *Why;
  if (WhyNot Why = checkStart())
    return *Why;
  if (WhyNot Why = readOperands())
    return *Why;
  return P;
}

std::optional<OrReason<MatrixProduct>>
stark::readMatrixProduct(const Facts &F, const Kernel &K, const Accesses &All) {
  return Reader(F, K, All).read();
}
