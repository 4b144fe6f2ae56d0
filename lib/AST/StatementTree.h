//===- StatementTree.h - The statements of a function, by tokens ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tokens of a function -> its statements, each with those that it governs.
/// From tokens alone, so that it holds for text that Clang cannot parse.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_STATEMENTTREE_H
#define STARK_LIB_AST_STATEMENTTREE_H

#include "SourceTokens.h"

namespace stark {

enum class StatementKind {
  Simple,  ///< up to its semicolon, a declaration as well
  Jump,    ///< break, continue, return, a label, nothing, or a directive
  Control, ///< if, else, for, while, do or switch, with what it governs
  Block,
};

struct Statement {
  StatementKind Kind = StatementKind::Simple;
  Range Tokens;                ///< with all that it governs
  std::vector<size_t> Parts{}; ///< indices of the statements that it governs
};

struct StatementTree {
  std::vector<Statement> All; ///< inner before outer
  size_t Root = 0;
};

/// Of the function \p Function; empty when it has no body.
StatementTree readStatements(const SourceTokens &Tokens, Range Function);

} // namespace stark

#endif
