//===- Syntax.h - Small questions about expressions -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What an expression is beneath parentheses and casts, and what it is made
/// of.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_SYNTAX_H
#define STARK_LIB_REWRITE_ANALYSIS_SYNTAX_H

#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <set>
#include <vector>

namespace stark {

/// int, long and long long, with a sign or without: no arithmetic widens them.
bool isFullInteger(const clang::BuiltinType *T);

/// Without parentheses, casts that keep the value, temporaries and copies.
const clang::Expr *strip(const clang::Expr *E);

/// Every node of \p S, parents first; threadIdx.x and its kin are leaves.
void forEach(const clang::Stmt *S,
             llvm::function_ref<void(const clang::Stmt *)> Visit);
/// Every use of a variable in \p S.
void forEachUse(
    const clang::Stmt *S,
    llvm::function_ref<void(const clang::DeclRefExpr *, const clang::VarDecl *)>
        Visit);
/// Whether one of the nodes of \p S is what \p Is says.
bool anyOf(const clang::Stmt *S,
           llvm::function_ref<bool(const clang::Stmt *)> Is);
std::set<const clang::Stmt *> nodesOf(const clang::Stmt *S);

/// \p S without the braces around a single statement; null stays null.
const clang::Stmt *onlyStatement(const clang::Stmt *S);

/// The one variable that \p S declares and nothing else; else null.
const clang::VarDecl *onlyVariable(const clang::Stmt *S);
/// Those that \p S declares, and those that loops of it alone count with.
std::set<const clang::VarDecl *> variablesDeclaredIn(const clang::Stmt *S);

/// What a loop counts with, and what that begins with.
struct LoopIndex {
  const clang::VarDecl *V = nullptr;
  const clang::Expr *Start = nullptr;
};
/// The variable that \p Loop declares, or a local integer that it assigns first
/// and that is used in such loops alone, so that none is told apart from one
/// that it declares: "int i; for (i = 0; ...)". V is null when there is none,
/// Start when it has no value.
LoopIndex indexOf(const clang::ForStmt *Loop);

/// \p E as an operation of two, beneath parentheses and implicit casts.
const clang::BinaryOperator *binary(const clang::Expr *E);

/// "threadIdx", 'x'.
struct BuiltinIndex {
  llvm::StringRef Name;
  char Axis;
};
std::optional<BuiltinIndex> builtinIndex(const clang::Expr *E);
bool isBuiltin(const clang::Expr *E, llvm::StringRef Name, char Axis);
/// Where \p S itself, not beneath a cast, is one.
std::optional<BuiltinIndex> builtinNode(const clang::Stmt *S);

/// Whether \p E depends on threadIdx of \p Axis, also by the variables in it.
bool dependsOnThread(const clang::Expr *E, char Axis);

/// The variable that \p E names, null when it is something else.
const clang::VarDecl *variableOf(const clang::Expr *E);
bool mentions(const clang::Stmt *S, const clang::ValueDecl *V);

/// The name of the function that \p E calls, empty when that is not plain.
llvm::StringRef calleeOf(const clang::Stmt *E);
/// fmaxf, fminf, fmax, fmin, max and min.
bool isMinMax(llvm::StringRef Function);
/// "__syncthreads();" and nothing else.
bool isBlockBarrier(const clang::Stmt *S);
/// __shfl* and __syncwarp: threads of a warp that work together.
bool isWarpOperation(const clang::Stmt *S);

/// Whether both are the same tree: the same operations on the same variables.
bool isSameTree(const clang::Expr *A, const clang::Expr *B,
                const clang::ASTContext &Context);

/// The terms of a sum: "a + (b + c)" has three.
std::vector<const clang::Expr *> termsOf(const clang::Expr *E);
std::vector<const clang::Expr *> factorsOf(const clang::Expr *E);

/// What is said of one of two and of the other, in either order.
bool eitherWay(llvm::ArrayRef<const clang::Expr *> Two,
               llvm::function_ref<bool(const clang::Expr *)> One,
               llvm::function_ref<bool(const clang::Expr *)> Other);

} // namespace stark

#endif
