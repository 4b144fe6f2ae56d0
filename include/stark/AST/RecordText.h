//===- RecordText.h - A struct's fields, for people -------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_RECORDTEXT_H
#define STARK_AST_RECORDTEXT_H

#include <string>

namespace clang {
class RecordDecl;
} // namespace clang

namespace stark {

/// "float x at byte 0, int kind at byte 4, int odd at bit 3 of byte 8": each
/// field of \p R, whose layout is known; ", ..." for what comes after \p Most.
std::string fieldsText(const clang::RecordDecl *R, unsigned Most = ~0u);

} // namespace stark

#endif // STARK_AST_RECORDTEXT_H
