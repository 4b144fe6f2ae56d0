//===- Syntax.h - Small questions about expressions -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What an expression is beneath parentheses and casts, where it stands in
/// the file, and whether evaluating it can change anything.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_SYNTAX_H
#define STARK_LIB_REWRITE_SYNTAX_H

#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace stark {

/// Without parentheses, casts of any kind, temporaries and copies.
const clang::Expr *strip(const clang::Expr *E);

/// Every node of \p S, parents first; threadIdx.x and its kin are leaves.
void forEach(const clang::Stmt *S,
             llvm::function_ref<void(const clang::Stmt *)> Visit);

/// \p S without the braces around a single statement; null stays null.
const clang::Stmt *onlyStatement(const clang::Stmt *S);

/// Why \p S itself, not what is in it, does more in a loop's body than compute
/// and store; empty when it does not. \p InInner: in a loop within that body.
std::string whyNotPlain(const clang::Stmt *S, bool InInner);

/// "threadIdx", 'x'.
struct BuiltinIndex {
  llvm::StringRef Name;
  char Axis;
};
std::optional<BuiltinIndex> builtinIndex(const clang::Expr *E);
bool isBuiltin(const clang::Expr *E, llvm::StringRef Name, char Axis);

/// Whether \p E depends on threadIdx of \p Axis, also by the variables in it.
bool dependsOnThread(const clang::Expr *E, char Axis);

/// The variable that \p E names, null when it is something else.
const clang::VarDecl *variableOf(const clang::Expr *E);
bool mentions(const clang::Stmt *S, const clang::ValueDecl *V);

/// The name of the function that \p E calls, empty when that is not plain.
llvm::StringRef calleeOf(const clang::Stmt *E);

/// Whether every use of \p V in \p Body only reads it, so that it holds what it
/// was initialised with.
bool isNeverWritten(const clang::VarDecl *V, const clang::Stmt *Body,
                    const clang::ParentMap &Parents);

/// Whether \p Part only reads \p V, and nothing in \p Body could change it by
/// another way than by its name.
bool isUnchangedIn(const clang::VarDecl *V, const clang::Stmt *Part,
                   const clang::Stmt *Body, const clang::ParentMap &Parents);

/// Evaluating \p E reads memory at most: no assignment, no call but of math
/// and conversion functions of the toolkit. \p Why gets what was met.
bool isPure(const clang::Stmt *E, const clang::ASTContext &Context,
            std::string *Why = nullptr);

/// The integer that \p E always is. Follows local variables of \p Body that
/// are never written.
std::optional<uint64_t> constantOf(const clang::Expr *E,
                                   const clang::ASTContext &Context,
                                   const clang::Stmt *Body,
                                   const clang::ParentMap &Parents);

/// Whether \p E reads memory: an element of an array, or through a pointer.
bool readsMemory(const clang::Expr *E);

/// The terms of a sum: "a + (b + c)" has three.
std::vector<const clang::Expr *> termsOf(const clang::Expr *E);
std::vector<const clang::Expr *> factorsOf(const clang::Expr *E);

} // namespace stark

#endif
