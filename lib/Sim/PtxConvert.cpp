//===- PtxConvert.cpp - Conversions in PTX --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxInstruction.h"

using namespace llvm;
using namespace stark::sim;

namespace {
class Conversion : public PtxInstruction {
public:
  Conversion(const PtxInstruction &I) : PtxInstruction(I) {}
  bool run();

private:
  Intrinsic::ID toWhole() const;
  bool pack();
  Value *toInteger(Value *V, const PtxType &From, const PtxType &To);
  bool fromOrToFloat(const PtxType &From, const PtxType &To, Value *V);
};
} // namespace

/// To a whole number in the same type, when a modifier asks for it.
Intrinsic::ID Conversion::toWhole() const {
  return S.has("rni")   ? Intrinsic::roundeven
         : S.has("rzi") ? Intrinsic::trunc
         : S.has("rmi") ? Intrinsic::floor
         : S.has("rpi") ? Intrinsic::ceil
                        : Intrinsic::not_intrinsic;
}

/// cvt.rn.f16x2.f32 d, high, low.
bool Conversion::pack() {
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

Value *Conversion::toInteger(Value *V, const PtxType &From, const PtxType &To) {
  Intrinsic::ID Round = toWhole();
  // What a NaN becomes depends on both types.
  if (Round == Intrinsic::not_intrinsic || From.Bits < 32 || To.Bits > 32)
    return nullptr;
  return B.CreateIntrinsic(To.Kind == 's' ? Intrinsic::fptosi_sat
                                          : Intrinsic::fptoui_sat,
                           {P.typeOf(To), V->getType()}, {unary(Round, V)});
}

bool Conversion::fromOrToFloat(const PtxType &From, const PtxType &To,
                               Value *V) {
  if (From.floats() && !To.floats())
    return out(To, toInteger(V, From, To));
  if (!From.floats())
    return S.has("rn") && !S.has("sat") && From.Bits >= 8 &&
           out(To, From.Kind == 's' ? B.CreateSIToFP(V, P.typeOf(To))
                                    : B.CreateUIToFP(V, P.typeOf(To)));
  if (From.Bits == To.Bits && From.Kind == To.Kind) {
    Intrinsic::ID Round = toWhole();
    if (Round != Intrinsic::not_intrinsic)
      V = unary(Round, V);
    return out(To, flushed(saturated(V)));
  }
  if (From.Bits >= To.Bits && !S.has("rn"))
    return false;
  if (From.Bits == To.Bits) // between the half types
    V = B.CreateFPExt(V, B.getFloatTy());
  V = To.Bits > V->getType()->getScalarSizeInBits()
          ? B.CreateFPExt(V, P.typeOf(To))
          : B.CreateFPTrunc(V, P.typeOf(To));
  return out(To, flushed(saturated(V)));
}

bool Conversion::run() {
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
  return fromOrToFloat(*From, *To, V);
}

bool stark::sim::ptxConvert(const PtxInstruction &I) {
  return Conversion(I).run();
}
