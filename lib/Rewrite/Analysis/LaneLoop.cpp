//===- LaneLoop.cpp - Loops that the lanes of a warp can share ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneLoop.h"
#include "Accumulation.h"
#include "CodeTemplate.h"
#include "IterationBody.h"
#include "ThreadLoop.h"

using namespace stark;
using namespace clang;

static constexpr CodeTemplate Sum(R"cuda(
#pragma unroll
for (int offset = $half; offset > 0; offset /= 2)
  $name = $combined;
)cuda");

namespace {
/// The iterations of a loop may run in any lane.
class LanesCheck : public IterationBody {
public:
  LanesCheck(const Facts &F, const Kernel &K, const Accesses &A,
             const CountedLoop &L)
      : IterationBody(F.context()), F(F), K(K), A(A), L(L),
        Own(variablesDeclaredIn(L.S)), Index(L) {}
  WhyNot run();
  Accumulators Sums;

private:
  WhyNot changes(const Expr *Target, const BinaryOperator *By) override;
  WhyNot counts(const Expr *Target) override;
  WhyNot memory() const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop &L;
  const std::set<const VarDecl *> Own; ///< declared in the loop
  const ThreadLoop Index;              ///< for what looks at the index alone
};
} // namespace

WhyNot LanesCheck::counts(const Expr *Target) {
  const VarDecl *V = variableOf(Target);
  if (V && V != L.I && Own.count(V))
    return std::nullopt;
  return Reason(why::CountsOutside);
}

WhyNot LanesCheck::changes(const Expr *Target, const BinaryOperator *By) {
  const VarDecl *V = By ? variableOf(Target) : nullptr;
  if (!V) {
    const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(Target));
    if (!Sub || !isShiftedIndex(F, K, Index, Sub->getIdx()))
      return Reason(why::StoresUnshifted);
    return std::nullopt;
  }
  if (V == L.I)
    return Reason(why::ChangesIndex);
  return Own.count(V) ? std::nullopt : Sums.add(V, By, F.context());
}

WhyNot LanesCheck::memory() const {
  for (const Access *One : A.in(L.S)) {
    // Of a base that moves with the index all elements may be one.
    bool Fixed = One->Base && !Own.count(One->Base) &&
                 isNeverWritten(One->Base, L.S, *K.Parents);
    if (One->Unclear || (One->Store && !Fixed))
      return Reason(why::LineUnclear, F.lineOf(One->E));
    for (const Access *Other : A.in(L.S))
      if (A.conflict(*One, *Other) &&
          !(One->Index && Other->Index && One->Base &&
            One->Base == Other->Base &&
            isSameShift(F, K, Index, One->Index, Other->Index)))
        return Reason(why::MayUseStored, F.lineOf(One->E), F.lineOf(Other->E));
  }
  return std::nullopt;
}

WhyNot LanesCheck::run() {
  if (WhyNot Why = whyNot(L.S->getBody()))
    return Why;
  if (WhyNot Why = Sums.whyRead(L.S, F.context()))
    return Why;
  return memory();
}

static bool isSummable(const VarDecl *V, const std::string &Operation) {
  const auto *T = V->getType().getCanonicalType()->getAs<BuiltinType>();
  bool Number = T && (isFullInteger(T) || T->getKind() == BuiltinType::Float ||
                      T->getKind() == BuiltinType::Double);
  return Number && (Operation == "+" || isMinMax(Operation));
}

OrReason<LaneLoop> stark::readLaneLoop(const Facts &F, const Kernel &K,
                                       const Accesses &A, const ForStmt *S) {
  std::optional<CountedLoop> L = readCountedLoop(F, K, S);
  if (!L || L->Down || (L->Step && F.constantOf(L->Step, K) != 1u) ||
      (L->Compare != BO_LT && L->Compare != BO_LE))
    return Reason(why::OddLoopLine, F.lineOf(S));
  LanesCheck Check(F, K, A, *L);
  if (WhyNot Why = Check.run())
    return Reason(why::AtLine, F.lineOf(S), *Why);
  for (const auto &[V, Operation] : Check.Sums.all())
    if (!isSummable(V, Operation))
      return Reason(why::NoShuffle, nameOf(V));
  return LaneLoop{*L, Check.Sums.all()};
}

static std::string combined(const std::string &Name,
                            const std::string &Operation) {
  std::string Other = "__shfl_xor_sync(0xffffffffu, " + Name + ", offset)";
  return Operation == "+" ? Name + " + " + Other
                          : Operation + "(" + Name + ", " + Other + ")";
}

std::optional<std::string> stark::laneLoopText(const Facts &F,
                                               const LaneLoop &S,
                                               const std::string &Lane,
                                               unsigned Lanes) {
  const ForStmt *For = S.L.S;
  std::optional<Range> Whole = F.statementRange(For),
                       Start = F.range(S.L.Start),
                       Step = F.range(For->getInc());
  if (!Whole || !Start || !Step)
    return std::nullopt;
  std::string First = asOperand(F.text(*Start)) + " + " + Lane;
  // "size_t i{0 + lane}" would narrow.
  if (llvm::isa_and_nonnull<InitListExpr>(S.L.I->getInit()))
    First = "static_cast<" + F.typeName(S.L.I->getType().getUnqualifiedType()) +
            ">(" + First + ")";
  std::optional<std::string> Loop =
      substituted(F.text(), *Whole,
                  {{*Start, First},
                   {*Step, nameOf(S.L.I) + " += " + std::to_string(Lanes)}});
  if (!Loop)
    return std::nullopt;
  std::string Before, After;
  for (const auto &[V, Operation] : S.Sums) {
    std::string Name = nameOf(V), Kept = F.freshName(Name + "_before");
    if (Operation == "+")
      Before += "const " + F.typeName(V->getType()) + " " + Kept + " = " +
                Name + ";\n" + Name + " = 0;\n";
    After +=
        llvm::cantFail(Sum.fill({{"name", Name},
                                 {"half", std::to_string(Lanes / 2)},
                                 {"combined", combined(Name, Operation)}}));
    if (Operation == "+")
      After += Name + " += " + Kept + ";\n";
  }
  return Before + *Loop + After;
}
