//===- EntryLeaves.h - An entry's parameters, structs taken apart --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Signature -> what stark_call() is given, one by one: parameters, and in
/// their places the fields of by-value structs and the tensors of lists.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TASK_ENTRYLEAVES_H
#define STARK_LIB_TASK_ENTRYLEAVES_H

#include "stark/AST/Signature.h"

namespace stark {

/// Variables of the device that the workload sets come last. They belong to \p
/// Entry.
inline std::vector<const Parameter *> leavesOf(const Signature &Entry) {
  std::vector<const Parameter *> Leaves;
  for (const Parameter &P : Entry.Parameters)
    if (P.Kind == ParameterKind::Struct ||
        P.Kind == ParameterKind::TensorList ||
        P.Kind == ParameterKind::OptionalTensor)
      for (const Parameter &F : P.Fields)
        Leaves.push_back(&F);
    else
      Leaves.push_back(&P);
  for (const Parameter &P : Entry.Symbols)
    Leaves.push_back(&P);
  return Leaves;
}

/// Given as a double, not as a 64-bit integer.
inline bool isReal(const Parameter &P) {
  return P.Element == ScalarType::F16 || P.Element == ScalarType::BF16 ||
         P.Element == ScalarType::F32 || P.Element == ScalarType::F64;
}

} // namespace stark

#endif
