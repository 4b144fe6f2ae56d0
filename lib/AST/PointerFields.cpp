//===- PointerFields.cpp - Structs that hold pointers ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointerFields.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

using namespace stark;
using namespace clang;

static QualType elementOf(QualType Type) {
  Type = Type.getCanonicalType();
  while (const ArrayType *A = Type->getAsArrayTypeUnsafe())
    Type = A->getElementType();
  return Type.getCanonicalType();
}

/// A pointer in the struct \p Type, or in one of its own; null: none.
static const FieldDecl *pointerIn(QualType Type) {
  const RecordDecl *R = elementOf(Type)->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R)
    return nullptr;
  for (const FieldDecl *Field : R->fields()) {
    if (elementOf(Field->getType())->isPointerType())
      return Field;
    if (const FieldDecl *Inner = pointerIn(Field->getType()))
      return Inner;
  }
  return nullptr;
}

std::string stark::noNumbers(QualType Type) {
  const FieldDecl *Field = pointerIn(Type);
  if (!Field)
    return "what it points to has fields that are no numbers";
  return "it points to structs with a pointer, '" + Field->getNameAsString() +
         "', which a function of your own has to fill (workload.md: A call of "
         "your own)";
}
