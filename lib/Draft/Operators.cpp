//===- Operators.cpp - What operators come to in a dry run ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Ranges.h"
#include <cmath>

using namespace stark;
using namespace stark::draft;
using namespace clang;

static Formula formulaOf(BinaryOperatorKind Op, const Value &L,
                         const Value &R) {
  auto Power = [&]() -> Formula {
    return isConstant(R.How) && R.Number >= 0 && R.Number < 62
               ? constant(int64_t(1) << R.Number)
               : nullptr;
  };
  switch (Op) {
  case BO_Add:
    return combine(Op::Add, L.How, R.How);
  case BO_Sub:
    return combine(Op::Sub, L.How, R.How);
  case BO_Mul:
    return combine(Op::Mul, L.How, R.How);
  case BO_Div:
    return R.Number > 0 && L.Number >= 0 ? combine(Op::Div, L.How, R.How)
                                         : nullptr;
  case BO_Rem:
    return R.Number > 0 && L.Number >= 0 ? combine(Op::Mod, L.How, R.How)
                                         : nullptr;
  case BO_Shl:
    return combine(Op::Mul, L.How, Power());
  case BO_Shr:
    return L.Number >= 0 ? combine(Op::Div, L.How, Power()) : nullptr;
  default:
    return nullptr;
  }
}

Value Machine::arithmetic(BinaryOperatorKind Op, const Value &L, const Value &R,
                          QualType Type) {
  Value Out;
  if (Op == BO_Add)
    noteTile(L, R);
  if (Op == BO_Shl && isExponentRead(R))
    return Value::wasRead();
  if (L.isInteger() && R.isInteger() && !Type->isRealFloatingType()) {
    std::optional<int64_t> Number = computed(Op, L.Number, R.Number);
    int64_t Bytes = sizeOf(Type);
    // All bits of a key, which is no size.
    if (!Number && Op == BO_Shl && Bytes == 8 && R.Number > 0 &&
        R.Number < 64 && Type->isUnsignedIntegerType())
      return Value::integer(int64_t(uint64_t(L.Number) << R.Number));
    if (!Number)
      return Out;
    // Sizes of ours are larger than those of the program.
    if (Type->isUnsignedIntegerType() && Bytes == 4 && *Number < 0)
      Number = int64_t(uint32_t(*Number));
    Formula How = formulaOf(Op, L, R);
    Out = Value::integer(*Number, How ? How : opaque(*Number, L.How, R.How));
    if (Op == BO_Shl && isConstant(L.How) && isName(R.How) && !As)
      Out.Exponent = R.How->Name;
    if (Op == BO_Rem)
      Out.Wraps = hasNames(R.How) ? -1 : R.Number;
    return Out;
  }
  auto Number = [](const Value &V) -> std::optional<double> {
    if (V.isInteger())
      return double(V.Number);
    return V.Kind == Value::Real ? std::optional(V.Floating) : std::nullopt;
  };
  std::optional<double> A = Number(L), B = Number(R);
  if (A && B && Type->isRealFloatingType()) {
    Formula How;
    switch (Op) {
    case BO_Add:
      return Value::real(*A + *B, combine(Op::Add, L.How, R.How));
    case BO_Sub:
      return Value::real(*A - *B, combine(Op::Sub, L.How, R.How));
    case BO_Mul:
      return Value::real(*A * *B, combine(Op::Mul, L.How, R.How));
    case BO_Div:
      if (*B == 0)
        return Out;
      if (*B > 0)
        How = combine(Op::Quotient, L.How, R.How);
      return Value::real(*A / *B, How);
    default:
      return Out;
    }
  }
  auto Scaled = [&](Value Side, const Value &By) {
    if (Op == BO_Mul)
      Side.scaleLoaded(By.isInteger() ? By.How : nullptr);
    return Side;
  };
  if (As && (Op == BO_Rem || Op == BO_Div) && Type->isIntegerType() &&
      R.Kind == Value::Unknown)
    for (Object *O : R.Loaded)
      O->Used.Divides = true;
  Out.addLoaded(Scaled(L, R));
  Out.addLoaded(Scaled(R, L));
  narrow(Op, L, R, Out);
  if ((Op == BO_Add || Op == BO_Sub) && Type->isIntegerType())
    Out.addUp(L, R);
  return Out;
}

Value Machine::addToPointer(const Value &P, const Value &I, int64_t Bytes,
                            bool Minus) {
  Value Out = P;
  if (!P.isAddress())
    return P;
  Out.addLoaded(I);
  if (!I.isInteger() || Bytes < 0) {
    Out.Exact = false;
    return Out;
  }
  Out.Offset += (Minus ? -1 : 1) * I.Number * Bytes;
  Out.OffsetHow = combine(Minus ? Op::Sub : Op::Add, P.OffsetHow,
                          combine(Op::Mul, I.How, constant(Bytes)));
  if (!Out.OffsetHow)
    Out.OffsetHow = opaque(Out.Offset, P.OffsetHow, I.How);
  return Out;
}

Value Machine::compare(BinaryOperatorKind Op, const Value &L, const Value &R) {
  if (As)
    noteGuard(Op, L, R);
  for (auto [Of, With] : {std::pair(&L, &R), std::pair(&R, &L)})
    if (With->isInteger() && !hasNames(With->How) &&
        (Op == BO_EQ || Op == BO_NE || Of->Sum))
      noteCompared(*Of, With->Number);
  for (auto [Of, With] : {std::pair(&L, &R), std::pair(&R, &L)})
    if (!As && (Op == BO_EQ || Op == BO_NE) && With->isInteger() &&
        isConstant(With->How) && Of->isInteger() && isName(Of->How) &&
        ReadNames.count(Of->How->Name))
      Asked[Of->How->Name].insert(With->Number);
  auto Truth = [&](auto A, auto B) {
    switch (Op) {
    case BO_LT:
      return A < B;
    case BO_GT:
      return A > B;
    case BO_LE:
      return A <= B;
    case BO_GE:
      return A >= B;
    case BO_EQ:
      return A == B;
    default:
      return A != B;
    }
  };
  if (L.isInteger() && R.isInteger())
    return Value::integer(Truth(L.Number, R.Number));
  if ((L.isInteger() || L.Kind == Value::Real) &&
      (R.isInteger() || R.Kind == Value::Real))
    return Value::integer(Truth(L.isInteger() ? double(L.Number) : L.Floating,
                                R.isInteger() ? double(R.Number) : R.Floating));
  if (L.isAddress() && R.isInteger() && R.Number == 0)
    return Value::integer(Op == BO_NE);
  if (L.isAddress() && R.isAddress() && L.To == R.To && L.Exact && R.Exact)
    return Value::integer(Truth(L.Offset, R.Offset));
  Value Out;
  Out.addLoaded(L);
  Out.addLoaded(R);
  return Out;
}

Value Machine::convert(const Value &V, QualType To) {
  if (V.Kind == Value::Real && To->isIntegerType()) {
    if (!std::isfinite(V.Floating) || std::fabs(V.Floating) > 9e15)
      return Value();
    int64_t Number = int64_t(V.Floating);
    Formula How = V.How;
    if (How && How->Kind == Op::Quotient)
      How = combine(Op::Div, How->Left, How->Right);
    Value Out = Value::integer(Number, How);
    Out.Exponent = V.Exponent;
    return Out;
  }
  if (V.isInteger() && To->isRealFloatingType()) {
    Value Out = Value::real(double(V.Number), V.How);
    Out.WasRead = V.WasRead;
    return Out;
  }
  if (V.isInteger() && To->isBooleanType())
    return Value::integer(V.Number != 0);
  return V;
}

Value Machine::evalCast(const CastExpr *C) {
  const Expr *Sub = C->getSubExpr();
  switch (C->getCastKind()) {
  case CK_LValueToRValue:
    if (isa<PseudoObjectExpr, MSPropertyRefExpr>(Sub->IgnoreParens()))
      return evalBuiltin(Sub->IgnoreParens());
    if (isa<MemberExpr, DeclRefExpr>(Sub->IgnoreParens()))
      if (Value V = evalBuiltin(Sub->IgnoreParens()); V.isInteger())
        return V;
    // std::min() and its kin, which are not followed, are their value.
    if (const auto *Call = dyn_cast<CallExpr>(Sub->IgnoreParens());
        Call && !isa<CXXOperatorCallExpr>(Call)) {
      Value V = eval(Call);
      return V.isAddress() ? load(placeAt(V, Call->getType())) : V;
    }
    return load(place(Sub));
  case CK_ArrayToPointerDecay: {
    Place P = place(Sub);
    if (!P)
      return Value();
    return addressOf(P);
  }
  case CK_FunctionToPointerDecay:
    return eval(Sub);
  case CK_NullToPointer:
    return Value::integer(0);
  case CK_PointerToBoolean:
  case CK_IntegralToBoolean:
  case CK_FloatingToBoolean: {
    Value V = eval(Sub);
    if (std::optional<bool> Is = truth(V))
      return Value::integer(*Is);
    return V;
  }
  case CK_UserDefinedConversion:
  case CK_ConstructorConversion:
    return eval(Sub);
  case CK_ToVoid:
    eval(Sub);
    return Value();
  default:
    break;
  }
  if (C->isGLValue()) {
    Place P = place(C);
    return load(P);
  }
  return convert(eval(Sub), C->getType());
}

Value Machine::evalBinary(const BinaryOperator *B) {
  if (B->isAssignmentOp())
    return assign(B);
  BinaryOperatorKind Op = B->getOpcode();
  if (Op == BO_Comma) {
    eval(B->getLHS());
    return eval(B->getRHS());
  }
  if (Op == BO_LAnd || Op == BO_LOr) {
    Value L = eval(B->getLHS());
    std::optional<bool> Left = truth(L);
    if (Left && *Left == (Op == BO_LOr))
      return Value::integer(*Left);
    Value R = eval(B->getRHS());
    if (std::optional<bool> Right = truth(R)) {
      if (Left || *Right == (Op == BO_LOr))
        return Value::integer(*Right);
    }
    R.Kind = Value::Unknown;
    R.addLoaded(L);
    return R;
  }
  Value L = eval(B->getLHS()), R = eval(B->getRHS());
  if (B->isComparisonOp())
    return compare(Op, L, R);
  QualType LT = B->getLHS()->getType(), RT = B->getRHS()->getType();
  if (LT->isPointerType() && RT->isIntegerType())
    return addToPointer(L, R, sizeOf(LT->getPointeeType()), Op == BO_Sub);
  if (RT->isPointerType() && LT->isIntegerType())
    return addToPointer(R, L, sizeOf(RT->getPointeeType()), false);
  if (LT->isPointerType() && RT->isPointerType()) {
    int64_t Bytes = sizeOf(LT->getPointeeType());
    if (L.isAddress() && R.isAddress() && L.To == R.To && L.Exact && R.Exact &&
        Bytes > 0)
      return Value::integer((L.Offset - R.Offset) / Bytes);
    return Value();
  }
  Value Out = arithmetic(Op, L, R, B->getType());
  return Op == BO_Add ? sumRoundedUp(B, L, R, std::move(Out)) : Out;
}

Value Machine::assign(const BinaryOperator *B) {
  if (B->getOpcode() == BO_Assign) {
    Value V = eval(B->getRHS());
    Place P = place(B->getLHS());
    if (P.Type.isNull())
      return V;
    if (P.Type->isRecordType()) {
      copy(P, placeAt(V, P.Type));
      return V;
    }
    V = convert(V, P.Type);
    const Expr *Left = B->getLHS()->IgnoreParens();
    if (P.Type->isIntegerType() && !P.Type->isBooleanType() &&
        isa<DeclRefExpr, MemberExpr>(Left)) {
      const auto *Ref = dyn_cast<DeclRefExpr>(Left);
      const ValueDecl *Of =
          Ref ? Ref->getDecl() : cast<MemberExpr>(Left)->getMemberDecl();
      std::string Name = Of->getNameAsString();
      // A number of blocks or threads is what the program says.
      const auto *Field = dyn_cast<FieldDecl>(Of);
      if (!Field || Field->getParent()->getName() != "dim3")
        V = named(readResult(V, Name), Name);
    }
    store(P, V);
    return V;
  }
  const auto *Compound = cast<CompoundAssignOperator>(B);
  Value R = eval(B->getRHS());
  Place P = place(B->getLHS());
  Value L = load(P);
  BinaryOperatorKind Op =
      BinaryOperator::getOpForCompoundAssignment(B->getOpcode());
  QualType Type = B->getLHS()->getType();
  Value Out;
  if (Type->isPointerType())
    Out = addToPointer(L, R, sizeOf(Type->getPointeeType()), Op == BO_Sub);
  else
    Out = convert(arithmetic(Op, convert(L, Compound->getComputationLHSType()),
                             R, Compound->getComputationResultType()),
                  Type);
  store(P, Out);
  return Out;
}

Value Machine::evalUnary(const UnaryOperator *U) {
  switch (U->getOpcode()) {
  case UO_AddrOf: {
    const Expr *Sub = U->getSubExpr()->IgnoreParens();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Sub))
      if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl())) {
        return functionValue(F);
      }
    Place P = place(Sub);
    if (!P)
      return Value();
    return addressOf(P);
  }
  case UO_Deref:
    return load(place(U));
  case UO_PreInc:
  case UO_PostInc:
  case UO_PreDec:
  case UO_PostDec: {
    Place P = place(U->getSubExpr());
    Value Old = load(P), New;
    QualType Type = U->getType();
    bool Minus = U->isDecrementOp();
    if (Type->isPointerType())
      New = addToPointer(Old, Value::integer(1), sizeOf(Type->getPointeeType()),
                         Minus);
    else
      New = arithmetic(Minus ? BO_Sub : BO_Add, Old, Value::integer(1), Type);
    store(P, New);
    return U->isPrefix() ? New : Old;
  }
  case UO_Minus: {
    Value V = eval(U->getSubExpr());
    if (V.Kind == Value::Real)
      return Value::real(-V.Floating);
    if (V.isInteger())
      return Value::integer(-V.Number, opaque(-V.Number, V.How));
    return V;
  }
  case UO_LNot: {
    Value V = eval(U->getSubExpr());
    if (std::optional<bool> Is = truth(V))
      return Value::integer(!*Is);
    V.Kind = Value::Unknown;
    return V;
  }
  case UO_Not: {
    Value V = eval(U->getSubExpr());
    if (V.isInteger())
      return Value::integer(~V.Number, opaque(~V.Number, V.How));
    return V;
  }
  case UO_Plus:
  case UO_Extension:
    return eval(U->getSubExpr());
  default:
    return Value();
  }
}
