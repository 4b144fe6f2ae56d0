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

/// The least and the greatest that a draft gives to a whole \p T.
inline std::pair<int64_t, int64_t> wholeRange(job::DType T) {
  switch (T) {
  case job::DType::Bool:
    return {0, 1};
  case job::DType::I8:
    return {INT8_MIN, INT8_MAX};
  case job::DType::U8:
    return {0, UINT8_MAX};
  case job::DType::I16:
    return {INT16_MIN, INT16_MAX};
  default:
    return {INT32_MIN, INT32_MAX};
  }
}

} // namespace stark::draft

#endif
