//===- Signature.cpp - The C++ side of an entry --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Signature.h"
#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "stark/Support/Nearest.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;
using namespace clang;

llvm::StringRef stark::scalarTypeName(ScalarType T) {
  switch (T) {
  case ScalarType::Bool:
    return "bool";
  case ScalarType::I8:
    return "i8";
  case ScalarType::U8:
    return "u8";
  case ScalarType::I16:
    return "i16";
  case ScalarType::U16:
    return "u16";
  case ScalarType::I32:
    return "i32";
  case ScalarType::U32:
    return "u32";
  case ScalarType::I64:
    return "i64";
  case ScalarType::U64:
    return "u64";
  case ScalarType::F16:
    return "f16";
  case ScalarType::BF16:
    return "bf16";
  case ScalarType::F32:
    return "f32";
  case ScalarType::F64:
    return "f64";
  case ScalarType::Other:
    return "other";
  }
  return "";
}

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

static ScalarType scalarOf(QualType Type, const ASTContext &Context) {
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

namespace {
/// Reads the parameters of one function. For a template, Given has its
/// arguments, in order.
struct Reader {
  const ASTContext &Context;
  llvm::ArrayRef<std::string> Given;

  std::string spelled(QualType Type) const {
    return Type.getAsString(Context.getPrintingPolicy());
  }

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
    P.Type = spelled(Type);
    if (Type->isReferenceType()) {
      Type = Type->getPointeeType();
      if (Type->isArrayType() || Type->isFunctionType())
        return refuse(P, "it is a reference to an array or a function");
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

private:
  static Parameter refuse(Parameter P, llvm::StringRef Why) {
    P.Kind = ParameterKind::Unsupported;
    P.Reason = Why.str();
    return P;
  }

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
    if (P.Element == ScalarType::Other)
      return refuse(P, To->isPointerType() ? "it points to pointers"
                       : To->isFunctionType()
                           ? "it points to a function"
                           : "no dtype stands for what it points to");
    if (P.Element == ScalarType::I16 || P.Element == ScalarType::U16)
      return refuse(P, "no dtype stands for what it points to");
    P.Kind = ParameterKind::Pointer;
    return P;
  }

  static constexpr size_t MostFields = 256;

  /// One field of a by-value struct; an array gives "params.dims[0]" and so on.
  std::string addField(Parameter &P, std::string Name, QualType Type) const {
    if (const ConstantArrayType *Array =
            Context.getAsConstantArrayType(Type.getCanonicalType())) {
      uint64_t Count = Array->getSize().getLimitedValue(MostFields + 1);
      if (Count > MostFields)
        return "it has more than " + std::to_string(MostFields) + " values";
      for (uint64_t I = 0; I < Count; ++I)
        if (std::string Why = addField(P, Name + "[" + std::to_string(I) + "]",
                                       Array->getElementType());
            !Why.empty())
          return Why;
      return "";
    }
    if (Type.isConstQualified() || Type->isReferenceType())
      return "its member '" + Name + "' cannot be assigned";
    Parameter Inner = read(std::move(Name), Type);
    if (Inner.Kind == ParameterKind::Unsupported)
      return "of its member '" + Inner.Name + "': " + Inner.Reason;
    if (Inner.Kind != ParameterKind::Struct)
      P.Fields.push_back(std::move(Inner));
    else
      P.Fields.insert(P.Fields.end(), Inner.Fields.begin(), Inner.Fields.end());
    if (P.Fields.size() > MostFields)
      return "it has more than " + std::to_string(MostFields) + " values";
    return "";
  }

  Parameter readStruct(Parameter P, const RecordDecl *Record) const {
    Record = Record->getDefinition();
    if (!Record)
      return refuse(P, "its type is not defined here");
    if (const auto *Class = llvm::dyn_cast<CXXRecordDecl>(Record))
      if (!Class->isAggregate() || Class->getNumBases())
        return refuse(P,
                      "its class has constructors, bases or private members");
    if (Record->isUnion())
      return refuse(P, "it is a union");
    P.Kind = ParameterKind::Struct;
    for (const FieldDecl *Field : Record->fields()) {
      if (Field->isBitField() || Field->getName().empty())
        return refuse(P, "its member '" + Field->getNameAsString() +
                             "' is a bit-field or has no name");
      if (std::string Why = addField(P, P.Name + "." + Field->getNameAsString(),
                                     Field->getType());
          !Why.empty())
        return refuse(P, Why);
    }
    return P;
  }
};

/// Every function of the main file that could be an entry.
class Functions : public RecursiveASTVisitor<Functions> {
public:
  explicit Functions(const ParsedSource &Source)
      : SM(Source.unit().getSourceManager()) {
    for (auto I = Source.unit().top_level_begin();
         I != Source.unit().top_level_end(); ++I)
      if (SM.isInMainFile(SM.getExpansionLoc((*I)->getLocation())))
        TraverseDecl(*I);
  }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (llvm::isa<CXXMethodDecl>(F) || !F->getDeclName().isIdentifier() ||
        !SM.isInMainFile(SM.getExpansionLoc(F->getLocation())))
      return true;
    if (F->isTemplateInstantiation() || F->isFunctionTemplateSpecialization())
      return true; // the template itself stands for them
    if (F->isThisDeclarationADefinition())
      Defined.push_back(F);
    else
      Declared.push_back(F);
    return true;
  }
  std::vector<FunctionDecl *> Defined, Declared;

private:
  const SourceManager &SM;
};

/// Whether a body holds a launch, however it is spelled.
class LaunchFinder : public RecursiveASTVisitor<LaunchFinder> {
public:
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *) {
    Found = true;
    return false;
  }
  bool VisitDeclRefExpr(DeclRefExpr *R) {
    if (R->getNameInfo().getAsString().find("LaunchKernel") !=
        std::string::npos)
      Found = true;
    return !Found;
  }
  bool Found = false;
};
} // namespace

/// As it would be called from the end of the file: anonymous and inline
/// namespaces left out.
static std::string calledName(const FunctionDecl *F, bool WithInline = false) {
  std::string Name = F->getNameAsString();
  for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
    if (const auto *N = llvm::dyn_cast<NamespaceDecl>(C))
      if (!N->isAnonymousNamespace() && (WithInline || !N->isInlineNamespace()))
        Name = N->getNameAsString() + "::" + Name;
  return Name;
}

static Signature describe(const FunctionDecl *F, const ParsedSource &Source,
                          llvm::ArrayRef<std::string> TemplateArguments) {
  const ASTContext &Context = Source.unit().getASTContext();
  const SourceManager &SM = Source.unit().getSourceManager();
  Reader R{Context, TemplateArguments};
  SourceRange Whole = F->getSourceRange();
  if (const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate())
    Whole = T->getSourceRange();
  Signature S;
  S.Name = calledName(F);
  S.ReturnType = R.spelled(F->getReturnType());
  S.IsKernel = F->hasAttr<CUDAGlobalAttr>();
  S.ExternC = F->isExternC();
  S.Internal = !F->isExternallyVisible();
  for (const ParmVarDecl *P : F->parameters()) {
    std::string Name = P->getNameAsString();
    if (Name.empty())
      Name = "arg" + std::to_string(S.Parameters.size());
    Parameter Read = R.read(Name, P->getOriginalType());
    if (P->isInvalidDecl()) {
      // Clang goes on with int: say what it could not make sense of.
      Read.Kind = ParameterKind::Unsupported;
      Read.Reason = "Clang does not know its type";
      unsigned Line = SM.getExpansionLineNumber(P->getLocation());
      for (const SourceError &E : Source.errors())
        if (E.Line == Line)
          Read.Reason += " (" + E.Message + ")";
    }
    S.Parameters.push_back(std::move(Read));
  }
  CharSourceRange Chars = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Whole), SM, Context.getLangOpts());
  if (Chars.isValid())
    S.Bytes = {SM.getFileOffset(Chars.getBegin()),
               SM.getFileOffset(Chars.getEnd())};
  S.Line = SM.getExpansionLineNumber(F->getLocation());
  return S;
}

/// "launch<float, 4>" -> "launch" and its arguments.
static std::string splitTemplate(llvm::StringRef Entry,
                                 std::vector<std::string> &Arguments) {
  size_t Open = Entry.find('<');
  if (Open == llvm::StringRef::npos || !Entry.ends_with(">"))
    return Entry.str();
  llvm::StringRef Inside = Entry.slice(Open + 1, Entry.size() - 1);
  int Depth = 0;
  size_t Start = 0;
  for (size_t I = 0; I <= Inside.size(); ++I) {
    if (I == Inside.size() || (Inside[I] == ',' && Depth == 0)) {
      Arguments.push_back(Inside.slice(Start, I).trim().str());
      Start = I + 1;
    } else if (Inside[I] == '<' || Inside[I] == '(') {
      ++Depth;
    } else if (Inside[I] == '>' || Inside[I] == ')') {
      --Depth;
    }
  }
  return Entry.take_front(Open).trim().str();
}

llvm::Expected<Signature> stark::findEntry(const ParsedSource &Source,
                                           llvm::StringRef Entry) {
  std::vector<std::string> Arguments;
  std::string Wanted = splitTemplate(Entry, Arguments);
  llvm::StringRef Bare = Wanted;
  Bare.consume_front("::");
  Functions All(Source);

  std::vector<const FunctionDecl *> Matches;
  std::string Names;
  for (const FunctionDecl *F : All.Defined) {
    std::string Name = calledName(F);
    if (Name == Bare || calledName(F, /*WithInline=*/true) == Bare)
      Matches.push_back(F);
    Names += (Names.empty() ? "" : ", ") + Name;
  }
  llvm::StringRef File = Source.path();
  if (Matches.empty()) {
    for (const FunctionDecl *F : All.Declared)
      if (calledName(F) == Bare)
        return usageError("'" + File + "' declares '" + Entry +
                          "', but does not define it");
    std::vector<std::string> Known;
    for (const FunctionDecl *F : All.Defined)
      Known.push_back(calledName(F));
    return usageError("'" + File + "' defines no function '" + Entry + "'" +
                      didYouMean(Bare, Known) + "; it defines " +
                      (Names.empty() ? std::string("none") : Names));
  }
  if (Matches.size() > 1) {
    std::string Lines;
    for (const FunctionDecl *F : Matches)
      Lines += (Lines.empty() ? " " : ", ") +
               std::to_string(
                   Source.unit().getSourceManager().getExpansionLineNumber(
                       F->getLocation()));
    return usageError("'" + File + "' has " + llvm::Twine(Matches.size()) +
                      " functions named '" + Bare + "', on lines" + Lines +
                      "; the entry must be the only one of its name");
  }
  if (Matches.front()->getDescribedFunctionTemplate() && Arguments.empty())
    return usageError("'" + Bare +
                      "' is a template; name the entry with its "
                      "arguments, as in '" +
                      Bare + "<float>'");
  Signature S = describe(Matches.front(), Source, Arguments);
  if (!Arguments.empty())
    S.Name += "<" + llvm::join(Arguments, ", ") + ">";
  return S;
}

std::vector<Signature> stark::entryCandidates(const ParsedSource &Source) {
  Functions All(Source);
  std::vector<Signature> Hosts, Kernels;
  for (FunctionDecl *F : All.Defined) {
    if (F->getDescribedFunctionTemplate() || F->isMain())
      continue;
    if (F->hasAttr<CUDAGlobalAttr>()) {
      Kernels.push_back(describe(F, Source, {}));
      continue;
    }
    LaunchFinder Finder;
    Finder.TraverseDecl(F);
    if (Finder.Found)
      Hosts.push_back(describe(F, Source, {}));
  }
  Hosts.insert(Hosts.end(), Kernels.begin(), Kernels.end());
  return Hosts;
}
