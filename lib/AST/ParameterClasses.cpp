//===- ParameterClasses.cpp - Classes that are made of their fields -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParameterTypes.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

bool stark::isMadeOfFields(const CXXRecordDecl &Class) {
  if (Class.getNumBases() || Class.isPolymorphic())
    return false;
  if (Class.isAggregate())
    return true;
  auto IsPublic = [](const Decl *D) { return D->getAccess() == AS_public; };
  return llvm::all_of(Class.fields(), IsPublic) &&
         llvm::any_of(Class.ctors(), [&](const CXXConstructorDecl *C) {
           return C->isDefaultConstructor() && !C->isDeleted() && IsPublic(C) &&
                  (C->hasAttr<CUDAHostAttr>() || !C->hasAttr<CUDADeviceAttr>());
         });
}

bool stark::isCopyOfFields(const CXXRecordDecl &Class) {
  return !Class.getNumBases() && !Class.isPolymorphic() && !Class.isLambda() &&
         !Class.isUnion() && !Class.isDependentType() &&
         Class.isTriviallyCopyable();
}
