//===- PtxArithmetic.cpp - Arithmetic and conversions in PTX --------------===//
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

#include "Ptx.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace stark::sim;

namespace {
class Arithmetic {
public:
  Arithmetic(PtxBody &P, const PtxStatement &S) : P(P), B(P.B), S(S) {}
  bool run();

private:
  Value *in(size_t I, const PtxType &T) {
    return I < S.Operands.size() ? P.readAs(S.Operands[I], T) : nullptr;
  }
  bool out(const PtxType &T, Value *V) {
    return V && P.writeAs(S.Operands[0], T, V);
  }
  Value *unary(Intrinsic::ID Id, Value *V) {
    return B.CreateUnaryIntrinsic(Id, V);
  }
  Value *flushed(Value *V);
  Value *saturated(Value *V);
  Value *unit(StringRef Name, Intrinsic::ID Id, Value *V);
  bool special(const PtxType &T);
  bool floating(const PtxType &T);
  bool integer(const PtxType &T);
  bool multiply(const PtxType &T);
  bool bits(const PtxType &T);
  bool compare(const PtxType &T);
  bool select(const PtxType &T);
  bool convert();
  bool pack();
  Value *toInteger(Value *V, const PtxType &From, const PtxType &To);

  PtxBody &P;
  IRBuilder<> &B;
  const PtxStatement &S;
};
} // namespace

/// .ftz: numbers below the normal ones are zeros.
Value *Arithmetic::flushed(Value *V) {
  if (!S.has("ftz") || !V || !V->getType()->isFloatTy())
    return V;
  Value *Zero = B.CreateBinaryIntrinsic(Intrinsic::copysign,
                                        ConstantFP::get(V->getType(), 0.0), V);
  Value *Small = B.CreateFCmpOLT(unary(Intrinsic::fabs, V),
                                 ConstantFP::get(V->getType(), 0x1p-126));
  return B.CreateSelect(Small, Zero, V);
}

/// .sat: within [0, 1], and no NaN.
Value *Arithmetic::saturated(Value *V) {
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
  if (Name == "shl" || Name == "shr") {
    // A shift by more than there is shifts all of it out.
    Value *By = in(2, PtxType{'u', 32, 1});
    if (!By)
      return false;
    Value *Far = B.CreateICmpUGE(By, B.getInt32(T.Bits));
    Value *N = B.CreateZExtOrTrunc(
        B.CreateSelect(Far, B.getInt32(Signed ? T.Bits - 1 : 0), By),
        X->getType());
    Value *R = Name == "shl" ? B.CreateShl(X, N)
               : Signed      ? B.CreateAShr(X, N)
                             : B.CreateLShr(X, N);
    bool Zero = Name == "shl" || !Signed;
    return out(
        T, Zero ? B.CreateSelect(Far, Constant::getNullValue(X->getType()), R)
                : R);
  }
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

/// Instructions on single bits and bytes.
bool Arithmetic::bits(const PtxType &T) {
  StringRef Name = S.Words[0];
  PtxType U{'u', T.Bits, 1}, Int{'u', 32, 1};
  if (T.floats() || T.Lanes > 1 || T.Bits < 32)
    return false;
  Value *X = in(1, T);
  if (!X)
    return false;
  if (Name == "popc")
    return out(Int, B.CreateTrunc(unary(Intrinsic::ctpop, X), B.getInt32Ty()));
  if (Name == "clz")
    return out(Int, B.CreateTrunc(B.CreateBinaryIntrinsic(Intrinsic::ctlz, X,
                                                          B.getFalse()),
                                  B.getInt32Ty()));
  if (Name == "brev")
    return out(T, unary(Intrinsic::bitreverse, X));
  Type *Long = B.getInt64Ty();
  auto Wide = [&](Value *V) { return B.CreateZExt(V, Long); };
  if (Name == "lop3" && T.Bits == 32 && S.Operands.size() == 5) {
    Value *Y = in(2, T), *Z = in(3, T);
    std::optional<uint64_t> Table = P.constantOf(S.Operands[4]);
    if (!Y || !Z || !Table || S.has("and") || S.has("or"))
      return false;
    Value *R = B.getInt32(0);
    for (unsigned Row = 0; Row < 8; ++Row)
      if (*Table >> Row & 1) {
        Value *A = Row & 4 ? X : B.CreateNot(X),
              *C = Row & 2 ? Y : B.CreateNot(Y),
              *D = Row & 1 ? Z : B.CreateNot(Z);
        R = B.CreateOr(R, B.CreateAnd(A, B.CreateAnd(C, D)));
      }
    return out(T, R);
  }
  if (Name == "prmt" && T.Bits == 32 && S.Words.size() == 2) {
    Value *Y = in(2, T), *Choice = in(3, T);
    if (!Y || !Choice)
      return false;
    Value *Both = B.CreateOr(B.CreateShl(Wide(Y), 32), Wide(X));
    Value *R = B.getInt32(0);
    for (unsigned I = 0; I < 4; ++I) {
      Value *Which = B.CreateAnd(B.CreateLShr(Choice, I * 4), 15);
      Value *Byte = B.CreateTrunc(
          B.CreateLShr(Both, Wide(B.CreateShl(B.CreateAnd(Which, 7), 3))),
          B.getInt8Ty());
      // The highest bit asks for the byte's sign, eight times.
      Value *Sign = B.CreateAShr(Byte, 7);
      Byte = B.CreateSelect(B.CreateICmpUGT(Which, B.getInt32(7)), Sign, Byte);
      R = B.CreateOr(R, B.CreateShl(B.CreateZExt(Byte, B.getInt32Ty()), I * 8));
    }
    return out(T, R);
  }
  if (Name == "shf" && T.Bits == 32) {
    Value *Y = in(2, T), *By = in(3, Int);
    if (!Y || !By)
      return false;
    By = S.has("wrap")
             ? B.CreateAnd(By, 31)
             : B.CreateBinaryIntrinsic(Intrinsic::umin, By, B.getInt32(32));
    Value *Both = B.CreateOr(B.CreateShl(Wide(Y), 32), Wide(X));
    Value *R = S.has("l") ? B.CreateLShr(B.CreateShl(Both, Wide(By)), 32)
                          : B.CreateLShr(Both, Wide(By));
    return out(T, B.CreateTrunc(R, B.getInt32Ty()));
  }
  if ((Name == "bfe" || Name == "bfi") && T.Bits == 32) {
    bool Inserts = Name == "bfi";
    Value *Base = Inserts ? in(2, T) : nullptr;
    Value *At = in(2 + Inserts, Int), *Length = in(3 + Inserts, Int);
    if (!At || !Length || (Inserts && !Base))
      return false;
    // In 64 bits no shift goes too far.
    Value *Limit = B.getInt32(32);
    At = Wide(
        B.CreateBinaryIntrinsic(Intrinsic::umin, B.CreateAnd(At, 255), Limit));
    Length = Wide(B.CreateBinaryIntrinsic(Intrinsic::umin,
                                          B.CreateAnd(Length, 255), Limit));
    Value *Ones =
        B.CreateSub(B.CreateShl(B.getInt64(1), Length), B.getInt64(1));
    Value *R = nullptr;
    if (Inserts) {
      Value *Mask = B.CreateShl(Ones, At);
      R = B.CreateOr(B.CreateAnd(Wide(Base), B.CreateNot(Mask)),
                     B.CreateAnd(B.CreateShl(Wide(X), At), Mask));
    } else if (T.Kind == 's') {
      // A field that ends beyond the word repeats the word's sign.
      Value *Field = B.CreateAShr(B.CreateSExt(X, Long), At);
      Value *Left = B.CreateSub(B.getInt64(64), Length);
      Value *Extended = B.CreateAShr(
          B.CreateShl(Field, B.CreateBinaryIntrinsic(Intrinsic::umin, Left,
                                                     B.getInt64(63))),
          B.CreateBinaryIntrinsic(Intrinsic::umin, Left, B.getInt64(63)));
      R = B.CreateSelect(B.CreateIsNull(Length), B.getInt64(0), Extended);
    } else {
      R = B.CreateAnd(B.CreateLShr(Wide(X), At), Ones);
    }
    return out(U, B.CreateTrunc(R, B.getInt32Ty()));
  }
  return false;
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

/// cvt.rn.f16x2.f32 d, high, low.
bool Arithmetic::pack() {
  std::optional<PtxType> To = parsePtxType(S.Words[S.Words.size() - 2]);
  Value *High = in(1, {'f', 32, 1}), *Low = in(2, {'f', 32, 1});
  if (!To || To->Lanes != 2 || !High || !Low || !S.has("rn") || S.has("relu") ||
      S.has("satfinite"))
    return false;
  Type *One = P.typeOf({To->Kind, 16, 1});
  Value *V = PoisonValue::get(P.typeOf(*To));
  V = B.CreateInsertElement(V, B.CreateFPTrunc(Low, One), uint64_t(0));
  V = B.CreateInsertElement(V, B.CreateFPTrunc(High, One), uint64_t(1));
  return out(*To, V);
}

Value *Arithmetic::toInteger(Value *V, const PtxType &From, const PtxType &To) {
  Intrinsic::ID Round = S.has("rni")   ? Intrinsic::roundeven
                        : S.has("rzi") ? Intrinsic::trunc
                        : S.has("rmi") ? Intrinsic::floor
                        : S.has("rpi") ? Intrinsic::ceil
                                       : Intrinsic::not_intrinsic;
  // What a NaN becomes depends on both types.
  if (Round == Intrinsic::not_intrinsic || From.Bits < 32 || To.Bits > 32)
    return nullptr;
  return B.CreateIntrinsic(To.Kind == 's' ? Intrinsic::fptosi_sat
                                          : Intrinsic::fptoui_sat,
                           {P.typeOf(To), V->getType()}, {unary(Round, V)});
}

bool Arithmetic::convert() {
  if (S.Words.size() < 3)
    return false;
  if (S.Operands.size() == 3)
    return pack();
  StringRef ToWord = S.Words[S.Words.size() - 2];
  std::optional<PtxType> From = parsePtxType(S.Words.back());
  if (ToWord == "tf32" && From && S.has("rna")) {
    // To 10 bits, halves away from zero.
    Value *V = in(1, {'u', 32, 1});
    return V &&
           out({'u', 32, 1}, B.CreateAnd(B.CreateAdd(V, B.getInt32(0x1000)),
                                         B.getInt32(0xffffe000)));
  }
  std::optional<PtxType> To = parsePtxType(ToWord);
  if (!From || !To || From->Lanes > 1 || To->Lanes > 1 ||
      S.Operands.size() != 2 || S.has("relu") || S.has("satfinite"))
    return false;
  Value *V = flushed(in(1, *From));
  if (!V)
    return false;
  if (!From->floats() && !To->floats()) {
    if (S.has("sat"))
      return false;
    V = From->Kind == 's' ? B.CreateSExtOrTrunc(V, P.typeOf(*To))
                          : B.CreateZExtOrTrunc(V, P.typeOf(*To));
    return out(*To, V);
  }
  if (From->floats() && !To->floats())
    return out(*To, toInteger(V, *From, *To));
  if (!From->floats())
    return S.has("rn") && !S.has("sat") && From->Bits >= 8 &&
           out(*To, From->Kind == 's' ? B.CreateSIToFP(V, P.typeOf(*To))
                                      : B.CreateUIToFP(V, P.typeOf(*To)));
  if (From->Bits == To->Bits && From->Kind == To->Kind) {
    Intrinsic::ID Round = S.has("rni")   ? Intrinsic::roundeven
                          : S.has("rzi") ? Intrinsic::trunc
                          : S.has("rmi") ? Intrinsic::floor
                          : S.has("rpi") ? Intrinsic::ceil
                                         : Intrinsic::not_intrinsic;
    if (Round != Intrinsic::not_intrinsic)
      V = unary(Round, V);
    return out(*To, flushed(saturated(V)));
  }
  if (From->Bits >= To->Bits && !S.has("rn"))
    return false;
  if (From->Bits == To->Bits) // between the half types
    V = B.CreateFPExt(V, B.getFloatTy());
  V = To->Bits > V->getType()->getScalarSizeInBits()
          ? B.CreateFPExt(V, P.typeOf(*To))
          : B.CreateFPTrunc(V, P.typeOf(*To));
  return out(*To, flushed(saturated(V)));
}

bool Arithmetic::run() {
  StringRef Name = S.Words[0];
  if (Name == "cvt")
    return convert();
  // popc, clz and the like name the type they read, as all others do.
  std::optional<PtxType> T = parsePtxType(S.Words.back());
  if (!T || S.Operands.size() < 2)
    return false;
  if (Name == "setp")
    return compare(*T);
  if (Name == "selp")
    return select(*T);
  return special(*T) || bits(*T) || floating(*T) || integer(*T);
}

bool stark::sim::ptxArithmetic(PtxBody &P, const PtxStatement &S) {
  return Arithmetic(P, S).run();
}
