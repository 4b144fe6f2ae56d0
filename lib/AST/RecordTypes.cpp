//===- RecordTypes.cpp - Structs of numbers of several types --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   struct -> its numbers, with the bytes at which they lie
///
//===----------------------------------------------------------------------===//

#include "ParameterTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace clang;

int64_t stark::bytesOf(ScalarType T) {
  switch (T) {
  case ScalarType::Bool:
  case ScalarType::I8:
  case ScalarType::U8:
    return 1;
  case ScalarType::I16:
  case ScalarType::U16:
  case ScalarType::F16:
  case ScalarType::BF16:
    return 2;
  case ScalarType::I32:
  case ScalarType::U32:
  case ScalarType::F32:
    return 4;
  default:
    return 8;
  }
}

unsigned stark::lanesOf(QualType Type, const ASTContext &Context) {
  const auto *Record = Type.getCanonicalType()->getAs<RecordType>();
  if (!Record || !Record->getDecl()->getDefinition())
    return 1;
  int64_t Scalar = bytesOf(scalarOf(Type, Context));
  return unsigned(std::max<int64_t>(
      Context.getTypeSizeInChars(Type).getQuantity() / Scalar, 1));
}

bool stark::isBytes(QualType Type, const ASTContext &Context) {
  Type = Context.getBaseElementType(Type).getCanonicalType();
  if (Type->isPointerType() || Type->isReferenceType() ||
      Type->isDependentType())
    return false;
  const auto *Record = Type->getAs<RecordType>();
  if (!Record)
    return Type->isArithmeticType() || Type->isEnumeralType();
  const RecordDecl *Fields = Record->getDecl()->getDefinition();
  if (!Fields || Fields->isInvalidDecl())
    return false;
  const auto *Class = llvm::dyn_cast<CXXRecordDecl>(Fields);
  if (Class && (Class->isPolymorphic() || Class->getNumBases()))
    return false;
  return llvm::all_of(Fields->fields(), [&](const FieldDecl *Field) {
    return isBytes(Field->getType(), Context);
  });
}

namespace {
class NumberReader {
public:
  explicit NumberReader(const ASTContext &Context) : Context(Context) {}
  std::vector<Parameter> Numbers;

  /// What lies \p At bytes from the beginning, as \p Name; whether a Parameter
  /// can stand for all of it.
  bool read(const std::string &Name, QualType Type, uint64_t At);

private:
  static constexpr size_t MostNumbers = 64;
  static constexpr uint64_t MostElements = 1 << 16;
  const ASTContext &Context;
};
} // namespace

bool NumberReader::read(const std::string &Name, QualType Type, uint64_t At) {
  uint64_t Count = 1;
  std::string Spelled = Type.getAsString();
  while (const ConstantArrayType *Array =
             Context.getAsConstantArrayType(Type)) {
    Count *= Array->getSize().getLimitedValue(MostElements + 1);
    Type = Array->getElementType();
    if (Count == 0 || Count > MostElements)
      return false;
  }
  if (ScalarType T = scalarOf(Type, Context); T != ScalarType::Other) {
    Parameter &P = Numbers.emplace_back();
    P.Name = Name;
    P.Type = Spelled;
    P.Kind = ParameterKind::Pointer;
    P.Element = T;
    P.Lanes = unsigned(Count * lanesOf(Type, Context));
    P.Offset = At;
    return At % uint64_t(bytesOf(T)) == 0 && Numbers.size() <= MostNumbers;
  }
  const auto *Record = Type.getCanonicalType()->getAs<RecordType>();
  const RecordDecl *Fields =
      Record ? Record->getDecl()->getDefinition() : nullptr;
  if (!Fields || Fields->isUnion() || Count > MostNumbers)
    return false;
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(Fields);
  uint64_t Bytes = uint64_t(Context.getTypeSizeInChars(Type).getQuantity());
  for (uint64_t I = 0; I < Count; ++I) {
    std::string Own = Count > 1 ? Name + "[" + std::to_string(I) + "]" : Name;
    for (const FieldDecl *Field : Fields->fields()) {
      uint64_t Bit = Layout.getFieldOffset(Field->getFieldIndex());
      if (Field->isBitField() || Field->getName().empty() ||
          !read((Own.empty() ? "" : Own + ".") + Field->getNameAsString(),
                Field->getType(), At + I * Bytes + Bit / 8))
        return false;
    }
  }
  return true;
}

std::vector<Parameter> stark::numbersOf(QualType Type,
                                        const ASTContext &Context) {
  NumberReader Reader(Context);
  if (!Reader.read("", Type, 0))
    return {};
  int64_t Bytes = Context.getTypeSizeInChars(Type).getQuantity();
  // As many bytes from one to the next as keep each where it is aligned.
  for (const Parameter &P : Reader.Numbers)
    if (Bytes % bytesOf(P.Element))
      return {};
  return std::move(Reader.Numbers);
}
