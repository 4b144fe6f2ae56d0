//===- PtxOperands.cpp - Operands of PTX as values ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

using namespace llvm;
using namespace stark::sim;

static Value *resized(IRBuilder<> &B, Value *V, unsigned Bits) {
  return B.CreateZExtOrTrunc(V, B.getIntNTy(Bits));
}

/// A special register; null when it is not known.
Value *PtxBody::special(StringRef Name) {
  auto Register = [&](unsigned Index) {
    return call("__stark_sim_sreg", B.getInt32Ty(), {B.getInt32(Index)});
  };
  StringRef Axis = Name;
  for (auto [Prefix, First] : {std::pair<const char *, unsigned>{"tid.", 0},
                               {"ctaid.", 3},
                               {"ntid.", 6},
                               {"nctaid.", 9},
                               {"cluster_ctaid.", 18},
                               {"cluster_nctaid.", 21}}) {
    Axis = Name;
    if (Axis.consume_front(Prefix))
      return Axis == "x" || Axis == "y" || Axis == "z"
                 ? Register(First + unsigned(Axis[0] - 'x'))
                 : nullptr;
  }
  for (auto [Prefix, First] :
       {std::pair<const char *, unsigned>{"clusterid.", 3},
        {"nclusterid.", 9}}) {
    Axis = Name;
    if (Axis.consume_front(Prefix) &&
        (Axis == "x" || Axis == "y" || Axis == "z")) {
      unsigned Number = unsigned(Axis[0] - 'x');
      return B.CreateUDiv(Register(First + Number), Register(21 + Number));
    }
  }
  if (Name == "cluster_ctarank")
    return Register(16);
  if (Name == "cluster_nctarank")
    return Register(17);
  if (Name == "is_explicit_cluster")
    return B.CreateICmpUGT(Register(17), B.getInt32(1));
  if (Name == "laneid")
    return Register(12);
  if (Name == "warpid")
    return Register(13);
  // Which SM a block is on is anybody's guess; each GPU has 32.
  if (Name == "smid")
    return B.CreateAnd(Register(3), 31);
  if (Name == "dynamic_smem_size")
    return Register(14);
  if (Name == "clock64" || Name == "globaltimer" || Name == "clock")
    return call("__stark_sim_clock", B.getInt64Ty(), {});
  if (Name.consume_front("lanemask_")) {
    Value *Bit = B.CreateShl(B.getInt32(1), Register(12));
    Value *Below = B.CreateSub(Bit, B.getInt32(1));
    return Name == "eq"   ? Bit
           : Name == "lt" ? Below
           : Name == "le" ? B.CreateOr(Below, Bit)
           : Name == "ge" ? B.CreateNot(Below)
           : Name == "gt" ? B.CreateNot(B.CreateOr(Below, Bit))
                          : nullptr;
  }
  return nullptr;
}

std::optional<uint64_t> PtxBody::constantOf(StringRef Operand) {
  uint64_t Number = 0;
  if (auto Found = Known.find(Operand.str()); Found != Known.end())
    return Found->second;
  if (Operand == "WARP_SZ")
    return 32;
  if (Operand.starts_with("0f") || Operand.starts_with("0F") ||
      Operand.starts_with("0d") || Operand.starts_with("0D")) {
    bool Good = !Operand.drop_front(2).getAsInteger(16, Number);
    return Good ? std::optional(Number) : std::nullopt;
  }
  bool Negative = Operand.consume_front("-");
  Operand.consume_back("U");
  if (Operand.empty() || Operand.getAsInteger(0, Number))
    return std::nullopt;
  return Negative ? 0 - Number : Number;
}

Value *PtxBody::read(StringRef Operand, unsigned Bits) {
  Operand = Operand.trim();
  if (Operand.starts_with("!")) {
    Value *V = read(Operand.drop_front(), Bits);
    return V ? B.CreateNot(V) : nullptr;
  }
  if (auto Found = Slots.find(Operand.str()); Found != Slots.end())
    return resized(
        B, bitsOf(B.CreateLoad(Found->second.Type, Found->second.Where)), Bits);
  if (Operand.starts_with("%")) {
    Value *V = special(Operand.drop_front());
    return V ? resized(B, V, Bits) : nullptr;
  }
  std::optional<uint64_t> Number = constantOf(Operand);
  return Number ? ConstantInt::get(B.getIntNTy(Bits),
                                   APInt(64, *Number).zextOrTrunc(Bits))
                : nullptr;
}

bool PtxBody::write(StringRef Operand, Value *Bits) {
  if (Operand.trim() == "_")
    return true;
  auto Found = Slots.find(Operand.trim().str());
  if (Found == Slots.end() || !Bits)
    return false;
  Type *T = Found->second.Type;
  unsigned Width =
      T->isPointerTy() ? 64 : unsigned(T->getPrimitiveSizeInBits());
  Value *V = resized(B, Bits, Width);
  V = T->isPointerTy() ? B.CreateIntToPtr(V, T) : B.CreateBitCast(V, T);
  B.CreateStore(V, Found->second.Where);
  return true;
}

Value *PtxBody::readAs(StringRef Operand, const PtxType &T) {
  Value *V = read(Operand, T.bits());
  return V ? B.CreateBitCast(V, typeOf(T)) : nullptr;
}

/// A signed result that goes into a wider register is extended as such.
bool PtxBody::writeAs(StringRef Operand, const PtxType &T, Value *V) {
  if (!V)
    return false;
  Value *Bits = bitsOf(V);
  auto Found = Slots.find(Operand.trim().str());
  if (T.Kind == 's' && Found != Slots.end() &&
      Found->second.Type->isIntegerTy())
    Bits = B.CreateSExtOrTrunc(Bits, Found->second.Type);
  return write(Operand, Bits);
}

std::vector<std::string> PtxBody::listOf(StringRef Braced) const {
  std::vector<std::string> Out;
  if (!Braced.consume_front("{") || !Braced.consume_back("}"))
    return {Braced.str()};
  SmallVector<StringRef, 8> Parts;
  Braced.split(Parts, ',');
  for (StringRef Part : Parts)
    Out.push_back(Part.trim().str());
  return Out;
}
