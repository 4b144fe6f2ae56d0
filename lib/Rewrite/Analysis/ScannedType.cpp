//===- ScannedType.cpp - Types that warps scan ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScannedType.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Type.h"

using namespace clang;

std::string stark::scannedType(const VarDecl *Array) {
  const auto *A = Array->getType()->getAsArrayTypeUnsafe();
  if (!A || !Array->hasAttr<CUDASharedAttr>() ||
      A->getElementType().isVolatileQualified())
    return "";
  const auto *B =
      llvm::dyn_cast<BuiltinType>(A->getElementType().getCanonicalType());
  switch (B ? B->getKind() : BuiltinType::Void) {
  case BuiltinType::Int:
    return "int";
  case BuiltinType::UInt:
    return "unsigned";
  case BuiltinType::Float:
    return "float";
  case BuiltinType::Double:
    return "double";
  default:
    return "";
  }
}
