//===- RowExpression.cpp - What a thread of another row would compute -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowExpression.h"

using namespace stark;
using namespace clang;

/// threadIdx.x \p Kind a constant: the constant.
static std::optional<uint64_t> splits(const Stmt *N, BinaryOperatorKind Kind,
                                      const Facts &F, const Kernel &K) {
  const auto *B = llvm::dyn_cast<BinaryOperator>(N);
  if (!B || B->getOpcode() != Kind ||
      !isBuiltin(resolve(B->getLHS(), K.body(), *K.Parents), "threadIdx", 'x'))
    return std::nullopt;
  return F.constantOf(B->getRHS(), K);
}

OrReason<std::optional<ThreadRows>> stark::threadRowsOf(const Facts &F,
                                                        const Kernel &K) {
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  if (!Block)
    return Block.why();
  auto [X, Y, Z] = *Block;
  if (Z != 1)
    return std::optional<ThreadRows>();
  if (Y != 1)
    return std::optional(ThreadRows{X, Y, false});
  std::set<uint64_t> Widths;
  forEach(K.body(), [&](const Stmt *N) {
    if (std::optional<uint64_t> Width = splits(N, BO_Div, F, K))
      Widths.insert(*Width);
  });
  if (Widths.size() != 1 || *Widths.begin() == 0 || X % *Widths.begin() != 0)
    return std::optional<ThreadRows>();
  return std::optional(ThreadRows{*Widths.begin(), X / *Widths.begin(), true});
}

RowExpressions::RowExpressions(const Facts &F, const Kernel &K,
                               const ThreadRows &Rows, const Uniform &Same,
                               const Stmt *Outer, const Stmt *Loop)
    : F(F), K(K), Rows(Rows), Same(Same), Loop(Loop),
      Inside(variablesDeclaredIn(Loop)) {
  for (const VarDecl *V : variablesDeclaredIn(Outer))
    Hidden.insert(nameOf(V));
}

RowExpressions::Part RowExpressions::partOf(const Stmt *N) const {
  if (Rows.Flat && splits(N, BO_Div, F, K) == Rows.Width)
    return Part::Row;
  if (Rows.Flat && splits(N, BO_Rem, F, K) == Rows.Width)
    return Part::Column;
  std::optional<BuiltinIndex> B = builtinNode(N);
  if (!B || B->Name != "threadIdx")
    return Part::None;
  if (Rows.Flat)
    return B->Axis == 'x' ? Part::Unclear : Part::None;
  return B->Axis == 'y' ? Part::Row : Part::Column;
}

void RowExpressions::forEachPart(
    const Stmt *S, llvm::function_ref<void(const Stmt *, Part)> Visit) const {
  if (!S)
    return;
  Part Is = partOf(S);
  Visit(S, Is);
  if (Is == Part::None && !llvm::isa<PseudoObjectExpr>(S))
    for (const Stmt *Child : S->children())
      forEachPart(Child, Visit);
}

/// It holds the row's number as it is.
bool RowExpressions::isRow(const VarDecl *V) const {
  return V->getInit() && V->getType()->isIntegerType() &&
         F.context().getTypeSize(V->getType()) >= 32 &&
         partOf(resolve(V->getInit(), K.body(), *K.Parents)) == Part::Row;
}

bool RowExpressions::dependsOnRow(const Stmt *S) const {
  bool Depends = false;
  forEachPart(S, [&](const Stmt *N, Part Is) {
    Depends |= Is == Part::Row;
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Depends && V && V->hasLocalStorage() && V->getInit() &&
        !llvm::isa<ParmVarDecl>(V) && (Inside.count(V) || K.keeps(V)))
      Depends = dependsOnRow(V->getInit());
  });
  return Depends;
}

/// Of what stands in \p S itself.
WhyNot RowExpressions::whyNotHere(const Stmt *S) const {
  WhyNot Why;
  forEachPart(S, [&](const Stmt *, Part Is) {
    if (Is == Part::Unclear)
      Why = Reason(why::UsesThread, "threadIdx.x");
  });
  return Why;
}

WhyNot RowExpressions::whyNot(const VarDecl *V, unsigned Depth) const {
  const Reason Differs(why::VariableDiffers, nameOf(V));
  if (!V->hasLocalStorage() || Same.at(V, Loop))
    return std::nullopt;
  if (Depth > MostSteps || !K.keeps(V) || llvm::isa<ParmVarDecl>(V) ||
      !V->getInit() || !V->getType()->isScalarType() ||
      !isPure(V->getInit(), F.context()) || readsMemory(V->getInit()))
    return Differs;
  WhyNot Why = whyNotHere(V->getInit());
  forEachPart(V->getInit(), [&](const Stmt *N, Part) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *Used = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Used)
      return;
    // What stands for V names it where something else may have its name.
    if (!Why && Hidden.count(nameOf(Used)))
      Why = Differs;
    if (!Why)
      Why = whyNot(Used, Depth + 1);
  });
  return Why;
}

WhyNot RowExpressions::whyNot(const Stmt *S,
                              llvm::ArrayRef<const VarDecl *> Free) const {
  WhyNot Why = whyNotHere(S);
  forEachPart(S, [&](const Stmt *N, Part) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (V && !Why && !Inside.count(V) && !llvm::is_contained(Free, V))
      Why = whyNot(V, 0);
  });
  return Why;
}

bool RowExpressions::substitutes(const Stmt *S, uint64_t Offset,
                                 std::vector<Instead> &Nodes) const {
  if (!Offset)
    return true;
  bool Seen = true;
  std::string Plus = " + " + std::to_string(Offset) + ")";
  forEachPart(S, [&](const Stmt *N, Part Is) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (Is == Part::Row) {
      Nodes.push_back({N, "(" + Rows.row() + Plus});
    } else if (V && V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) &&
               !Inside.count(V) && V->getInit() && K.keeps(V) &&
               dependsOnRow(V->getInit())) {
      if (isRow(V)) {
        Nodes.push_back({N, "(" + nameOf(V) + Plus});
        return;
      }
      std::vector<Instead> Within;
      std::optional<std::string> Text;
      if (substitutes(V->getInit(), Offset, Within))
        Text = F.textWith(V->getInit(), Within);
      Seen &= Text.has_value();
      if (Text)
        Nodes.push_back({N, "((" +
                                F.typeName(V->getType().getUnqualifiedType()) +
                                ")(" + *Text + "))"});
    }
  });
  return Seen;
}
