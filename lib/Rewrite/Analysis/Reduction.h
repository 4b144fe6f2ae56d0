//===- Reduction.h - Reductions over a block ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The trees in shared memory that the first lines of every CUDA course have,
/// of halves and of neighbours, and the form that block-reduce writes in their
/// place.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_REDUCTION_H
#define STARK_LIB_REWRITE_ANALYSIS_REDUCTION_H

#include "Facts.h"

namespace stark {

struct Reduction {
  const clang::VarDecl *Array = nullptr;
  /// What each thread brings; null: what it holds at the thread's number.
  const clang::Expr *Value = nullptr;
  std::string Operation; ///< "+", "*", "fmaxf", ...
  const clang::Stmt *First = nullptr, *Last = nullptr;
  bool Tree = false;          ///< else already in the form of block-reduce
  bool BarrierFirst = false;  ///< a round begins with its barrier
  bool StartsAtBlock = false; ///< the widest stride is blockDim.x / 2
  std::optional<uint64_t> StartsAt; ///< or this constant
};

///     for (int s = START; CONDITION; STEP) {
///       if (GUARD) THEN
///       __syncthreads();             (or before the if)
///     }
/// or "int s = START; ... while (CONDITION) { ...; STEP; }", where s halves
/// until it is 0.
struct HalvingLoop {
  const clang::VarDecl *Stride = nullptr;
  const clang::Expr *Start = nullptr, *Condition = nullptr, *Step = nullptr;
  const clang::IfStmt *If = nullptr;
  bool BarrierFirst = false;
};
std::optional<HalvingLoop> readHalvingLoop(const clang::Stmt *Loop,
                                           const Facts &F, const Kernel &K);
/// The thread's number where \p E is "threadIdx.x < stride", else null.
const clang::Expr *belowStride(const clang::Expr *E,
                               const clang::VarDecl *Stride, const Kernel &K);

/// A loop that begins like one and is none.
struct AlmostReduction {
  const clang::Stmt *Loop = nullptr;
  Reason Lacks;
};

struct Reductions {
  std::vector<Reduction> All; ///< in source order
  std::vector<AlmostReduction> Almost;
};
Reductions findReductions(const Facts &F, const Kernel &K);

} // namespace stark

#endif
