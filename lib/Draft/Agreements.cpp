//===- Agreements.cpp - Sizes that a program wants to be one number -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   if (columns_a != rows_b) return 1; -> they are one size
/// Numbers of ours stand for what the program reads; two of them differ.
///
//===----------------------------------------------------------------------===//

#include "DryRun.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// Whether \p S launches, or calls a function that has a body.
static bool works(const Stmt *S) {
  if (!S)
    return false;
  if (launches(S))
    return true;
  if (const auto *C = dyn_cast<CallExpr>(S))
    if (const FunctionDecl *F = C->getDirectCallee())
      if (F->hasBody() && !F->isInStdNamespace() && !F->isNoReturn())
        return true;
  for (const Stmt *Child : S->children())
    if (works(Child))
      return true;
  return false;
}

/// Whether \p Cond is of what the program reads, or nobody gives, for which a
/// number of ours stands.
bool Machine::asksOfInput(const Stmt *Cond) {
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Cond))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && V->getType()->isIntegerType()) {
      std::set<std::string> Names;
      collectNames(load(placeOfVariable(V)).How, Names);
      return llvm::any_of(Names, [&](const std::string &Name) {
        return ReadNames.count(Name) || MadeUpNames.count(Name) ||
               GivenNames.count(Name);
      });
    }
  return Cond && llvm::any_of(Cond->children(), [&](const Stmt *Child) {
           return asksOfInput(Child);
         });
}

void Machine::giveNames(const Bindings &Own, const Machine *Host) {
  for (const auto &[Name, Number] : Own)
    GivenNames.insert(Name);
  if (Host)
    WholeTiles = Host->WholeTiles;
  if (Host)
    for (const auto *Names : {&Host->ReadNames, &Host->MadeUpNames})
      GivenNames.insert(Names->begin(), Names->end());
}

/// Whether \p E is a size that is ours, not the program's.
bool Machine::isOurs(const Value &V) const {
  return V.isInteger() && isName(V.How) &&
         (ReadNames.count(V.How->Name) || MadeUpNames.count(V.How->Name));
}

/// Where two sizes of ours are compared in \p Cond, by \p Op, they are one from
/// now on. With \p Constants one that is compared with a number is that number.
/// Of conditions with "or", or "and", each. False: there are none.
bool Machine::agree(const Expr *Cond, BinaryOperatorKind Op, bool Constants) {
  const auto *B = dyn_cast_or_null<BinaryOperator>(
      Cond ? Cond->IgnoreParenImpCasts() : nullptr);
  if (!B)
    return false;
  if (B->getOpcode() == (Op == BO_NE ? BO_LOr : BO_LAnd)) {
    bool Left = agree(B->getLHS(), Op, Constants);
    return agree(B->getRHS(), Op, Constants) || Left;
  }
  if (B->getOpcode() != Op || B->getLHS()->HasSideEffects(Context) ||
      B->getRHS()->HasSideEffects(Context))
    return false;
  Value L = eval(B->getLHS()), R = eval(B->getRHS());
  if (isOurs(R) && !isOurs(L))
    std::swap(L, R);
  bool Number = Constants && R.isInteger() && isConstant(R.How) && R.Number > 0;
  if (!isOurs(L) || (!Number && !isOurs(R)) ||
      (!Number && L.How->Name == R.How->Name))
    return false;
  const std::string Gone = Number ? L.How->Name : R.How->Name;
  const Formula Stays = Number ? R.How : L.How;
  auto Take = [&](Formula &How) {
    std::set<std::string> All;
    collectNames(How, All);
    if (!All.count(Gone))
      return false;
    How = substitute(How, [&](const std::string &Name) {
      return Name == Gone ? Stays : nullptr;
    });
    return true;
  };
  for (const auto &O : Heap) {
    for (auto &[At, V] : O->Cells)
      if (Take(V.How) && V.isInteger()) {
        V.Number = evaluate(V.How, Names).value_or(V.Number);
        V.Fixed |= isConstant(V.How);
      }
    if (Take(O->SizeHow))
      O->Size = evaluate(O->SizeHow, Names).value_or(O->Size);
  }
  Names.erase(Gone);
  ReadNames.erase(Gone);
  MadeUpNames.erase(Gone);
  return true;
}

/// assert(n % 32 == 0), where \p Cond holds, or if (n % 32 != 0) exit(1), where
/// it does not: a size counts whole tiles.
void Machine::noteMultiple(const Expr *Cond, bool Holds) {
  Cond = Cond->IgnoreParenImpCasts();
  if (const auto *Not = dyn_cast<UnaryOperator>(Cond);
      Not && Not->getOpcode() == UO_LNot)
    return noteMultiple(Not->getSubExpr(), !Holds);
  const auto *B = dyn_cast<BinaryOperator>(Cond);
  if (!B)
    return;
  if (B->getOpcode() == (Holds ? BO_LAnd : BO_LOr)) {
    noteMultiple(B->getLHS(), Holds);
    return noteMultiple(B->getRHS(), Holds);
  }
  if (B->getOpcode() == (Holds ? BO_EQ : BO_NE)) {
    Expr::EvalResult Zero;
    if (!B->getRHS()->EvaluateAsInt(Zero, Context) ||
        Zero.Val.getInt().getExtValue() != 0)
      return;
    B = dyn_cast<BinaryOperator>(B->getLHS()->IgnoreParenImpCasts());
  } else if (Holds) {
    return;
  }
  if (!B || B->getOpcode() != BO_Rem || B->HasSideEffects(Context))
    return;
  Value Size = eval(B->getLHS()), Tile = eval(B->getRHS());
  constexpr int64_t Most = 4096;
  if (!Size.isInteger() || !isName(Size.How) || !Tile.isInteger() ||
      !isConstant(Tile.How) || Tile.Number < 2 || Tile.Number > Most)
    return;
  int64_t &Whole = WholeTiles[Size.How->Name];
  Whole = std::max(Whole, Tile.Number);
}

/// The way that the program wants to be taken at \p S, where two sizes of ours
/// would have it report that they do not fit, or do nothing.
std::optional<bool> Machine::agreedWay(const IfStmt *S) {
  const Expr *Cond = S->getCond();
  if (As || !S->getThen())
    return std::nullopt;
  if (!S->getElse() && leaves(S->getThen()) && !launches(S->getThen()))
    noteMultiple(Cond, /*Holds=*/false);
  bool Then = works(S->getThen()), Else = works(S->getElse());
  if (Then && !Else && agree(Cond, BO_EQ))
    return true;
  bool Ends = leaves(S->getThen()) && !launches(S->getThen());
  if ((Else ? !Then : !S->getElse() && Ends) &&
      agree(Cond, BO_NE, /*Constants=*/true))
    return false;
  return std::nullopt;
}

static bool neverReturns(const Expr *E) {
  const auto *C = dyn_cast<CallExpr>(E->IgnoreParenImpCasts());
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  return F && F->isNoReturn();
}

Value Machine::evalConditional(const ConditionalOperator *C) {
  std::optional<bool> Taken;
  for (bool Holds : {true, false})
    if (!As && neverReturns(Holds ? C->getFalseExpr() : C->getTrueExpr()))
      noteMultiple(C->getCond(), Holds);
  if (!As && neverReturns(C->getFalseExpr()) &&
      agree(C->getCond(), BO_EQ, /*Constants=*/true))
    Taken = true;
  if (!Taken)
    Taken = truth(eval(C->getCond()));
  // assert(n % 6 == 0): a size of ours is as the program wants it.
  for (bool Wanted : {true, false})
    if (Taken == !Wanted && !As && asksOfInput(C->getCond()) &&
        neverReturns(Wanted ? C->getFalseExpr() : C->getTrueExpr()))
      Taken = Wanted;
  // assert(n < most): what is not known holds.
  if (!Taken && neverReturns(C->getFalseExpr()))
    Taken = true;
  else if (!Taken && neverReturns(C->getTrueExpr()))
    Taken = false;
  if (Taken)
    return roundedUp(C->getCond(),
                     eval(*Taken ? C->getTrueExpr() : C->getFalseExpr()));
  Value L = eval(C->getTrueExpr()), R = eval(C->getFalseExpr());
  L.addLoaded(R);
  L.Element = false;
  if (L.isInteger() && R.isInteger() && L.Number != R.Number) {
    L.Kind = Value::Unknown;
    L.Low = std::min(L.Number, R.Number);
    L.High = std::max(L.Number, R.Number);
    L.Step = std::max<int64_t>(*L.High - *L.Low, 1);
  }
  return L;
}
