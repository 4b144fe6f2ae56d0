//===- Variables.h - What variables and expressions hold ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether a variable keeps what it was given, and which constant an
/// expression is.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_VARIABLES_H
#define STARK_LIB_REWRITE_ANALYSIS_VARIABLES_H

#include "Purity.h"
#include "Syntax.h"
#include "clang/AST/ParentMap.h"

namespace stark {

/// Whether every use of \p V in \p Body only reads it, so that it holds what it
/// was initialised with.
bool isNeverWritten(const clang::VarDecl *V, const clang::Stmt *Body,
                    const clang::ParentMap &Parents);

/// Whether \p Part only reads \p V, and nothing in \p Body could change it by
/// another way than by its name.
bool isUnchangedIn(const clang::VarDecl *V, const clang::Stmt *Part,
                   const clang::Stmt *Body, const clang::ParentMap &Parents);

/// Whether \p Part changes no local variable that \p E uses.
bool keepsVariablesOf(const clang::Expr *E, const clang::Stmt *Part,
                      const clang::Stmt *Body, const clang::ParentMap &Parents);

/// The integer that \p E always is. Follows local variables of \p Body that
/// are never written.
std::optional<uint64_t> constantOf(const clang::Expr *E,
                                   const clang::ASTContext &Context,
                                   const clang::Stmt *Body,
                                   const clang::ParentMap &Parents);

/// How far a variable is followed to what it was initialised with.
inline constexpr unsigned MostSteps = 4;

/// \p E, or what stands behind the variable of \p Body that it names, when that
/// holds what it was initialised with.
const clang::Expr *resolve(const clang::Expr *E, const clang::Stmt *Body,
                           const clang::ParentMap &Parents);

} // namespace stark

#endif
