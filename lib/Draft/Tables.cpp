//===- Tables.cpp - Functions that are called through a table -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a pointer to a function of which nothing is known -> those functions of
///   its type that the program takes the address of
/// Tables may be arrays, structs, maps or lists of std::function: only that the
/// function came to be a value tells that it may be called.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark::draft;
using namespace clang;

/// \p F as a value.
Value Machine::functionValue(const FunctionDecl *F) {
  Value V;
  V.Kind = Value::Function;
  V.Callee = F;
  if (!As && isOwn(F) && !llvm::is_contained(Pointed, F))
    Pointed.push_back(F);
  return V;
}

/// Of a pointer or a reference to a function, or of a std::function.
static const FunctionProtoType *calledType(QualType Type) {
  Type = Type.getNonReferenceType();
  if (Type->isPointerType())
    Type = Type->getPointeeType();
  if (const auto *R = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
          Type->getAsCXXRecordDecl());
      R && R->getTemplateArgs().size() == 1 &&
      R->getTemplateArgs()[0].getKind() == TemplateArgument::Type)
    Type = R->getTemplateArgs()[0].getAsType();
  return Type->getAs<FunctionProtoType>();
}

std::vector<const FunctionDecl *> Machine::mayBeCalled(QualType Through) const {
  constexpr size_t Most = 8;
  std::vector<const FunctionDecl *> Out;
  const FunctionProtoType *Wanted = calledType(Through);
  for (const FunctionDecl *F : Pointed) {
    if (!Wanted || As || Out.size() == Most ||
        F->getNumParams() != Wanted->getNumParams())
      continue;
    bool Same = true;
    for (unsigned I = 0; I < F->getNumParams(); ++I)
      Same &= Context.hasSameUnqualifiedType(F->getParamDecl(I)->getType(),
                                             Wanted->getParamType(I));
    if (Same)
      Out.push_back(F);
  }
  return Out;
}

/// Calls what a pointer or a std::function of type \p Through may be.
Value Machine::callThrough(QualType Through,
                           llvm::ArrayRef<const Expr *> Arguments) {
  std::vector<const FunctionDecl *> All = mayBeCalled(Through);
  Value Last;
  for (const FunctionDecl *Each : All)
    Last = enter(Each, Value(), Arguments);
  if (All.empty())
    for (const Expr *A : Arguments)
      eval(A);
  return Last;
}
