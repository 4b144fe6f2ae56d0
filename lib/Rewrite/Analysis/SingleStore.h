//===- SingleStore.h - Kernels whose threads store one element each -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     int x = ..., y = ...;
///     if (x >= w || y >= h) return;      (or: if (x < w && y < h) ...,
///                                         or none, or several)
///     out[x * h + y] = in[y * w + x];
/// All that is declared holds what it is initialised with, so that it can be
/// computed again by another thread.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_SINGLESTORE_H
#define STARK_LIB_REWRITE_ANALYSIS_SINGLESTORE_H

#include "Accesses.h"

namespace stark {

struct SingleStore {
  struct Guard {
    const clang::Expr *Condition = nullptr;
    bool Returns = false; ///< the thread ends where it holds
  };
  std::vector<const clang::DeclStmt *> Declared; ///< in order
  std::vector<Guard> Guards;
  const clang::BinaryOperator *Store = nullptr; ///< out[...] = value
};

/// Unset when \p K is another kernel.
std::optional<SingleStore> readSingleStore(const Facts &F, const Kernel &K);

} // namespace stark

#endif
