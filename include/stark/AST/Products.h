//===- Products.h - Whether a source adds up products ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_PRODUCTS_H
#define STARK_AST_PRODUCTS_H

namespace stark {

class ParsedSource;

/// Whether a loop in \p Source's own file adds products of two different values
/// that are no whole numbers to something, by operators or by fused
/// multiply-adds, as products of matrices and convolutions do, or it uses the
/// instructions of tensor cores. A sum of squares is none.
bool addsUpProducts(const ParsedSource &Source);

} // namespace stark

#endif
