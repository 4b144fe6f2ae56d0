//===- MatrixProduct.cpp - Kernels that compute a matrix product ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"
#include "clang/AST/ExprCXX.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/ASTMatchers/ASTMatchers.h"

using namespace stark;
using namespace clang;
namespace m = clang::ast_matchers;

const ParmVarDecl *stark::parameterOf(const Expr *E, const Kernel &K) {
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(E));
  return P && P->getType()->isIntegerType() && K.keeps(P) ? P : nullptr;
}

/// A parameter, or a constant whose text can be put elsewhere in the file.
static bool isFixed(const Expr *E, const Facts &F, const Kernel &K) {
  bool Local = false;
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *V) {
    Local |= V->hasLocalStorage();
  });
  return parameterOf(E, K) || (!Local && F.constantOf(E, K));
}

/// blockIdx.A * blockDim.A + threadIdx.A -> A. Each may be a variable that
/// holds it, the width also the constant that all launches give for it.
static char axisOf(const Expr *E, const Facts &F, const Kernel &K) {
  OrReason<std::array<uint64_t, 3>> Size = F.block(K);
  for (char Axis : {'x', 'y', 'z'}) {
    auto Is = [&K, Axis](llvm::StringRef Name) {
      return [&K, Axis, Name](const Expr *N) {
        return isBuiltin(resolve(N, K.body(), *K.Parents), Name, Axis);
      };
    };
    auto IsWidth = [&](const Expr *N) {
      return Is("blockDim")(N) ||
             (Size && F.constantOf(N, K) == (*Size)[unsigned(Axis - 'x')]);
    };
    auto Block = [&](const Expr *N) {
      return eitherWay(factorsOf(N), Is("blockIdx"), IsWidth);
    };
    if (eitherWay(termsOf(E), Is("threadIdx"), Block))
      return Axis;
  }
  return 0;
}

/// Whether \p Index is Major * something + Minor, where something is fixed.
/// Either may be shifted.
static bool isPlace(const Expr *Index, const VarDecl *Major,
                    const VarDecl *Minor, llvm::ArrayRef<ShiftedIndex> Shifted,
                    const Facts &F, const Kernel &K) {
  auto Is = [&](const Expr *N, const VarDecl *V) {
    const VarDecl *Named = variableOf(N);
    return Named == V || llvm::any_of(Shifted, [&](const ShiftedIndex &S) {
             return S.V == Named && S.Of == V;
           });
  };
  auto IsMajor = [&](const Expr *N) { return Is(N, Major); };
  auto IsMinor = [&](const Expr *N) { return Is(N, Minor); };
  auto IsWidth = [&](const Expr *N) { return isFixed(N, F, K); };
  return eitherWay(termsOf(Index), IsMinor, [&](const Expr *N) {
    return eitherWay(factorsOf(N), IsMajor, IsWidth);
  });
}

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

/// An element, converted at most: x, (float)x, __half2float(x).
static const Access *elementOf(const Expr *E, const std::vector<Access> &All) {
  for (unsigned Depth = 0; Depth < 6; ++Depth) {
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
      : F(F), K(K), All(All) {}
  std::optional<OrReason<MatrixProduct>> read();

private:
  bool takeLines(const CompoundStmt *Block);
  bool readGuard(const Expr *E, bool Inside);
  bool matchSum();
  WhyNot checkSum() const;
  WhyNot readPlaces();
  WhyNot readPlace(const VarDecl *V, const Stmt *Line);
  bool readShifted(const VarDecl *V, const Stmt *Line);
  WhyNot checkStart() const;
  WhyNot readStore();
  WhyNot checkStored(const Expr *Value) const;
  WhyNot readOperands();

  const Facts &F;
  const Kernel &K;
  const Accesses &All;
  std::vector<const Stmt *> Lines; ///< but for the guards
  std::vector<Coordinate> Guarded, Placed;
  const ForStmt *Loop = nullptr;
  const BinaryOperator *Times = nullptr;
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
  if (Kind != (Inside ? BO_LT : BO_GE) || !variableOf(L) || !isFixed(R, F, K))
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
  auto Counts = m::forStmt(
      m::hasLoopInit(m::declStmt(m::hasSingleDecl(m::varDecl().bind("depth")))),
      m::hasCondition(m::ignoringParenImpCasts(m::binaryOperator(
          m::hasLHS(m::expr()), m::hasRHS(m::expr().bind("bound"))))));
  ASTContext &Context = const_cast<ASTContext &>(F.context());
  const Stmt *Body = onlyStatement(Loop->getBody());
  auto Header = m::match(Counts, *Loop, Context);
  auto Added = Body ? m::match(m::stmt(Adds), *Body, Context)
                    : llvm::SmallVector<m::BoundNodes, 1>();
  if (Header.size() != 1 || Added.size() != 1)
    return false;
  P.Depth = Header[0].getNodeAs<VarDecl>("depth");
  P.DepthBound = Header[0].getNodeAs<Expr>("bound");
  P.Sum = Added[0].getNodeAs<VarDecl>("sum");
  P.Term = Added[0].getNodeAs<Expr>("term");
  return true;
}

WhyNot Reader::checkSum() const {
  if (!Times || Times->getOpcode() != BO_Mul)
    return Reason(why::NoProduct);
  if (!P.Sum->getType()->isArithmeticType() ||
      P.Sum->getType()->isBooleanType())
    return Reason(why::NoNumber);
  const BinaryOperator *Cond = binary(Loop->getCond());
  if (!isZero(P.Depth->getInit(), F.context()) ||
      !P.Depth->getType()->isIntegerType() || Cond->getOpcode() != BO_LT ||
      variableOf(Cond->getLHS()) != P.Depth || !isFixed(P.DepthBound, F, K) ||
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
    else if (!isFixed(Term, F, K))
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
  // A name for what tells threads apart.
  if (V->getInit() && builtinIndex(V->getInit()) && K.keeps(V))
    return std::nullopt;
  char Axis = V->getInit() ? axisOf(V->getInit(), F, K) : 0;
  if (!Axis && readShifted(V, Line))
    return std::nullopt;
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
      if (onlyVariable(S) != P.Sum)
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
            llvm::none_of(P.Shifted,
                          [&](const ShiftedIndex &S) { return S.V == V; }));
  });
  if (More)
    return Reason(why::StoreUsesMore);
  return std::nullopt;
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
  if (!isPlace(Result->Index, P.Row.V, P.Col.V, P.Shifted, F, K))
    std::swap(P.Row, P.Col);
  if (!isPlace(Result->Index, P.Row.V, P.Col.V, P.Shifted, F, K))
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
  const Access *X = elementOf(Times->getLHS(), All.all()),
               *Y = elementOf(Times->getRHS(), All.all());
  for (const Access *Each : {X, Y})
    if (!Each || !Each->Index || !Each->Base || Each->Store || Each->Shared)
      return Reason(why::NoProduct);
  auto Fits = [&](const Access *Each, const Coordinate &C, Operand &O) {
    O.At = *Each;
    O.Type = F.typeName(Each->E->getType());
    O.Along = isPlace(Each->Index, C.V, P.Depth, P.Shifted, F, K);
    return O.Along || isPlace(Each->Index, P.Depth, C.V, P.Shifted, F, K);
  };
  if (!(Fits(X, P.Row, P.A) && Fits(Y, P.Col, P.B)) &&
      !(Fits(Y, P.Row, P.A) && Fits(X, P.Col, P.B)))
    return Reason(why::OddOperands);
  for (const Access *Each :
       std::initializer_list<const Access *>{&P.A.At, &P.B.At, Result})
    if (!Each->Root || !llvm::isa<ParmVarDecl>(Each->Root) ||
        Each->Root != Each->Base || Each->E->getType().isVolatileQualified())
      return Reason(why::NoParameters);
  if (P.A.At.Base == Result->Base || P.B.At.Base == Result->Base)
    return Reason(why::ReadsResult);
  if (F.context().getTypeSize(P.A.At.E->getType()) > 64 ||
      F.context().getTypeSize(P.B.At.E->getType()) > 64)
    return Reason(why::LargeElements);
  return std::nullopt;
}

std::optional<OrReason<MatrixProduct>> Reader::read() {
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  if (!Body || !takeLines(Body) || (!Guarded.empty() && Guarded.size() != 2) ||
      !matchSum())
    return std::nullopt;
  Times = binary(P.Term);
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
