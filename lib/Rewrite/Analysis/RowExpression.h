//===- RowExpression.h - What a thread of another row would compute -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     const int ty = threadIdx.y, at = ty * 16;
///     a[ty][k] * b[at + k]  + 4 rows  ->  a[ty + 4][k] * b[((ty + 4) * 16) +
///     k]
/// Statements of a loop as the thread of the same column some rows below has
/// them. A row's number is threadIdx.y, or threadIdx.x / width in a block of
/// one dimension, with threadIdx.x % width the column's.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ROWEXPRESSION_H
#define STARK_LIB_REWRITE_ANALYSIS_ROWEXPRESSION_H

#include "Uniform.h"

namespace stark {

/// The threads of a block, as rows.
struct ThreadRows {
  uint64_t Width = 0, Count = 0;
  bool Flat = false; ///< the block has one dimension
  std::string row() const {
    return Flat ? "threadIdx.x / " + std::to_string(Width) : "threadIdx.y";
  }
  std::string column() const {
    return Flat ? "threadIdx.x % " + std::to_string(Width) : "threadIdx.x";
  }
};

/// The rows of \p K's blocks, one behind the other in warps: those of y, or
/// those that its body makes of x by a division. Unset when the block is not
/// known, or has no rows.
OrReason<std::optional<ThreadRows>> threadRowsOf(const Facts &F,
                                                 const Kernel &K);

class RowExpressions {
public:
  /// For statements of the body of \p Loop, in \p Outer. \p Same is of the
  /// threads of a block.
  RowExpressions(const Facts &F, const Kernel &K, const ThreadRows &Rows,
                 const Uniform &Same, const clang::Stmt *Outer,
                 const clang::Stmt *Loop);
  /// Why it is not known what a variable of \p S is in another row. \p Free
  /// are not looked at.
  WhyNot whyNot(const clang::Stmt *S,
                llvm::ArrayRef<const clang::VarDecl *> Free) const;
  bool dependsOnRow(const clang::Stmt *S) const;
  /// Adds to \p Nodes what stands for the nodes of \p S in the thread that is
  /// \p Offset rows below; false where one of them stands in a macro.
  bool substitutes(const clang::Stmt *S, uint64_t Offset,
                   std::vector<Instead> &Nodes) const;

private:
  enum class Part { None, Row, Column, Unclear };
  Part partOf(const clang::Stmt *N) const;
  /// The nodes that tell the threads of a block apart, with nothing inside of
  /// them, and all others.
  void
  forEachPart(const clang::Stmt *S,
              llvm::function_ref<void(const clang::Stmt *, Part)> Visit) const;
  WhyNot whyNotHere(const clang::Stmt *S) const;
  WhyNot whyNot(const clang::VarDecl *V, unsigned Depth) const;
  bool isRow(const clang::VarDecl *V) const;

  const Facts &F;
  const Kernel &K;
  const ThreadRows &Rows;
  const Uniform &Same;
  const clang::Stmt *Loop;
  std::set<const clang::VarDecl *> Inside; ///< declared in the loop
  std::set<std::string> Hidden;            ///< names declared in Outer
};

} // namespace stark

#endif
