//===- ParameterTypes.h - What dtype a parameter's type has --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_PARAMETERTYPES_H
#define STARK_LIB_AST_PARAMETERTYPES_H

#include "stark/AST/Signature.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/ArrayRef.h"

namespace stark {

/// Whether a function that returns \p Type returns ATen's tensors: one, or a
/// std::vector or std::tuple of them.
bool isTensors(clang::QualType Type);

/// A parameter called \p Name of the type that the source spells. Of a
/// template, \p Arguments are what its type parameters stand for, in order.
Parameter readParameter(const clang::ASTContext &Context, std::string Name,
                        clang::QualType Type,
                        llvm::ArrayRef<std::string> Arguments);

/// Of a number, of a vector type and of an enumeration; else Other.
ScalarType scalarOf(clang::QualType Type, const clang::ASTContext &Context);
int64_t bytesOf(ScalarType T);
/// Scalars in a vector type: 4 of a float4, 2 of a half2.
unsigned lanesOf(clang::QualType Type, const clang::ASTContext &Context);

/// Whether an object of \p Type is its bytes: numbers of several types, and
/// nothing that says where something lies.
bool isBytes(clang::QualType Type, const clang::ASTContext &Context);

/// The numbers that a struct of \p Type, which is its bytes, consists of, as
/// Parameter::Fields has them; none where it has others than Parameter can
/// stand for: a union, a bit-field, one that is not aligned.
std::vector<Parameter> numbersOf(clang::QualType Type,
                                 const clang::ASTContext &Context);

/// Whether the host can make a \p Class of nothing and set its fields.
bool isMadeOfFields(const clang::CXXRecordDecl &Class);
/// Whether a \p Class is its fields, wherever they come from: its bytes may be
/// copied.
bool isCopyOfFields(const clang::CXXRecordDecl &Class);

/// A variable called \p Name, as a pointer to its elements: a scalar has one.
Parameter readVariable(const clang::ASTContext &Context, std::string Name,
                       clang::QualType Type);

} // namespace stark

#endif
