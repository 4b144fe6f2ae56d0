//===- Signature.cpp - The C++ side of an entry --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Signature.h"
#include "EntryFunction.h"
#include "MainFile.h"
#include "ParameterTypes.h"
#include "stark/AST/CalledName.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "stark/Support/Error.h"
#include "stark/Support/Nearest.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>

using namespace stark;
using namespace clang;

namespace {
/// Every function of the main file that could be an entry.
class Functions : public Walker {
public:
  explicit Functions(const ParsedSource &Source)
      : SM(Source.unit().getSourceManager()) {
    walk(Source);
  }
  bool onDecl(Decl *D) override {
    auto *F = llvm::dyn_cast<FunctionDecl>(D);
    if (!F || llvm::isa<CXXMethodDecl>(F) || !F->getDeclName().isIdentifier() ||
        !isInMainFile(SM, F->getLocation()))
      return true;
    if (F->isTemplateInstantiation() || F->isFunctionTemplateSpecialization())
      return true; // the template itself stands for them
    (F->isThisDeclarationADefinition() ? Defined : Declared).push_back(F);
    return true;
  }
  std::vector<FunctionDecl *> Defined, Declared;

private:
  const SourceManager &SM;
};

/// Whether a body holds a launch, however it is spelled.
class LaunchFinder : public Walker {
public:
  bool onStmt(Stmt *S) override {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S);
    Found |= llvm::isa<CUDAKernelCallExpr>(S) ||
             (Ref && llvm::StringRef(Ref->getNameInfo().getAsString())
                         .contains("LaunchKernel"));
    return !Found;
  }
  bool Found = false;
};
} // namespace

std::string stark::calledName(const NamedDecl *D, bool WithInline) {
  std::string Name = D->getNameAsString();
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *N = llvm::dyn_cast<NamespaceDecl>(C))
      if (!N->isAnonymousNamespace() && (WithInline || !N->isInlineNamespace()))
        Name = N->getNameAsString() + "::" + Name;
  return Name;
}

/// What a template was made with, one text each, packs taken apart.
static std::vector<std::string>
templateArguments(const TemplateArgumentList &List,
                  const PrintingPolicy &Policy) {
  std::vector<std::string> Out;
  auto Print = [&](const TemplateArgument &A) {
    llvm::raw_string_ostream OS(Out.emplace_back());
    A.print(Policy, OS, /*IncludeType=*/false);
  };
  for (const TemplateArgument &A : List.asArray())
    if (A.getKind() == TemplateArgument::Pack)
      llvm::for_each(A.pack_elements(), Print);
    else
      Print(A);
  return Out;
}

/// A handle of what only the runtime makes.
static bool isTexture(const Parameter &P) {
  return llvm::StringRef(P.Type).contains("cudaTextureObject_t") ||
         llvm::StringRef(P.Type).contains("cudaSurfaceObject_t") ||
         llvm::any_of(P.Fields, isTexture);
}

static Signature describe(const FunctionDecl *F, const ParsedSource &Source,
                          llvm::ArrayRef<std::string> TemplateArguments) {
  const ASTContext &Context = Source.unit().getASTContext();
  const SourceManager &SM = Source.unit().getSourceManager();
  Signature S;
  S.Name = calledName(F);
  S.ReturnType = F->getReturnType().getAsString(Context.getPrintingPolicy());
  S.ReturnsTensors = isTensors(F->getReturnType());
  S.IsKernel = F->hasAttr<CUDAGlobalAttr>();
  S.ExternC = F->isExternC();
  S.Internal = !F->isExternallyVisible();
  for (const ParmVarDecl *P : F->parameters()) {
    std::string Name = P->getNameAsString();
    if (Name.empty())
      Name = "arg" + std::to_string(S.Parameters.size());
    Parameter Read =
        readParameter(Context, Name, P->getOriginalType(), TemplateArguments);
    if (isTexture(Read)) {
      Read.Kind = ParameterKind::Unsupported;
      Read.Reason = "it is, or holds, a texture or a surface";
    }
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
  S.Bytes =
      fileBytes(wholeRange(*F), SM, Context.getLangOpts()).value_or(Range());
  S.Line = SM.getExpansionLineNumber(F->getLocation());
  return S;
}

bool stark::isTensorEntry(const Signature &Entry) {
  return Entry.ReturnsTensors ||
         llvm::any_of(Entry.Parameters, [](const Parameter &P) {
           return P.Kind == ParameterKind::Tensor ||
                  P.Kind == ParameterKind::TensorList ||
                  P.Kind == ParameterKind::OptionalTensor;
         });
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

/// Without what may be spelled in several ways.
static std::string plainSpelling(llvm::StringRef Argument) {
  std::string Out;
  for (char C : Argument)
    if (!llvm::isSpace(C))
      Out += C;
  llvm::StringRef Plain = Out;
  Plain.consume_front("struct");
  Plain.consume_front("::");
  if (Plain.consume_back("u") || Plain.consume_back("U"))
    if (Plain.empty() || !llvm::isDigit(Plain.back()))
      return Out;
  return Plain == "unsigned" ? "unsignedint" : Plain.str();
}

/// The instantiation of \p Template with \p Arguments, as far as they are
/// given, or null.
static const FunctionDecl *instanceNamed(const FunctionTemplateDecl *Template,
                                         llvm::ArrayRef<std::string> Arguments,
                                         const PrintingPolicy &Policy) {
  for (const FunctionDecl *F : Template->specializations()) {
    std::vector<std::string> Has =
        templateArguments(*F->getTemplateSpecializationArgs(), Policy);
    bool Same = Has.size() >= Arguments.size();
    for (size_t I = 0; Same && I < Arguments.size(); ++I)
      Same = plainSpelling(Has[I]) == plainSpelling(Arguments[I]);
    if (Same)
      return F;
  }
  return nullptr;
}

static llvm::Error noSuchEntry(const ParsedSource &Source, const Functions &All,
                               llvm::StringRef Entry, llvm::StringRef Bare) {
  for (const FunctionDecl *F : All.Declared)
    if (calledName(F) == Bare)
      return usageError("'" + Source.path() + "' declares '" + Entry +
                        "', but does not define it");
  std::vector<std::string> Known;
  for (const FunctionDecl *F : All.Defined)
    Known.push_back(calledName(F));
  return usageError("'" + Source.path() + "' defines no function '" + Entry +
                    "'" + didYouMean(Bare, Known) + "; it defines " +
                    (Known.empty() ? "none" : llvm::join(Known, ", ")));
}

static llvm::Error severalEntries(const ParsedSource &Source,
                                  llvm::ArrayRef<const FunctionDecl *> Matches,
                                  llvm::StringRef Bare) {
  std::vector<std::string> Lines;
  for (const FunctionDecl *F : Matches)
    Lines.push_back(
        std::to_string(Source.unit().getSourceManager().getExpansionLineNumber(
            F->getLocation())));
  return usageError("'" + Source.path() + "' has " +
                    llvm::Twine(Matches.size()) + " functions named '" + Bare +
                    "', on lines " + llvm::join(Lines, ", ") +
                    "; the entry must be the only one of its name");
}

namespace {
/// The variables of the device that the main file defines.
class DeviceVariables : public Walker {
public:
  explicit DeviceVariables(const ParsedSource &Source) { walk(Source); }
  bool onDecl(Decl *D) override {
    auto *V = llvm::dyn_cast<VarDecl>(D);
    // Clang makes constants that kernels read __constant__ by itself.
    auto Written = [](const Attr *A) { return A && !A->isImplicit(); };
    if (V && V->hasGlobalStorage() &&
        (Written(V->getAttr<CUDADeviceAttr>()) ||
         Written(V->getAttr<CUDAConstantAttr>())))
      All.push_back(V);
    return true;
  }
  std::vector<VarDecl *> All;
};
} // namespace

llvm::Expected<Parameter> stark::findSymbol(const ParsedSource &Source,
                                            llvm::StringRef Name) {
  std::vector<std::string> Known;
  for (VarDecl *V : DeviceVariables(Source).All) {
    Known.push_back(calledName(V));
    if (Known.back() != Name)
      continue;
    Parameter P =
        readVariable(Source.unit().getASTContext(), Name.str(), V->getType());
    if (P.Kind == ParameterKind::Unsupported)
      return usageError("variable '" + Name + "' of type '" + P.Type +
                        "' cannot be given: " + P.Reason);
    const auto *Constant = V->getAttr<CUDAConstantAttr>();
    P.Const = V->getType().isConstQualified() ||
              (Constant && !Constant->isImplicit());
    return P;
  }
  return usageError("'" + Source.path() + "' has no variable '" + Name +
                    "' of the device" + didYouMean(Name, Known) + "; it has " +
                    (Known.empty() ? "none" : llvm::join(Known, ", ")));
}

namespace {
/// What the name of an entry stands for.
struct Chosen {
  const FunctionDecl *F = nullptr;
  const FunctionDecl *Made = nullptr; ///< of a template, its instance
  std::vector<std::string> Arguments; ///< of a template
  bool OneOfTwo = false; ///< a kernel and a host function have the name
};
} // namespace

static llvm::Expected<Chosen> choose(const ParsedSource &Source,
                                     llvm::StringRef Entry, EntryUsed As) {
  Chosen Found;
  std::string Wanted = splitTemplate(Entry, Found.Arguments);
  llvm::StringRef Bare = Wanted;
  Bare.consume_front("::");
  Functions All(Source);

  std::vector<const FunctionDecl *> Matches;
  for (const FunctionDecl *F : All.Defined)
    if (calledName(F) == Bare || calledName(F, /*WithInline=*/true) == Bare)
      Matches.push_back(F);
  if (Matches.empty())
    return noSuchEntry(Source, All, Entry, Bare);
  // A launcher is often named as its kernel is.
  auto IsMeant = [&](const FunctionDecl *F) {
    return F->hasAttr<CUDAGlobalAttr>() == (As == EntryUsed::Launched);
  };
  size_t Named = Matches.size();
  if (llvm::count_if(Matches, IsMeant) == 1)
    llvm::erase_if(Matches, std::not_fn(IsMeant));
  Found.OneOfTwo = Matches.size() < Named;
  if (Matches.size() > 1)
    return severalEntries(Source, Matches, Bare);
  Found.F = Matches.front();
  const FunctionTemplateDecl *Template =
      Found.F->getDescribedFunctionTemplate();
  if (Template && Found.Arguments.empty())
    return usageError("'" + Bare +
                      "' is a template; name the entry with its "
                      "arguments, as in '" +
                      Bare + "<float>'");
  // What the file makes of the template has real types.
  if (Template)
    Found.Made =
        instanceNamed(Template, Found.Arguments,
                      Source.unit().getASTContext().getPrintingPolicy());
  return Found;
}

llvm::Expected<Signature> stark::findEntry(const ParsedSource &Source,
                                           llvm::StringRef Entry,
                                           EntryUsed As) {
  llvm::Expected<Chosen> Found = choose(Source, Entry, As);
  if (!Found)
    return Found.takeError();
  Signature S = Found->Made ? describe(Found->Made, Source, {})
                            : describe(Found->F, Source, Found->Arguments);
  if (!Found->Arguments.empty())
    S.Name += "<" + llvm::join(Found->Arguments, ", ") + ">";
  return S;
}

const FunctionDecl *stark::findEntryFunction(const ParsedSource &Source,
                                             llvm::StringRef Entry,
                                             EntryUsed As) {
  llvm::Expected<Chosen> Found = choose(Source, Entry, As);
  if (Found)
    return Found->F;
  llvm::consumeError(Found.takeError());
  return nullptr;
}

std::string stark::entryPointer(const ParsedSource &Source,
                                llvm::StringRef Entry, EntryUsed As) {
  llvm::Expected<Chosen> Found = choose(Source, Entry, As);
  if (!Found) {
    llvm::consumeError(Found.takeError());
    return "";
  }
  const FunctionDecl *F = Found->Made ? Found->Made : Found->F;
  if (!Found->OneOfTwo || F->isDependentContext())
    return "";
  const ASTContext &Context = Source.unit().getASTContext();
  PrintingPolicy Policy = Context.getPrintingPolicy();
  Policy.PrintCanonicalTypes = true;
  Policy.SuppressUnwrittenScope = true;
  QualType Type = F->getType().getCanonicalType();
  return Context.getPointerType(Type).getAsString(Policy);
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
    Finder.walk(F);
    if (Finder.Found)
      Hosts.push_back(describe(F, Source, {}));
  }
  Hosts.insert(Hosts.end(), Kernels.begin(), Kernels.end());
  return Hosts;
}
