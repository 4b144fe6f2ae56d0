//===- PointerFields.h - Structs that hold pointers -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_POINTERFIELDS_H
#define STARK_LIB_AST_POINTERFIELDS_H

#include "clang/AST/Type.h"
#include <string>

namespace stark {

/// A pointer in the struct \p Type, or in one of its own; null: none.
const clang::FieldDecl *pointerIn(clang::QualType Type);

/// Why a pointer to \p Type, which has such a field, cannot be given.
std::string holdsPointer(clang::QualType Type);

} // namespace stark

#endif
