//===- CalledName.h - What a function is called at file scope ---*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   How a function or a variable is named by whoever calls it, a workload
///   among them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_CALLEDNAME_H
#define STARK_AST_CALLEDNAME_H

#include <string>

namespace clang {
class NamedDecl;
} // namespace clang

namespace stark {

/// As \p D would be called from the end of the file: anonymous namespaces left
/// out, and inline ones unless \p WithInline.
std::string calledName(const clang::NamedDecl *D, bool WithInline = false);

} // namespace stark

#endif // STARK_AST_CALLEDNAME_H
