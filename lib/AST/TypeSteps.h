//===- TypeSteps.h - What a type leads to ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_TYPESTEPS_H
#define STARK_LIB_AST_TYPESTEPS_H

#include "clang/AST/Type.h"

namespace stark {

/// Is it a pointer, or an array?
inline bool leadsOn(clang::QualType Type) {
  return Type->isPointerType() || Type->isArrayType();
}
/// What a pointer points at, or an array is made of.
inline clang::QualType stepOf(clang::QualType Type) {
  return Type->isPointerType()
             ? Type->getPointeeType()
             : Type->castAsArrayTypeUnsafe()->getElementType();
}

} // namespace stark

#endif
