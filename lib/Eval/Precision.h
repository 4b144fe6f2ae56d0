//===- Precision.h - What kernels round with ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   PTX -> kinds of instructions that round to fewer bits than f32's own
/// The compiler's own text says what a source's text can hide.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_PRECISION_H
#define STARK_LIB_EVAL_PRECISION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

/// Sorted: "mma of tf32", "mma of f16 into f16", "conversion to bf16",
/// "arithmetic in f16", "ex2.approx", "subnormals as zero".
std::vector<std::string> precisionOf(llvm::StringRef Ptx);

/// Does any of its kernels wait for an mbarrier or for the other blocks of a
/// cluster?
bool hasAsyncBarriers(llvm::StringRef Ptx);

struct PtxFacts {
  std::vector<std::string> Precision; ///< precisionOf()
  bool AsyncBarriers = false;
};
/// Of all .ptx files in \p Folder; none where there is no such folder.
PtxFacts ptxFactsIn(llvm::StringRef Folder);

/// Those of \p Candidate that \p Source, sorted, has not.
std::vector<std::string> newPrecision(llvm::ArrayRef<std::string> Candidate,
                                      llvm::ArrayRef<std::string> Source);

} // namespace stark

#endif
