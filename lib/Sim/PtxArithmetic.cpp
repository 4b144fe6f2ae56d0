//===- PtxArithmetic.cpp - Arithmetic and comparisons in PTX --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Rounding other than to nearest, and whatever else is not listed here, is
/// not known: no answer is better than a wrong one.
///
//===----------------------------------------------------------------------===//

#include "PtxInstruction.h"

using namespace llvm;
using namespace stark::sim;

namespace {
class Arithmetic : public PtxInstruction {
public:
  using PtxInstruction::PtxInstruction;
  bool run();

private:
  Value *unit(StringRef Name, Intrinsic::ID Id, Value *V);
  bool special(const PtxType &T);
  bool floating(const PtxType &T);
  bool integer(const PtxType &T);
  bool shift(const PtxType &T, Value *X);
  bool multiply(const PtxType &T);
  bool compare(const PtxType &T);
  bool select(const PtxType &T);
};
} // namespace

Value *PtxInstruction::flushed(Value *V) const {
  if (!S.has("ftz") || !V || !V->getType()->isFloatTy())
    return V;
  Value *Zero = B.CreateBinaryIntrinsic(Intrinsic::copysign,
                                        ConstantFP::get(V->getType(), 0.0), V);
  Value *Small = B.CreateFCmpOLT(unary(Intrinsic::fabs, V),
                                 ConstantFP::get(V->getType(), 0x1p-126));
  return B.CreateSelect(Small, Zero, V);
}

Value *PtxInstruction::saturated(Value *V) const {
  if (!S.has("sat"))
    return V;
  Type *T = V->getType();
  return B.CreateMinNum(B.CreateMaxNum(V, ConstantFP::get(T, 0.0)),
                        ConstantFP::get(T, 1.0));
}

/// One instruction of the special function unit, by the name that the pass that
/// counts knows such functions by.
Value *Arithmetic::unit(StringRef Name, Intrinsic::ID Id, Value *V) {
  Type *T = V->getType();
  std::string Symbol =
      ("__stark_sim_unit_ptx_" + Name + (T->isDoubleTy() ? "_f64" : "")).str();
  Function *F = P.M.getFunction(Symbol);
  if (!F) {
    F = Function::Create(FunctionType::get(T, {T}, false),
                         GlobalValue::InternalLinkage, Symbol, P.M);
    F->addFnAttr(Attribute::NoInline);
    F->addFnAttr(Attribute::NoUnwind);
    F->setDoesNotAccessMemory();
    IRBuilder<> Body(BasicBlock::Create(P.M.getContext(), "", F));
    Value *X = F->getArg(0), *One = ConstantFP::get(T, 1.0);
    Value *R =
        Name == "rcp" ? Body.CreateFDiv(One, X)
        : Name == "tanh"
            ? Body.CreateCall(P.M.getOrInsertFunction("tanhf", T, T), {X})
            : cast<Value>(Body.CreateUnaryIntrinsic(Id, X));
    if (Name == "rsqrt")
      R = Body.CreateFDiv(One, R);
    Body.CreateRet(R);
  }
  return B.CreateCall(F, {V});
}

bool Arithmetic::special(const PtxType &T) {
  StringRef Name = S.Words[0];
  if (T.Kind != 'f' || T.Lanes > 1 || T.Bits < 32 || S.Operands.size() != 2)
    return false;
  struct Known {
    const char *Name;
    Intrinsic::ID Id;
  };
  static const Known List[] = {
      {"ex2", Intrinsic::exp2},          {"lg2", Intrinsic::log2},
      {"sin", Intrinsic::sin},           {"cos", Intrinsic::cos},
      {"rcp", Intrinsic::not_intrinsic}, {"rsqrt", Intrinsic::sqrt},
      {"sqrt", Intrinsic::sqrt},         {"tanh", Intrinsic::not_intrinsic}};
  for (const Known &K : List)
    if (Name == K.Name) {
      bool Exact = Name == "rcp" || Name == "sqrt";
      if (!S.has("approx") && !(Exact && S.has("rn")))
        return false;
      if (T.Bits == 64 && !Exact && Name != "rsqrt")
        return false;
      Value *V = in(1, T);
      return V && out(T, flushed(unit(Name, K.Id, flushed(V))));
    }
  return false;
}

bool Arithmetic::floating(const PtxType &T) {
  if (!T.floats())
    return false;
  for (const char *Word : {"rz", "rm", "rp", "relu", "xorsign", "oob", "NaN"})
    if (S.has(Word))
      return false;
  StringRef Name = S.Words[0];
  Value *X = flushed(in(1, T));
  if (!X)
    return false;
  if (Name == "neg")
    return out(T, B.CreateFNeg(X));
  if (Name == "abs")
    return out(T, unary(Intrinsic::fabs, X));
  Value *Y = flushed(in(2, T));
  if (!Y)
    return false;
  if (Name == "copysign") // of the first operand to the second
    return out(T, B.CreateBinaryIntrinsic(Intrinsic::copysign, Y, X));
  Value *R = Name == "add"   ? B.CreateFAdd(X, Y)
             : Name == "sub" ? B.CreateFSub(X, Y)
             : Name == "mul" ? B.CreateFMul(X, Y)
             : Name == "min" ? B.CreateMinNum(X, Y)
             : Name == "max" ? B.CreateMaxNum(X, Y)
             : Name == "div" ? B.CreateFDiv(X, Y)
                             : nullptr;
  if (Name == "fma" || Name == "mad") {
    Value *Z = flushed(in(3, T));
    R = Z ? B.CreateIntrinsic(Intrinsic::fma, {X->getType()}, {X, Y, Z})
          : nullptr;
  }
  return R && out(T, flushed(saturated(R)));
}

/// mul and mad: the low half, the high half, or all of the product.
bool Arithmetic::multiply(const PtxType &T) {
  Value *X = in(1, T), *Y = in(2, T);
  if (!X || !Y || S.has("sat") || S.has("cc"))
    return false;
  bool Signed = T.Kind == 's', Adds = S.Words[0] == "mad";
  Type *Double = B.getIntNTy(T.Bits * 2);
  auto Wide = [&](Value *V) {
    return Signed ? B.CreateSExt(V, Double) : B.CreateZExt(V, Double);
  };
  PtxType To = T;
  Value *R = nullptr;
  if (S.has("lo"))
    R = B.CreateMul(X, Y);
  else if (S.has("hi"))
    R = B.CreateTrunc(B.CreateLShr(B.CreateMul(Wide(X), Wide(Y)), T.Bits),
                      X->getType());
  else if (S.has("wide") && T.Bits < 64) {
    R = B.CreateMul(Wide(X), Wide(Y));
    To.Bits *= 2;
  } else
    return false;
  if (Adds) {
    Value *Z = in(3, To);
    if (!Z)
      return false;
    R = B.CreateAdd(R, Z);
  }
  return out(To, R);
}

bool Arithmetic::shift(const PtxType &T, Value *X) {
  bool Left = S.Words[0] == "shl", Signed = T.Kind == 's';
  // A shift by more than there is shifts all of it out.
  Value *By = in(2, PtxType{'u', 32, 1});
  if (!By)
    return false;
  Value *Far = B.CreateICmpUGE(By, B.getInt32(T.Bits));
  Value *N = B.CreateZExtOrTrunc(
      B.CreateSelect(Far, B.getInt32(Signed ? T.Bits - 1 : 0), By),
      X->getType());
  Value *R = Left     ? B.CreateShl(X, N)
             : Signed ? B.CreateAShr(X, N)
                      : B.CreateLShr(X, N);
  bool Zero = Left || !Signed;
  return out(T,
             Zero ? B.CreateSelect(Far, Constant::getNullValue(X->getType()), R)
                  : R);
}

bool Arithmetic::integer(const PtxType &T) {
  if (T.floats())
    return false;
  StringRef Name = S.Words[0];
  if (Name == "mul" || Name == "mad")
    return multiply(T);
  if (S.has("sat") || S.has("cc"))
    return false;
  bool Signed = T.Kind == 's';
  Value *X = in(1, T);
  if (!X)
    return false;
  if (Name == "not")
    return out(T, B.CreateNot(X));
  if (Name == "neg")
    return out(T, B.CreateNeg(X));
  if (Name == "abs")
    return out(T, B.CreateBinaryIntrinsic(Intrinsic::abs, X, B.getFalse()));
  if (Name == "shl" || Name == "shr")
    return shift(T, X);
  Value *Y = in(2, T);
  if (!Y)
    return false;
  if (Name == "div" || Name == "rem") {
    // Division by zero has no value in PTX; here it must not end the process.
    Value *By =
        B.CreateSelect(B.CreateIsNull(Y), ConstantInt::get(Y->getType(), 1), Y);
    return out(T, Name == "div"
                      ? Signed ? B.CreateSDiv(X, By) : B.CreateUDiv(X, By)
                  : Signed ? B.CreateSRem(X, By)
                           : B.CreateURem(X, By));
  }
  Intrinsic::ID Least = Signed ? Intrinsic::smin : Intrinsic::umin,
                Most = Signed ? Intrinsic::smax : Intrinsic::umax;
  return out(T, Name == "add"   ? B.CreateAdd(X, Y)
                : Name == "sub" ? B.CreateSub(X, Y)
                : Name == "and" ? B.CreateAnd(X, Y)
                : Name == "or"  ? B.CreateOr(X, Y)
                : Name == "xor" ? B.CreateXor(X, Y)
                : Name == "min" ? B.CreateBinaryIntrinsic(Least, X, Y)
                : Name == "max" ? B.CreateBinaryIntrinsic(Most, X, Y)
                                : nullptr);
}

/// setp: no second predicate and no combination with a third operand.
bool Arithmetic::compare(const PtxType &T) {
  if (S.Words.size() < 3 || S.Operands.size() != 3 || T.Lanes > 1)
    return false;
  Value *X = flushed(in(1, T)), *Y = flushed(in(2, T));
  if (!X || !Y)
    return false;
  struct Relation {
    const char *Name;
    CmpInst::Predicate Float, Signed, Unsigned;
  };
  static const Relation List[] = {
      {"eq", CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ},
      {"ne", CmpInst::FCMP_ONE, CmpInst::ICMP_NE, CmpInst::ICMP_NE},
      {"lt", CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
      {"le", CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE},
      {"gt", CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT},
      {"ge", CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE},
      {"equ", CmpInst::FCMP_UEQ, CmpInst::BAD_ICMP_PREDICATE,
       CmpInst::BAD_ICMP_PREDICATE},
      {"neu", CmpInst::FCMP_UNE, CmpInst::BAD_ICMP_PREDICATE,
       CmpInst::BAD_ICMP_PREDICATE},
      {"ltu", CmpInst::FCMP_ULT, CmpInst::BAD_ICMP_PREDICATE,
       CmpInst::BAD_ICMP_PREDICATE},
      {"gtu", CmpInst::FCMP_UGT, CmpInst::BAD_ICMP_PREDICATE,
       CmpInst::BAD_ICMP_PREDICATE},
      {"num", CmpInst::FCMP_ORD, CmpInst::BAD_ICMP_PREDICATE,
       CmpInst::BAD_ICMP_PREDICATE},
      {"nan", CmpInst::FCMP_UNO, CmpInst::BAD_ICMP_PREDICATE,
       CmpInst::BAD_ICMP_PREDICATE}};
  for (const Relation &R : List)
    if (S.Words[1] == R.Name) {
      CmpInst::Predicate Which = T.floats()      ? R.Float
                                 : T.Kind == 's' ? R.Signed
                                                 : R.Unsigned;
      return Which != CmpInst::BAD_ICMP_PREDICATE &&
             P.write(S.Operands[0], B.CreateCmp(Which, X, Y));
    }
  return false;
}

bool Arithmetic::select(const PtxType &T) {
  Value *X = in(1, T), *Y = in(2, T);
  Value *Held = S.Operands.size() == 4 ? P.read(S.Operands[3], 1) : nullptr;
  return X && Y && Held && out(T, B.CreateSelect(Held, X, Y));
}

bool Arithmetic::run() {
  StringRef Name = S.Words[0];
  if (Name == "cvt")
    return ptxConvert(*this);
  // popc, clz and the like name the type they read, as all others do.
  std::optional<PtxType> T = parsePtxType(S.Words.back());
  if (!T || S.Operands.size() < 2)
    return false;
  if (Name == "setp")
    return compare(*T);
  if (Name == "selp")
    return select(*T);
  return special(*T) || ptxBits(*this, *T) || floating(*T) || integer(*T);
}

bool stark::sim::ptxArithmetic(PtxBody &P, const PtxStatement &S) {
  return Arithmetic(P, S).run();
}
