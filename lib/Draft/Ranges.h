//===- Ranges.h - Numbers, and ranges, of operators -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_RANGES_H
#define STARK_LIB_DRAFT_RANGES_H

#include "Memory.h"
#include "clang/AST/OperationKinds.h"

namespace stark::draft {

/// Unset where it overflows, or C leaves it undefined.
std::optional<int64_t> computed(clang::BinaryOperatorKind Op, int64_t L,
                                int64_t R);

/// What lies in a range stays in one: that of \p Out, which is not known, from
/// those of \p L and \p R.
void narrow(clang::BinaryOperatorKind Op, const Value &L, const Value &R,
            Value &Out);

} // namespace stark::draft

#endif
