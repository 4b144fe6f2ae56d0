//===- Dtypes.h - The dtype that a draft gives ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_DRAFT_DTYPES_H
#define STARK_LIB_DRAFT_DTYPES_H

#include "stark/AST/Signature.h"
#include "stark/Job/Job.h"

namespace stark::draft {

/// What stands for what \p P points to; f32 when nothing does.
inline job::DType dtypeFor(const Parameter &P) {
  switch (P.Element) {
  case ScalarType::F64:
    return job::DType::F64;
  case ScalarType::F16:
    return job::DType::F16;
  case ScalarType::BF16:
    return job::DType::BF16;
  case ScalarType::I16:
  case ScalarType::U16:
    return job::DType::I16;
  case ScalarType::I32:
  case ScalarType::U32:
    return job::DType::I32;
  case ScalarType::I64:
  case ScalarType::U64:
    return job::DType::I64;
  case ScalarType::I8:
    return job::DType::I8;
  case ScalarType::Bool:
    return job::DType::Bool;
  case ScalarType::U8:
    return job::DType::U8;
  default:
    return job::DType::F32;
  }
}

} // namespace stark::draft

#endif
