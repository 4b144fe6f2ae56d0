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
  const clang::Stmt *Loop = nullptr; ///< of a tree; mostly the last
  /// The loop stops before this stride, which the first warp begins with; 0:
  /// it goes on to the end.
  uint64_t WarpFrom = 0;
  bool Tree = false;          ///< else already in the form of block-reduce
  bool BarrierFirst = false;  ///< a round begins with its barrier
  bool StartsAtBlock = false; ///< the widest stride is blockDim.x / 2
  std::optional<uint64_t> StartsAt; ///< or this constant
};

///     for (int s = START; CONDITION; STEP) {
///       if (GUARD) THEN
///       __syncthreads();             (or before the if)
///     }
/// or "int s = START; ... while (CONDITION) { ...; STEP; }", where s halves.
struct HalvingLoop {
  const clang::VarDecl *Stride = nullptr;
  const clang::Expr *Start = nullptr, *Condition = nullptr, *Step = nullptr;
  const clang::IfStmt *If = nullptr;
  bool BarrierFirst = false;
  uint64_t Least = 1; ///< the stride of the last round
};
/// Those that go on until the stride is 0.
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
  /// Trees whose last rounds the first warp runs by itself (WarpFinish.h).
  std::vector<Reduction> ByWarp;
  std::vector<AlmostReduction> Almost;
};
Reductions findReductions(const Facts &F, const Kernel &K);

} // namespace stark

#endif
