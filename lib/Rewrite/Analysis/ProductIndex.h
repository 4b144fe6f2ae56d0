//===- ProductIndex.h - What tells the elements of a product apart --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   row * width + col, and what a whole block has in common beside it:
///     blockIdx.z * m * n + row * n + col
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_PRODUCTINDEX_H
#define STARK_LIB_REWRITE_ANALYSIS_PRODUCTINDEX_H

#include "MatrixProduct.h"

namespace stark {

class ProductIndex {
public:
  ProductIndex(const Facts &F, const Kernel &K);

  /// A parameter, or a constant whose text can be put elsewhere in the file.
  bool isFixed(const clang::Expr *E) const;
  /// Made of parameters, constants and the block's number alone, so that all
  /// threads of a block have it in common. It reads no memory.
  bool isOfBlock(const clang::Expr *E) const { return isOfBlock(E, 0); }
  /// \p V holds such a value.
  bool isOfBlock(const clang::VarDecl *V) const { return isOfBlock(V, 0); }
  /// blockIdx.A * blockDim.A + threadIdx.A -> A. Each may be a variable that
  /// holds it, the width also the constant that all launches give for it.
  char axisOf(const clang::Expr *E) const;

  enum class Place { No, Plain, OfBlock };
  /// Whether \p Index is Major * width + Minor, where either may be one of
  /// \p Shifted, and whether something of the block is added to it.
  Place placeOf(const clang::Expr *Index, const clang::VarDecl *Major,
                const clang::VarDecl *Minor,
                llvm::ArrayRef<ShiftedIndex> Shifted) const;

private:
  bool isOfBlock(const clang::Expr *E, unsigned Depth) const;
  bool isOfBlock(const clang::VarDecl *V, unsigned Depth) const;
  bool isOneThread(char Axis) const;

  const Facts &F;
  const Kernel &K;
  /// The block's x, y and z, where they are known.
  std::optional<std::array<uint64_t, 3>> Block;
};

} // namespace stark

#endif
