//===- WarpReduction.h - A reduction by warp shuffles ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The function that block-reduce writes, and that is known again when it is
/// met: block_reduce_sum_float(scratch, value).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_WARPREDUCTION_H
#define STARK_LIB_REWRITE_ANALYSIS_WARPREDUCTION_H

#include "Facts.h"

namespace stark {

/// Of \p Operation, such as "+" or "fmaxf", on values of \p Type.
std::string warpReductionName(llvm::StringRef Operation, llvm::StringRef Type);
std::string warpReductionText(llvm::StringRef Operation, llvm::StringRef Type);

/// The operation of the function that \p Call calls, when the file has it as
/// it is written here; else empty.
std::string warpReductionOf(const Facts &F, const clang::CallExpr *Call);

} // namespace stark

#endif
