//===- PtxBits.cpp - Bits and bytes in PTX --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxInstruction.h"

using namespace llvm;
using namespace stark::sim;

namespace {
/// Words of 32 bits, but for counts.
class Bits : public PtxInstruction {
public:
  Bits(const PtxInstruction &I, const PtxType &T, Value *X)
      : PtxInstruction(I), T(T), X(X) {}
  bool run();

private:
  Value *wide(Value *V) const { return B.CreateZExt(V, B.getInt64Ty()); }
  Value *narrow(Value *V) const { return B.CreateTrunc(V, B.getInt32Ty()); }
  Value *least(Value *V, Value *W) const {
    return B.CreateBinaryIntrinsic(Intrinsic::umin, V, W);
  }
  bool anyFunction();
  bool permute();
  bool funnelShift();
  bool field(bool Inserts);

  PtxType T, Int{'u', 32, 1};
  Value *X;
};
} // namespace

/// lop3: any function of three bits, by its table.
bool Bits::anyFunction() {
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

/// prmt.
bool Bits::permute() {
  Value *Y = in(2, T), *Choice = in(3, T);
  if (!Y || !Choice)
    return false;
  Value *Both = B.CreateOr(B.CreateShl(wide(Y), 32), wide(X));
  Value *R = B.getInt32(0);
  for (unsigned I = 0; I < 4; ++I) {
    Value *Which = B.CreateAnd(B.CreateLShr(Choice, I * 4), 15);
    Value *Byte = B.CreateTrunc(
        B.CreateLShr(Both, wide(B.CreateShl(B.CreateAnd(Which, 7), 3))),
        B.getInt8Ty());
    // The highest bit asks for the byte's sign, eight times.
    Value *Sign = B.CreateAShr(Byte, 7);
    Byte = B.CreateSelect(B.CreateICmpUGT(Which, B.getInt32(7)), Sign, Byte);
    R = B.CreateOr(R, B.CreateShl(B.CreateZExt(Byte, B.getInt32Ty()), I * 8));
  }
  return out(T, R);
}

/// shf.
bool Bits::funnelShift() {
  Value *Y = in(2, T), *By = in(3, Int);
  if (!Y || !By)
    return false;
  By = S.has("wrap") ? B.CreateAnd(By, 31) : least(By, B.getInt32(32));
  Value *Both = B.CreateOr(B.CreateShl(wide(Y), 32), wide(X));
  Value *R = S.has("l") ? B.CreateLShr(B.CreateShl(Both, wide(By)), 32)
                        : B.CreateLShr(Both, wide(By));
  return out(T, narrow(R));
}

/// bfe and bfi.
bool Bits::field(bool Inserts) {
  Value *Base = Inserts ? in(2, T) : nullptr;
  Value *At = in(2 + Inserts, Int), *Length = in(3 + Inserts, Int);
  if (!At || !Length || (Inserts && !Base))
    return false;
  // In 64 bits no shift goes too far.
  Value *Limit = B.getInt32(32);
  At = wide(least(B.CreateAnd(At, 255), Limit));
  Length = wide(least(B.CreateAnd(Length, 255), Limit));
  Value *Ones = B.CreateSub(B.CreateShl(B.getInt64(1), Length), B.getInt64(1));
  Value *R = nullptr;
  if (Inserts) {
    Value *Mask = B.CreateShl(Ones, At);
    R = B.CreateOr(B.CreateAnd(wide(Base), B.CreateNot(Mask)),
                   B.CreateAnd(B.CreateShl(wide(X), At), Mask));
  } else if (T.Kind == 's') {
    // A field that ends beyond the word repeats the word's sign.
    Value *Field = B.CreateAShr(B.CreateSExt(X, B.getInt64Ty()), At);
    Value *Left = B.CreateSub(B.getInt64(64), Length);
    Value *Extended =
        B.CreateAShr(B.CreateShl(Field, least(Left, B.getInt64(63))),
                     least(Left, B.getInt64(63)));
    R = B.CreateSelect(B.CreateIsNull(Length), B.getInt64(0), Extended);
  } else {
    R = B.CreateAnd(B.CreateLShr(wide(X), At), Ones);
  }
  return out(Int, narrow(R));
}

bool Bits::run() {
  StringRef Name = S.Words[0];
  if (Name == "popc")
    return out(Int, narrow(unary(Intrinsic::ctpop, X)));
  if (Name == "clz")
    return out(
        Int, narrow(B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getFalse())));
  if (Name == "brev")
    return out(T, unary(Intrinsic::bitreverse, X));
  if (T.Bits != 32)
    return false;
  if (Name == "lop3")
    return S.Operands.size() == 5 && anyFunction();
  if (Name == "prmt")
    return S.Words.size() == 2 && permute();
  if (Name == "shf")
    return funnelShift();
  return (Name == "bfe" || Name == "bfi") && field(Name == "bfi");
}

bool stark::sim::ptxBits(const PtxInstruction &I, const PtxType &T) {
  if (T.floats() || T.Lanes > 1 || T.Bits < 32)
    return false;
  Value *X = I.in(1, T);
  return X && Bits(I, T, X).run();
}
