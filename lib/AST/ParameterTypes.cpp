//===- ParameterTypes.cpp - What dtype a parameter's type has ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   C++ type -> pointer, scalar, struct, stream or why no workload can give it
///
//===----------------------------------------------------------------------===//

#include "ParameterTypes.h"
#include "PointerFields.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;
using namespace clang;

/// By the name that the source uses, for CUDA's classes, its vector types and
/// template arguments.
static ScalarType scalarByName(llvm::StringRef Name) {
  Name = Name.trim();
  Name.consume_front("const ");
  Name.consume_front("struct ");
  ScalarType Exact =
      llvm::StringSwitch<ScalarType>(Name)
          .Cases("__half", "half", "__half2", "half2", "__half_raw",
                 ScalarType::F16)
          .Cases("__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162",
                 "nv_bfloat162", "__nv_bfloat16_raw", ScalarType::BF16)
          .Case("float", ScalarType::F32)
          .Case("double", ScalarType::F64)
          .Cases("int", "int32_t", ScalarType::I32)
          .Cases("unsigned", "unsigned int", "uint32_t", ScalarType::U32)
          .Cases("long", "long long", "int64_t", ScalarType::I64)
          .Cases("unsigned long", "unsigned long long", "uint64_t", "size_t",
                 ScalarType::U64)
          .Cases("unsigned char", "uint8_t", ScalarType::U8)
          .Cases("char", "signed char", "int8_t", ScalarType::I8)
          .Cases("short", "int16_t", ScalarType::I16)
          .Cases("unsigned short", "uint16_t", ScalarType::U16)
          .Case("bool", ScalarType::Bool)
          .Default(ScalarType::Other);
  if (Exact != ScalarType::Other)
    return Exact;
  // float4, uint2, ...: as many of their elements as the number says.
  if (Name.empty() || Name.back() < '1' || Name.back() > '4')
    return ScalarType::Other;
  return llvm::StringSwitch<ScalarType>(Name.drop_back())
      .Case("float", ScalarType::F32)
      .Case("double", ScalarType::F64)
      .Case("int", ScalarType::I32)
      .Case("uint", ScalarType::U32)
      .Cases("longlong", "long", ScalarType::I64)
      .Cases("ulonglong", "ulong", ScalarType::U64)
      .Case("uchar", ScalarType::U8)
      .Case("char", ScalarType::I8)
      .Case("short", ScalarType::I16)
      .Case("ushort", ScalarType::U16)
      .Default(ScalarType::Other);
}

ScalarType stark::scalarOf(QualType Type, const ASTContext &Context) {
  Type = Type.getCanonicalType().getUnqualifiedType();
  if (const auto *Enum = Type->getAs<EnumType>())
    Type = Enum->getDecl()->getIntegerType().getCanonicalType();
  if (const auto *Record = Type->getAs<RecordType>())
    return scalarByName(Record->getDecl()->getName());
  const auto *Builtin = Type->getAs<BuiltinType>();
  if (!Builtin)
    return ScalarType::Other;
  if (Builtin->getKind() == BuiltinType::Bool)
    return ScalarType::Bool;
  if (Builtin->getKind() == BuiltinType::Float)
    return ScalarType::F32;
  if (Builtin->getKind() == BuiltinType::Double)
    return ScalarType::F64;
  if (!Builtin->isInteger())
    return ScalarType::Other;
  bool Signed = Builtin->isSignedInteger();
  switch (Context.getTypeSize(Type)) {
  case 8:
    return Signed ? ScalarType::I8 : ScalarType::U8;
  case 16:
    return Signed ? ScalarType::I16 : ScalarType::U16;
  case 32:
    return Signed ? ScalarType::I32 : ScalarType::U32;
  case 64:
    return Signed ? ScalarType::I64 : ScalarType::U64;
  }
  return ScalarType::Other;
}

/// The class \p Name of a namespace \p Scope that is not nested, but for the
/// inline ones of a library's versions; null when \p Type is none.
static const CXXRecordDecl *classNamed(QualType Type, llvm::StringRef Scope,
                                       llvm::StringRef Name) {
  const CXXRecordDecl *Class = Type.getCanonicalType()->getAsCXXRecordDecl();
  if (!Class || !Class->getIdentifier() || Class->getName() != Name)
    return nullptr;
  const auto *In = llvm::dyn_cast<NamespaceDecl>(
      Class->getDeclContext()->getEnclosingNamespaceContext());
  while (In && In->isInline())
    In = llvm::dyn_cast<NamespaceDecl>(In->getParent());
  return In && In->getIdentifier() && In->getName() == Scope &&
                 In->getParent()->isTranslationUnit()
             ? Class
             : nullptr;
}

static bool isTensor(QualType Type) { return classNamed(Type, "at", "Tensor"); }

/// Is \p Type the template with tensors for all of its types? (A vector has an
/// allocator, too.)
static bool isOfTensors(QualType Type, llvm::StringRef Scope,
                        llvm::StringRef Name) {
  const auto *Class = llvm::dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      classNamed(Type, Scope, Name));
  if (!Class || Class->getTemplateArgs().size() == 0)
    return false;
  const TemplateArgument &First = Class->getTemplateArgs()[0];
  if (First.getKind() == TemplateArgument::Type)
    return isTensor(First.getAsType());
  return First.getKind() == TemplateArgument::Pack && First.pack_size() &&
         llvm::all_of(First.pack_elements(), [](const TemplateArgument &A) {
           return A.getKind() == TemplateArgument::Type &&
                  isTensor(A.getAsType());
         });
}

bool stark::isTensors(QualType Type) {
  return isTensor(Type) || isOfTensors(Type, "std", "vector") ||
         isOfTensors(Type, "std", "tuple");
}

static ParameterKind tensorKind(QualType Type) {
  if (isTensor(Type))
    return ParameterKind::Tensor;
  if (isOfTensors(Type, "std", "optional"))
    return ParameterKind::OptionalTensor;
  return isOfTensors(Type, "std", "vector") ||
                 isOfTensors(Type, "c10", "ArrayRef")
             ? ParameterKind::TensorList
             : ParameterKind::Unsupported;
}

namespace {
/// Reads the parameters of one function. For a template, Given has its
/// arguments, in order.
struct Reader {
  const ASTContext &Context;
  llvm::ArrayRef<std::string> Given;

  /// float4, half2, ...: by value they are several scalars.
  static bool isVector(QualType Type) {
    const auto *Record = Type.getCanonicalType()->getAs<RecordType>();
    return Record && Record->getDecl()->getName() != "__half" &&
           Record->getDecl()->getName() != "__nv_bfloat16";
  }

  ScalarType element(QualType Type) const {
    if (const auto *Parameter =
            Type.getCanonicalType()->getAs<TemplateTypeParmType>())
      return Parameter->getIndex() < Given.size()
                 ? scalarByName(Given[Parameter->getIndex()])
                 : ScalarType::Other;
    return scalarOf(Type, Context);
  }

  Parameter read(std::string Name, QualType Type) const {
    Parameter P;
    P.Name = std::move(Name);
    P.Type = Type.getAsString(Context.getPrintingPolicy());
    // A tensor is a handle: who has it, may write to what it holds.
    P.Kind = tensorKind(Type.getNonReferenceType());
    if (P.Kind != ParameterKind::Unsupported)
      return P;
    if (Type->isReferenceType()) {
      Type = Type->getPointeeType();
      if (const ConstantArrayType *Array =
              Context.getAsConstantArrayType(Type.getCanonicalType()))
        return readArray(P, Array);
      if (Type->isArrayType() || Type->isFunctionType())
        return refuse(P, "it is a reference to an array whose length is not "
                         "known, or to a function");
      if (!Type.isConstQualified())
        return refuse(P, "it is a reference that can be written through");
    }
    QualType Canonical = Type.getCanonicalType();
    if (Canonical->isPointerType() || Canonical->isArrayType()) {
      QualType To =
          Canonical->isPointerType()
              ? Type->getPointeeType()
              : QualType(Canonical->getArrayElementTypeNoTypeQual(), 0);
      return readPointer(P, To);
    }
    P.Element =
        isVector(Type) ? ScalarType::Other : element(Type.getUnqualifiedType());
    if (P.Element != ScalarType::Other) {
      P.Kind = ParameterKind::Scalar;
      return P;
    }
    if (const auto *Record = Canonical->getAs<RecordType>())
      return readStruct(P, Record->getDecl());
    return refuse(P, "no dtype stands for its type");
  }

  Parameter variable(std::string Name, QualType Type) const {
    Parameter P;
    P.Name = std::move(Name);
    P.Type = Type.getAsString(Context.getPrintingPolicy());
    if (const ConstantArrayType *Array =
            Context.getAsConstantArrayType(Type.getCanonicalType()))
      P = readArray(std::move(P), Array);
    else
      P = readPointer(std::move(P), Type);
    P.Count = std::max<uint64_t>(P.Count, 1);
    return P;
  }

private:
  static Parameter refuse(Parameter P, llvm::StringRef Why) {
    P.Kind = ParameterKind::Unsupported;
    P.Reason = Why.str();
    return P;
  }

  /// An array by reference: as many elements as its type says, of all its
  /// dimensions.
  Parameter readArray(Parameter P, const ConstantArrayType *Array) const {
    uint64_t Count = 1;
    QualType Of(Array, 0);
    while (const ConstantArrayType *Inner =
               Context.getAsConstantArrayType(Of)) {
      Count *= Inner->getSize().getLimitedValue(MostElements);
      Of = Inner->getElementType();
      if (Count == 0 || Count > MostElements)
        return refuse(P, "it is a reference to an array of no or very many "
                         "elements");
    }
    P = readPointer(std::move(P), Of);
    if (P.Kind == ParameterKind::Pointer)
      P.Count = Count;
    return P;
  }

  /// The scalar type that all fields of \p Type have, and no gaps between them;
  /// \p Lanes is how many there are. Other when they differ.
  ScalarType uniform(QualType Type, unsigned &Lanes) const {
    const auto *Record = Type.getCanonicalType()->getAs<RecordType>();
    const RecordDecl *Fields =
        Record ? Record->getDecl()->getDefinition() : nullptr;
    if (!Fields || Fields->isUnion() || Fields->isDependentType())
      return ScalarType::Other;
    ScalarType Common = ScalarType::Other;
    Lanes = 0;
    auto Add = [&](QualType Of, uint64_t Times) {
      unsigned Inner = 1;
      ScalarType T = element(Of.getUnqualifiedType());
      if (T == ScalarType::Other)
        T = uniform(Of, Inner);
      else
        Inner = lanesOf(Of, Context);
      Lanes += unsigned(Inner * Times);
      bool First = Common == ScalarType::Other;
      if (First)
        Common = T;
      return T != ScalarType::Other && T == Common && Lanes <= MostElements;
    };
    if (const auto *Class = llvm::dyn_cast<CXXRecordDecl>(Fields)) {
      if (Class->isPolymorphic())
        return ScalarType::Other;
      for (const CXXBaseSpecifier &Base : Class->bases())
        if (!Base.getType()->getAsCXXRecordDecl() ||
            (!Base.getType()->getAsCXXRecordDecl()->isEmpty() &&
             !Add(Base.getType(), 1)))
          return ScalarType::Other;
    }
    for (const FieldDecl *Field : Fields->fields()) {
      QualType Of = Field->getType();
      uint64_t Times = 1;
      while (const ConstantArrayType *Array =
                 Context.getAsConstantArrayType(Of)) {
        Times *= Array->getSize().getLimitedValue(MostElements + 1);
        Of = Array->getElementType();
        if (Times > MostElements)
          return ScalarType::Other;
      }
      if (Field->isBitField() || !Add(Of, Times))
        return ScalarType::Other;
    }
    if (!Lanes || Context.getTypeSizeInChars(Type).getQuantity() !=
                      int64_t(Lanes) * bytesOf(Common))
      return ScalarType::Other;
    return Common;
  }

  static constexpr uint64_t MostElements = 1 << 26;

  Parameter readPointer(Parameter P, QualType To) const {
    if (const auto *Record = To.getCanonicalType()->getAs<RecordType>())
      if (Record->getDecl()->getName() == "CUstream_st") {
        P.Kind = ParameterKind::Stream;
        return P;
      }
    P.Const = To.isConstQualified();
    if (To->isVoidType()) {
      P.Kind = ParameterKind::Pointer;
      P.Untyped = true;
      return P;
    }
    P.Element = element(To.getUnqualifiedType());
    if (P.Element != ScalarType::Other)
      P.Lanes = lanesOf(To, Context);
    else
      P.Element = uniform(To, P.Lanes);
    if (P.Element == ScalarType::Other && To->isRecordType() &&
        isBytes(To, Context)) {
      P.Element = ScalarType::U8;
      P.Lanes = unsigned(Context.getTypeSizeInChars(To).getQuantity());
      P.Fields = numbersOf(To, Context);
    }
    if (P.Element == ScalarType::Other)
      return refuse(P, To->isPointerType()    ? "it points to pointers"
                       : To->isFunctionType() ? "it points to a function"
                       : To->isRecordType()
                           ? noNumbers(To)
                           : "no dtype stands for what it points to");
    P.Kind = ParameterKind::Pointer;
    return P;
  }

  static constexpr size_t MostFields = 256;

  /// One field of a by-value struct, \p At bytes from where it begins; an array
  /// gives "params.dims[0]" and so on.
  std::string addField(Parameter &P, std::string Name, QualType Type,
                       uint64_t At) const {
    if (const ConstantArrayType *Array =
            Context.getAsConstantArrayType(Type.getCanonicalType())) {
      uint64_t Count = Array->getSize().getLimitedValue(MostFields + 1);
      if (Count > MostFields)
        return "it has more than " + std::to_string(MostFields) + " values";
      QualType Of = Array->getElementType();
      uint64_t Bytes = Context.getTypeSizeInChars(Of).getQuantity();
      for (uint64_t I = 0; I < Count; ++I)
        if (std::string Why = addField(P, Name + "[" + std::to_string(I) + "]",
                                       Of, At + I * Bytes);
            !Why.empty())
          return Why;
      return "";
    }
    if ((Type.isConstQualified() && !P.OfBytes) || Type->isReferenceType())
      return "its member '" + Name + "' cannot be assigned";
    Parameter Inner = read(std::move(Name), Type);
    if (Inner.Kind == ParameterKind::Unsupported)
      return "of its member '" + Inner.Name + "': " + Inner.Reason;
    P.OfBytes |= Inner.OfBytes;
    if (Inner.Kind != ParameterKind::Struct)
      Inner.Fields = {Inner};
    for (Parameter &Field : Inner.Fields) {
      Field.Offset += At;
      P.Fields.push_back(std::move(Field));
    }
    if (P.Fields.size() > MostFields)
      return "it has more than " + std::to_string(MostFields) + " values";
    return "";
  }

  Parameter readStruct(Parameter P, const RecordDecl *Record) const {
    Record = Record->getDefinition();
    if (!Record)
      return refuse(P, "its type is not defined here");
    const auto *Class = llvm::dyn_cast<CXXRecordDecl>(Record);
    bool Copied = Class && isCopyOfFields(*Class);
    P.OfBytes = Copied && (!isMadeOfFields(*Class) ||
                           llvm::any_of(Record->fields(), [](const auto *F) {
                             return F->getType().isConstQualified();
                           }));
    if (Class && !Copied && !isMadeOfFields(*Class))
      return refuse(P, "its class has bases or virtual functions, or is more "
                       "than its fields when it is made or copied");
    if (Record->isUnion())
      return refuse(P, "it is a union");
    P.Kind = ParameterKind::Struct;
    for (const FieldDecl *Field : Record->fields()) {
      if (Field->isBitField() || Field->getName().empty())
        return refuse(P, "its member '" + Field->getNameAsString() +
                             "' is a bit-field or has no name");
      uint64_t At = Record->isDependentType() || Record->isInvalidDecl()
                        ? 0
                        : Context.getFieldOffset(Field) / 8;
      if (std::string Why = addField(P, P.Name + "." + Field->getNameAsString(),
                                     Field->getType(), At);
          !Why.empty())
        return refuse(P, Why);
    }
    if (P.OfBytes && !Copied)
      return refuse(P, "it has a class that cannot be made of nothing, and is "
                       "more than its fields");
    return P;
  }
};
} // namespace

Parameter stark::readParameter(const ASTContext &Context, std::string Name,
                               QualType Type,
                               llvm::ArrayRef<std::string> Arguments) {
  return Reader{Context, Arguments}.read(std::move(Name), Type);
}

Parameter stark::readVariable(const ASTContext &Context, std::string Name,
                              QualType Type) {
  return Reader{Context, {}}.variable(std::move(Name), Type);
}
