//===- Formula.cpp - How an integer follows from named ones --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace stark;
using namespace stark::draft;

static constexpr unsigned MostTerms = 60;

static Formula node(Op Kind, Formula Left, Formula Right) {
  if (!Left || !Right || Left->Terms + Right->Terms > MostTerms)
    return nullptr;
  auto T = std::make_shared<Term>();
  T->Terms = Left->Terms + Right->Terms;
  T->Kind = Kind;
  T->Left = std::move(Left);
  T->Right = std::move(Right);
  return T;
}

Formula draft::constant(int64_t Value) {
  auto T = std::make_shared<Term>();
  T->Number = Value;
  return T;
}

Formula draft::named(const std::string &Name) {
  auto T = std::make_shared<Term>();
  T->Kind = Op::Name;
  T->Name = Name;
  return T;
}

bool draft::isConstant(const Formula &F) {
  return F && F->Kind == Op::Constant;
}
bool draft::isName(const Formula &F) { return F && F->Kind == Op::Name; }

static bool isNumber(const Formula &F, int64_t Value) {
  return isConstant(F) && F->Number == Value;
}

Formula draft::opaque(int64_t Value, Formula Left, Formula Right) {
  if (!hasNames(Left) && !hasNames(Right))
    return constant(Value);
  auto T = std::make_shared<Term>();
  T->Kind = Op::Opaque;
  T->Number = Value;
  collectNames(Left, T->Pins);
  collectNames(Right, T->Pins);
  return T;
}

static bool same(const Formula &L, const Formula &R) {
  if (L == R)
    return true;
  return L && R && L->Kind == R->Kind && L->Number == R->Number &&
         L->Name == R->Name && L->Pins == R->Pins && same(L->Left, R->Left) &&
         same(L->Right, R->Right);
}

static std::optional<int64_t> apply(Op Kind, int64_t L, int64_t R) {
  int64_t Out = 0;
  switch (Kind) {
  case Op::Add:
    return __builtin_add_overflow(L, R, &Out) ? std::nullopt
                                              : std::optional(Out);
  case Op::Sub:
    return __builtin_sub_overflow(L, R, &Out) ? std::nullopt
                                              : std::optional(Out);
  case Op::Mul:
    return __builtin_mul_overflow(L, R, &Out) ? std::nullopt
                                              : std::optional(Out);
  case Op::Min:
    return std::min(L, R);
  case Op::Max:
    return std::max(L, R);
  case Op::Div:
  case Op::Quotient:
  case Op::Mod:
  case Op::CeilDiv:
    if (R <= 0 || L == INT64_MIN)
      return std::nullopt;
    if (Kind == Op::Mod)
      return L % R;
    return Kind == Op::CeilDiv ? (L + R - 1) / R : L / R;
  default:
    return std::nullopt;
  }
}

/// A sum as what it is without its constant, and that constant.
static std::pair<Formula, int64_t> splitSum(const Formula &F) {
  if (!F || isConstant(F))
    return {nullptr, F ? F->Number : 0};
  if ((F->Kind == Op::Add || F->Kind == Op::Sub) && isConstant(F->Right))
    return {F->Left, F->Kind == Op::Add ? F->Right->Number : -F->Right->Number};
  return {F, 0};
}

static Formula sum(const Formula &Rest, int64_t Number) {
  if (!Rest)
    return constant(Number);
  if (Number == 0)
    return Rest;
  return node(Number > 0 ? Op::Add : Op::Sub, Rest,
              constant(Number > 0 ? Number : -Number));
}

std::vector<Formula> draft::factors(const Formula &F) {
  if (F->Kind != Op::Mul)
    return {F};
  std::vector<Formula> All = factors(F->Left), Right = factors(F->Right);
  All.insert(All.end(), Right.begin(), Right.end());
  std::stable_partition(All.begin(), All.end(), isConstant);
  return All;
}

/// A product, its constants brought together at the front.
static Formula product(const std::vector<Formula> &Parts) {
  int64_t Number = 1;
  Formula Rest;
  for (const Formula &P : Parts) {
    if (isConstant(P) && !__builtin_mul_overflow(Number, P->Number, &Number))
      continue;
    Rest = Rest ? node(Op::Mul, Rest, P) : P;
  }
  if (Number == 0 || (!Rest && llvm::all_of(Parts, isConstant)))
    return constant(Number);
  if (!Rest)
    return nullptr;
  return Number == 1 ? Rest : node(Op::Mul, constant(Number), Rest);
}

/// \p F / \p By where that leaves no remainder whatever the names are; null
/// where that cannot be seen.
static Formula dividedBy(const Formula &F, const Formula &By) {
  if (same(F, By))
    return constant(1);
  if (isConstant(F))
    return isConstant(By) && By->Number && F->Number % By->Number == 0
               ? constant(F->Number / By->Number)
               : nullptr;
  if (F->Kind == Op::Add || F->Kind == Op::Sub) {
    Formula L = dividedBy(F->Left, By), R = dividedBy(F->Right, By);
    return L && R ? combine(F->Kind, L, R) : nullptr;
  }
  std::vector<Formula> Parts = factors(F);
  if (Parts.size() > 1)
    for (Formula &P : Parts)
      if (Formula Q = dividedBy(P, By)) {
        P = Q;
        return product(Parts);
      }
  return nullptr;
}

static Formula quotient(Op Kind, Formula Left, Formula Right) {
  if (!Left || !Right)
    return nullptr;
  if (isNumber(Right, 1))
    return Left;
  if (Formula Exact = dividedBy(Left, Right))
    return Exact;
  if (Kind == Op::Div) {
    // (n + b - 1) / b
    auto [Rest, Number] = splitSum(Left);
    if (isConstant(Right) && Rest && Number == Right->Number - 1)
      return combine(Op::CeilDiv, Rest, Right);
    // n + b - 1 with a name for b.
    if (Rest && Number == -1 && Rest->Kind == Op::Add) {
      if (same(Rest->Right, Right))
        return combine(Op::CeilDiv, Rest->Left, Right);
      if (same(Rest->Left, Right))
        return combine(Op::CeilDiv, Rest->Right, Right);
    }
    // (n - 1) / b + 1 is seen where 1 is added.
  }
  return node(Kind, std::move(Left), std::move(Right));
}

Formula draft::combine(Op Kind, Formula Left, Formula Right) {
  if (!Left || !Right)
    return nullptr;
  if (isConstant(Left) && isConstant(Right) && Kind != Op::Quotient)
    if (auto Value = apply(Kind, Left->Number, Right->Number))
      return constant(*Value);
  switch (Kind) {
  case Op::Add:
  case Op::Sub: {
    auto [L, LN] = splitSum(Left);
    auto [R, RN] = splitSum(Right);
    int64_t Number = Kind == Op::Add ? LN + RN : LN - RN;
    // (n - 1) / b + 1
    if (Kind == Op::Add && Number == 1 && L && !R && L->Kind == Op::Div) {
      auto [Inner, InnerNumber] = splitSum(L->Left);
      if (Inner && InnerNumber == -1)
        return combine(Op::CeilDiv, Inner, L->Right);
    }
    if (!R)
      return sum(L, Number);
    if (Kind == Op::Sub && L && same(L, R))
      return constant(Number);
    if (Kind == Op::Sub && L && L->Kind == Op::Add && same(L->Right, R))
      return sum(L->Left, Number);
    if (Kind == Op::Sub && L && L->Kind == Op::Add && same(L->Left, R))
      return sum(L->Right, Number);
    if (!L && Kind == Op::Add)
      return sum(R, Number);
    if (!L)
      return node(Op::Sub, constant(Number), R);
    return sum(node(Kind, L, R), Number);
  }
  case Op::Mul: {
    std::vector<Formula> Parts = factors(Left), More = factors(Right);
    Parts.insert(Parts.end(), More.begin(), More.end());
    return product(Parts);
  }
  case Op::Div:
  case Op::CeilDiv:
    return quotient(Kind, std::move(Left), std::move(Right));
  case Op::Min:
  case Op::Max:
    if (same(Left, Right))
      return Left;
    break;
  default:
    break;
  }
  return node(Kind, std::move(Left), std::move(Right));
}

void draft::collectNames(const Formula &F, std::set<std::string> &All,
                         std::set<std::string> *Pinned) {
  if (!F)
    return;
  if (F->Kind == Op::Name)
    All.insert(F->Name);
  All.insert(F->Pins.begin(), F->Pins.end());
  if (Pinned)
    Pinned->insert(F->Pins.begin(), F->Pins.end());
  collectNames(F->Left, All, Pinned);
  collectNames(F->Right, All, Pinned);
}

bool draft::hasNames(const Formula &F) {
  std::set<std::string> Names;
  collectNames(F, Names);
  return !Names.empty();
}

Formula
draft::substitute(const Formula &F,
                  const std::function<Formula(const std::string &)> &With) {
  if (!F || F->Kind == Op::Constant)
    return F;
  if (F->Kind == Op::Name) {
    Formula Other = With(F->Name);
    return Other ? Other : F;
  }
  if (F->Kind == Op::Opaque) {
    auto T = std::make_shared<Term>(*F);
    T->Pins.clear();
    for (const std::string &Name : F->Pins) {
      Formula Other = With(Name);
      collectNames(Other ? Other : named(Name), T->Pins);
    }
    return T->Pins.empty() ? constant(F->Number) : Formula(T);
  }
  return combine(F->Kind, substitute(F->Left, With),
                 substitute(F->Right, With));
}

std::optional<int64_t> draft::evaluate(const Formula &F,
                                       const Bindings &Names) {
  if (!F)
    return std::nullopt;
  if (F->Kind == Op::Constant || F->Kind == Op::Opaque)
    return F->Number;
  if (F->Kind == Op::Name) {
    auto Found = Names.find(F->Name);
    return Found == Names.end() ? std::nullopt : std::optional(Found->second);
  }
  auto L = evaluate(F->Left, Names), R = evaluate(F->Right, Names);
  return L && R ? apply(F->Kind, *L, *R) : std::nullopt;
}

static int strength(Op Kind) {
  switch (Kind) {
  case Op::Add:
  case Op::Sub:
    return 1;
  case Op::Mul:
  case Op::Div:
  case Op::Mod:
  case Op::Quotient:
    return 2;
  default:
    return 3;
  }
}

static const char *sign(Op Kind) {
  switch (Kind) {
  case Op::Add:
    return " + ";
  case Op::Sub:
    return " - ";
  case Op::Mul:
    return " * ";
  case Op::Mod:
    return " % ";
  default:
    return " / ";
  }
}

std::string draft::print(const Formula &F) {
  if (F->Kind == Op::Name)
    return F->Name;
  if (F->Kind == Op::Constant || F->Kind == Op::Opaque)
    return std::to_string(F->Number);
  auto Pair = [&] {
    return "(" + print(F->Left) + ", " + print(F->Right) + ")";
  };
  if (F->Kind == Op::CeilDiv)
    return "ceildiv" + Pair();
  if (F->Kind == Op::Min || F->Kind == Op::Max)
    return (F->Kind == Op::Min ? "min" : "max") + Pair();
  auto Part = [&](const Formula &P, bool Right) {
    int Inner = strength(P->Kind), Outer = strength(F->Kind);
    bool Wrap =
        Inner < Outer || (Right && Inner == Outer && F->Kind != Op::Add);
    if (Right && F->Kind == Op::Mul && P->Kind == Op::Mul)
      Wrap = false;
    return Wrap ? "(" + print(P) + ")" : print(P);
  };
  return Part(F->Left, false) + sign(F->Kind) + Part(F->Right, true);
}

std::string draft::printTriple(const Formula (&Axes)[3],
                               const char *Otherwise) {
  int Last = 2;
  while (Last > 0 &&
         (!Axes[Last] || (isConstant(Axes[Last]) && Axes[Last]->Number == 1)))
    --Last;
  std::string Text;
  for (int I = 0; I <= Last; ++I)
    Text += (I ? ", " : "") +
            (Axes[I] ? print(Axes[I]) : std::string(I ? "1" : Otherwise));
  return Text;
}
