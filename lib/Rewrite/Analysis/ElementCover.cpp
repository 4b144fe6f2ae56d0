//===- ElementCover.cpp - Launches with a thread for each element ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementCover.h"
#include "CodeTemplate.h"
#include "GridCover.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind LaunchNotEditable("its launch cannot be edited");
static constexpr ReasonKind GridNotOne("the grid is not one number");
static constexpr ReasonKind InClusters("its blocks form clusters");
static constexpr ReasonKind
    NotCovered("its launch is not seen to have a thread for each element");

static constexpr unsigned MostNested = 8;

namespace {
class Cover {
public:
  Cover(const Facts &F, const Kernel &K, const Launch &L, const Expr *Bound)
      : F(F), K(K), L(L), Bound(Bound), H(F.hostOf(L.Host)),
        Width(F.dimensions(L.Block, L)[0]) {}
  bool all() const;

private:
  const Expr *behind(const Expr *E) const {
    return resolve(E, L.Host->getBody(), *H->Parents);
  }
  bool isSame(const Expr *X, const Expr *Y) const;
  bool isArgument(const Expr *Inner, const Expr *Outer, unsigned Depth) const;
  bool isBound(const Expr *E) const { return isArgument(Bound, E, 0); }
  bool isLessOne(const Expr *E) const;
  bool isWidth(const Expr *E) const;
  bool isRoundedUp(const Expr *E) const;
  bool isCeiling(const Expr *E) const;

  const Facts &F;
  const Kernel &K;
  const Launch &L;
  const Expr *const Bound;
  const HostFunction *const H;
  const Expr *const Width;
};
} // namespace

/// Both are the same number wherever they stand in the host's function.
bool Cover::isSame(const Expr *X, const Expr *Y) const {
  std::optional<uint64_t> A = F.constantOf(X, L), B = F.constantOf(Y, L);
  if (A || B)
    return A == B;
  X = behind(X);
  Y = behind(Y);
  if (!isSameTree(X, Y, F.context()) || !isPure(X, F.context()) ||
      readsMemory(X))
    return false;
  bool Kept = true;
  forEachUse(X, [&](const DeclRefExpr *, const VarDecl *V) {
    Kept &= V->hasLocalStorage() && H->keeps(V);
  });
  return Kept;
}

/// \p Inner, of the kernel, has the value that \p Outer has at the launch.
bool Cover::isArgument(const Expr *Inner, const Expr *Outer,
                       unsigned Depth) const {
  if (Depth > MostNested)
    return false;
  if (std::optional<uint64_t> Number = F.constantOf(Inner, K))
    return Number == F.constantOf(Outer, L);
  Inner = resolve(Inner, K.body(), *K.Parents);
  if (const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(Inner))) {
    unsigned I = P->getFunctionScopeIndex();
    const Expr *Given = I < L.Call->getNumArgs() ? L.Call->getArg(I) : nullptr;
    return Given && K.keeps(P) && isSame(Given, Outer);
  }
  const auto *X = llvm::dyn_cast<BinaryOperator>(Inner),
             *Y = llvm::dyn_cast<BinaryOperator>(behind(Outer));
  return X && Y && X->getOpcode() == Y->getOpcode() && !X->isAssignmentOp() &&
         F.context().hasSameUnqualifiedType(X->getType(), Y->getType()) &&
         isArgument(X->getLHS(), Y->getLHS(), Depth + 1) &&
         isArgument(X->getRHS(), Y->getRHS(), Depth + 1);
}

/// bound - 1
bool Cover::isLessOne(const Expr *E) const {
  const BinaryOperator *B = binary(E);
  return B && B->getOpcode() == BO_Sub && isBound(B->getLHS()) &&
         F.constantOf(B->getRHS(), L) == 1u;
}

/// The block's width: as it is launched, or block.x.
bool Cover::isWidth(const Expr *E) const {
  const auto *M = llvm::dyn_cast<MemberExpr>(strip(E));
  const VarDecl *Of = M ? variableOf(M->getBase()) : nullptr;
  if (Of && Of == variableOf(L.Block))
    return H->keeps(Of) && M->getMemberDecl()->getName() == "x";
  return isSame(E, Width);
}

/// The integer of 32 bits or fewer of which \p E makes a double; else null.
static const Expr *madeDouble(const Expr *E, const ASTContext &Context) {
  const auto *Cast = llvm::dyn_cast<CastExpr>(E->IgnoreParens());
  if (Cast && Cast->getCastKind() == CK_NoOp)
    Cast = llvm::dyn_cast<CastExpr>(Cast->getSubExpr()->IgnoreParens());
  bool Made = Cast && Cast->getCastKind() == CK_IntegralToFloating &&
              Context.getTypeSize(Cast->getSubExpr()->getType()) <= 32;
  return Made ? Cast->getSubExpr() : nullptr;
}

/// ceil(bound / 256.0), divided in double: there a rest of 1 is more than what
/// rounding takes.
bool Cover::isCeiling(const Expr *E) const {
  if (const auto *Cast = llvm::dyn_cast<CastExpr>(E->IgnoreParens());
      Cast && Cast->getCastKind() == CK_FloatingToIntegral)
    E = Cast->getSubExpr();
  const auto *Call = llvm::dyn_cast<CallExpr>(strip(E));
  const BinaryOperator *Div =
      Call && Call->getNumArgs() == 1 ? binary(Call->getArg(0)) : nullptr;
  if (calleeOf(Call) != "ceil" || !isPure(Call, F.context()) || !Div ||
      Div->getOpcode() != BO_Div ||
      !Div->getType()->isSpecificBuiltinType(BuiltinType::Double))
    return false;
  const Expr *Over = madeDouble(Div->getLHS(), F.context()),
             *Under = madeDouble(Div->getRHS(), F.context());
  const auto *Number =
      llvm::dyn_cast<FloatingLiteral>(Div->getRHS()->IgnoreParenImpCasts());
  std::optional<uint64_t> Threads = F.constantOf(Width, L);
  bool ByWidth = Under ? isWidth(Under)
                       : Number && Threads &&
                             Number->getValueAsApproximateDouble() == *Threads;
  return Over && isBound(Over) && ByWidth;
}

/// (bound + width - 1) / width, (bound - 1) / width + 1, ceil(), and a function
/// of the file that gives this.
bool Cover::isRoundedUp(const Expr *E) const {
  E = behind(E);
  if (isCeiling(E))
    return true;
  if (const auto *Call = llvm::dyn_cast<CallExpr>(E))
    return Call->getNumArgs() == 2 && roundsUp(F, L, Call) &&
           isBound(Call->getArg(0)) && isWidth(Call->getArg(1));
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  if (B && B->getOpcode() == BO_Add)
    return eitherWay(
        {B->getLHS(), B->getRHS()},
        [&](const Expr *N) { return F.constantOf(N, L) == 1u; },
        [&](const Expr *N) {
          const BinaryOperator *Div = binary(N);
          return Div && Div->getOpcode() == BO_Div &&
                 isLessOne(Div->getLHS()) && isWidth(Div->getRHS());
        });
  if (!B || B->getOpcode() != BO_Div || !isWidth(B->getRHS()))
    return false;
  // bound + width - 1, bound - 1 + width, bound + 255, in any order.
  const BinaryOperator *Sum = binary(B->getLHS());
  if (!Sum || !Sum->isAdditiveOp())
    return false;
  if (Sum->getOpcode() == BO_Sub)
    return F.constantOf(Sum->getRHS(), L) == 1u &&
           eitherWay(
               termsOf(Sum->getLHS()),
               [&](const Expr *N) { return isBound(N); },
               [&](const Expr *N) { return isWidth(N); });
  auto Most = F.constantOf(Width, L);
  return eitherWay(
             {Sum->getLHS(), Sum->getRHS()},
             [&](const Expr *N) { return isLessOne(N); },
             [&](const Expr *N) { return isWidth(N); }) ||
         eitherWay(
             {Sum->getLHS(), Sum->getRHS()},
             [&](const Expr *N) { return isBound(N); },
             [&](const Expr *N) {
               const BinaryOperator *Less = binary(N);
               std::optional<uint64_t> C = F.constantOf(N, L);
               return (C && Most && *C + 1 >= *Most) ||
                      (Less && Less->getOpcode() == BO_Sub &&
                       isWidth(Less->getLHS()) &&
                       F.constantOf(Less->getRHS(), L) == 1u);
             });
}

bool Cover::all() const {
  const Expr *Grid = F.dimensions(L.Grid, L)[0];
  if (!H || !Grid || !Width)
    return false;
  std::optional<uint64_t> Blocks = F.constantOf(Grid, L),
                          Threads = F.constantOf(Width, L),
                          Elements = F.constantOf(Bound, K);
  if (Blocks && Threads && Elements)
    return *Blocks <= UINT32_MAX && *Threads <= UINT32_MAX &&
           *Blocks * *Threads >= *Elements;
  // A block for each element, whatever is in it.
  return isBound(Grid) || isRoundedUp(Grid);
}

std::optional<std::string> stark::blocksOf(const Facts &F, const Launch &L) {
  std::array<const Expr *, 3> Grid = F.dimensions(L.Grid, L);
  const Expr *X = Grid[0];
  auto IsOne = [&](const Expr *E) { return !E || F.constantOf(E, L) == 1u; };
  std::string Text = F.text(L.Grid);
  if (!X || !X->getType()->isArithmeticType() || !IsOne(Grid[1]) ||
      !IsOne(Grid[2]) || Text.empty())
    return std::nullopt;
  const Expr *Spelled =
      const_cast<Expr *>(L.Grid)->IgnoreUnlessSpelledInSource();
  bool Plain = Spelled->getType()->isArithmeticType();
  return Plain ? "(" + Text + ")" : asOperand(Text) + ".x";
}

WhyNot stark::whyNotRelaunch(const Facts &F, const Kernel &K,
                             const Expr *Bound) {
  if (K.LaunchedElsewhere)
    return K.LaunchedElsewhere;
  if (K.Launches.size() != 1)
    return K.Launches.empty() ? Reason(why::NoLaunchHere)
                              : Reason(why::SeveralLaunches);
  const Launch &L = *K.Launches.front();
  if (!L.HostAt || !L.HostAt->editable() || !L.At->editable())
    return Reason(LaunchNotEditable);
  if (!blocksOf(F, L))
    return Reason(GridNotOne);
  // Clang knows no such attribute.
  std::optional<Range> Body = F.range(K.body());
  if (!Body ||
      F.text().slice(K.Bytes.Begin, Body->Begin).contains("cluster_dims"))
    return Reason(InClusters);
  // Other threads would reach the elements that no thread of the source has.
  if (!Cover(F, K, L, Bound).all())
    return Reason(NotCovered);
  return std::nullopt;
}
