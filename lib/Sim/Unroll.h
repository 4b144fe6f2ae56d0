//===- Unroll.h - Which loops nvcc unrolls --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_UNROLL_H
#define STARK_LIB_SIM_UNROLL_H

#include "llvm/IR/PassManager.h"

namespace stark::sim {

/// Tells LLVM's unroller what nvcc 13.0 unrolls, as seen in its machine code
/// for sm_90: loops of known length as a whole while that stays short, else in
/// part; those whose length is not known by 16 when they are tiny
/// and by 4 or 2 when they are small, unless threads meet in them or they
/// stride by what is not known and write or branch. An array that only counters
/// of loops of known length index lies in registers once they are unrolled:
/// what touches it does not count, and loops of a few rounds may become longer
/// for it.
struct UnrollAsNvcc : llvm::PassInfoMixin<UnrollAsNvcc> {
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Functions);
};

} // namespace stark::sim

#endif
