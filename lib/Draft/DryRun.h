//===- DryRun.h - What a program does before its entry is called --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   functions of a file -> main(), then what nothing calls -> what was
///   launched
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_DRYRUN_H
#define STARK_LIB_DRAFT_DRYRUN_H

#include "Machine.h"

namespace stark::draft {

/// What a file defines, in its order.
struct HostFunctions {
  const clang::FunctionDecl *Main = nullptr; ///< may be null
  llvm::ArrayRef<clang::FunctionDecl *> All; ///< kernels as well
  llvm::ArrayRef<clang::CXXMethodDecl *> Methods;
};

/// Whether a launch is written in \p S, which may be null.
bool launches(const clang::Stmt *S);

/// Whether \p S ends the way that a condition guards: an error that is
/// reported, for one.
bool leaves(const clang::Stmt *S);

/// What a program launches and calls. Functions that nothing calls are given
/// sizes of ours: those that allocate or set what is global before those that
/// launch. \p Fixed: names that kernels are written with.
std::unique_ptr<Machine> dryRun(clang::ASTContext &Context,
                                const HostFunctions &Found,
                                const std::set<std::string> &Fixed);

} // namespace stark::draft

#endif
