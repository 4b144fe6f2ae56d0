//===- PtxInstruction.h - One instruction of PTX, as code -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What the families of instructions have in common: operands as values of a
/// type, and the modifiers of floating-point results. Each family answers
/// false to what it does not know: no answer is better than a wrong one.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_PTXINSTRUCTION_H
#define STARK_LIB_SIM_PTXINSTRUCTION_H

#include "Ptx.h"
#include "llvm/IR/Intrinsics.h"

namespace stark::sim {

struct PtxInstruction {
  PtxInstruction(PtxBody &P, const PtxStatement &S) : P(P), B(P.B), S(S) {}

  /// Null when there is none, or none of that type.
  llvm::Value *in(size_t I, const PtxType &T) const {
    return I < S.Operands.size() ? P.readAs(S.Operands[I], T) : nullptr;
  }
  bool out(const PtxType &T, llvm::Value *V) const {
    return V && P.writeAs(S.Operands[0], T, V);
  }
  llvm::Value *unary(llvm::Intrinsic::ID Id, llvm::Value *V) const {
    return B.CreateUnaryIntrinsic(Id, V);
  }
  /// .ftz: numbers below the normal ones are zeros.
  llvm::Value *flushed(llvm::Value *V) const;
  /// .sat: within [0, 1], and no NaN.
  llvm::Value *saturated(llvm::Value *V) const;

  PtxBody &P;
  llvm::IRBuilder<> &B;
  const PtxStatement &S;
};

/// Instructions on single bits and bytes, of numbers of type \p T.
bool ptxBits(const PtxInstruction &I, const PtxType &T);
/// cvt.
bool ptxConvert(const PtxInstruction &I);

} // namespace stark::sim

#endif
