//===- Purity.h - Whether evaluating something changes anything -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An expression that reads memory at most can be evaluated at another time,
/// more often, or not at all.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_PURITY_H
#define STARK_LIB_REWRITE_ANALYSIS_PURITY_H

#include "stark/Rewrite/Reason.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include <optional>

namespace stark {

/// What of \p E does more than read memory: an assignment, a call of anything
/// but math and conversion functions of the toolkit and functions of the file
/// from numbers to a number. "a call of f".
std::optional<Reason> impurityOf(const clang::Stmt *E,
                                 const clang::ASTContext &Context);
bool isPure(const clang::Stmt *E, const clang::ASTContext &Context);

/// Whether \p E reads memory: an element of an array, or through a pointer.
bool readsMemory(const clang::Expr *E);

} // namespace stark

#endif
