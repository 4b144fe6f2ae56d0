//===- RowLoads.h - Loops that read along memory --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     for (int i = 0; i < n; ++i)
///       sum += a[row * n + i] * x[i];
/// A loop of each thread's own that reads neighbours one after the other, with
/// what decides whether a vector of them may be read at once. It is decided
/// alike for all threads of a block.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ROWLOADS_H
#define STARK_LIB_REWRITE_ANALYSIS_ROWLOADS_H

#include "Accesses.h"
#include "KeptElement.h"
#include "ThreadLoop.h"

namespace stark {

/// All loads of a loop of p[offset + i].
struct RowLoad {
  const clang::VarDecl *Base = nullptr; ///< a pointer
  const clang::Expr *Index = nullptr;
  std::string Type; ///< of an element
  unsigned Bytes = 0;
  std::vector<Access> Members;
};

struct RowLoads {
  CountedLoop L;
  std::vector<RowLoad> All;
  /// What it loads and stores in each iteration, and can keep.
  std::vector<KeptElement> Kept;
  unsigned Width = 0; ///< elements of the smallest type in a vector
  /// Conditions under which each vector begins at a multiple of 16 bytes.
  std::vector<std::string> Tests;
  ThreadLoop index() const { return ThreadLoop(L); }
};

/// Unset when \p S is no such loop; why not, when it comes near.
std::optional<OrReason<RowLoads>> readRowLoads(const Facts &F, const Kernel &K,
                                               const Accesses &A,
                                               const clang::ForStmt *S);

} // namespace stark

#endif
