//===- MatrixProduct.h - Kernels that compute a matrix product ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     if (row >= m || col >= n) return;   (or: if (row < m && col < n) ...,
///                                          or no guard)
///     T sum = 0;
///     for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
///     c[row * n + col] = sum;
/// An element a thread; a and b may also be transposed, what is stored may be
/// any expression of the sum and of what is there, the sum may begin with an
/// element such as bias[col], and an index may begin somewhere: first + col.
/// A product may have further factors that stay the same (alpha * a * b), its
/// elements may be named in the loop (float x = a[...];), and what a whole
/// block has in common may be added to an index (blockIdx.z * m * k + ...).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_MATRIXPRODUCT_H
#define STARK_LIB_REWRITE_ANALYSIS_MATRIXPRODUCT_H

#include "Accesses.h"

namespace stark {

/// One index of the result: row or col.
struct Coordinate {
  const clang::VarDecl *V = nullptr;
  char Axis = 0;
  /// A number of the kernel; null when there is no guard.
  const clang::Expr *Bound = nullptr;
};

/// const int at = first + col; first is fixed.
struct ShiftedIndex {
  const clang::VarDecl *V = nullptr, *Of = nullptr;
  const clang::Stmt *Declared = nullptr;
};

/// An operand, a[row * k + i] or a[i * m + row].
struct Operand {
  Access At;
  bool Along = false; ///< neighbours in depth are neighbours in memory
  std::string Type;
};

struct MatrixProduct {
  Coordinate Row, Col;
  const clang::VarDecl *Depth = nullptr, *Sum = nullptr;
  const clang::Expr *DepthBound = nullptr, *Term = nullptr;
  /// Declared in the loop, in order.
  std::vector<const clang::Stmt *> Named;
  /// What the sum begins with; null for 0.
  const clang::Expr *Start = nullptr;
  const clang::Stmt *Store = nullptr;
  std::vector<ShiftedIndex> Shifted;
  std::vector<const clang::Stmt *> Declared; ///< all but the sum, in order
  /// batch < count: guards of what a whole block has in common.
  std::vector<Coordinate> Common;
  /// Something else than row, col and depth tells elements apart.
  bool OfBlock = false;
  Operand A, B;
};

/// The integer parameter of \p K that \p E names and that is never written, or
/// null. A product's bounds and widths may also be constants of the file.
const clang::ParmVarDecl *parameterOf(const clang::Expr *E, const Kernel &K);

/// Set when \p K looks like one: the product, or why it is none.
std::optional<OrReason<MatrixProduct>>
readMatrixProduct(const Facts &F, const Kernel &K, const Accesses &All);

} // namespace stark

#endif
