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

/// Why no dtype stands for the struct \p Type: a field that is a pointer, for
/// one.
std::string noNumbers(clang::QualType Type);

} // namespace stark

#endif
