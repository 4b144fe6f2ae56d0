//===- ContractAst.cpp - Forbidden things, as the AST has them -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractFindings.h"
#include "ContractNames.h"
#include "MainFile.h"
#include "stark/AST/Walk.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

static bool isWord(char C) { return llvm::isAlnum(C) || C == '_'; }

/// "std::thread": inline namespaces such as std::_V2 left out.
static std::string qualifiedName(const NamedDecl *D) {
  std::string Name = D->getDeclName().isIdentifier() ? D->getName().str() : "";
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent()) {
    if (auto *Space = dyn_cast<NamespaceDecl>(C)) {
      if (!Space->isInline() && !Space->isAnonymousNamespace())
        Name = (Space->getName() + "::" + Name).str();
    } else if (auto *Tag = dyn_cast<TagDecl>(C)) {
      Name = (Tag->getName() + "::" + Name).str();
    }
  }
  return Name;
}

/// What \p Ptx declares for the whole module, or "}" where it ends a block that
/// it did not begin; empty: nothing.
static std::string declaredIn(StringRef Ptx) {
  int Depth = 0;
  bool Begins = true; // a statement
  for (size_t I = 0; I < Ptx.size(); ++I) {
    char C = Ptx[I];
    if (C == '{' || C == '}') {
      Depth += C == '{' ? 1 : -1;
      if (Depth < 0)
        return "}";
    } else if (C == '.' && Begins) {
      StringRef Word = Ptx.substr(I).take_while(
          [](char W) { return W == '.' || isWord(W); });
      for (StringRef Global :
           {".global", ".const", ".func", ".entry", ".visible", ".extern",
            ".weak", ".common", ".alias", ".section", ".tex"})
        if (Word == Global)
          return Word.str();
    }
    if (!llvm::isSpace(C))
      Begins = C == ';' || C == '{' || C == '}' || C == ':';
  }
  return Depth ? "{" : "";
}

namespace {

class AstReader : public Walker {
public:
  explicit AstReader(const ContractText &Text)
      : Source(Text.Source), SM(Source.unit().getSourceManager()),
        Context(Source.unit().getASTContext()) {}

  std::vector<Finding> run() {
    walk(Source);
    return std::move(Findings);
  }

  void beginFunction(FunctionDecl *F) override { Functions.push_back(F); }
  void endFunction() override { Functions.pop_back(); }

  bool onDecl(Decl *D) override {
    attributes(D);
    if (auto *F = dyn_cast<FunctionDecl>(D))
      function(F);
    else if (auto *V = dyn_cast<VarDecl>(D))
      variable(V);
    else if (auto *Field = dyn_cast<FieldDecl>(D);
             Field && Field->getParent()->isUnion())
      streamFrom(Field->getType(), D->getLocation());
    else if (auto *Using = dyn_cast<UsingDecl>(D))
      for (const UsingShadowDecl *S : Using->shadows())
        use(S->getTargetDecl(), D->getLocation());
    else if (auto *Directive = dyn_cast<UsingDirectiveDecl>(D))
      use(Directive->getNominatedNamespace(), D->getLocation());
    else if (auto *Alias = dyn_cast<NamespaceAliasDecl>(D))
      use(Alias->getNamespace(), D->getLocation());
    else if (auto *Space = dyn_cast<NamespaceDecl>(D);
             Space && Space->getName() == "std" && isOwn(D->getLocation()))
      add(D->getLocation(), ViolationKind::AddsToStd, "");
    else if (auto *Asm = dyn_cast<FileScopeAsmDecl>(D))
      add(D->getLocation(), ViolationKind::FileAssembly, "",
          Asm->getAsmString()->getString());
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (auto *Call = dyn_cast<CallExpr>(S))
      stream(Call);
    if (auto *Unary = dyn_cast<UnaryOperator>(S);
        Unary && Unary->getOpcode() == UO_AddrOf)
      streamFrom(Unary->getSubExpr()->getType(), Unary->getOperatorLoc());
    if (auto *New = dyn_cast<CXXNewExpr>(S))
      heap(New);
    if (auto *Ref = dyn_cast<DeclRefExpr>(S))
      use(Ref->getDecl(), Ref->getLocation());
    else if (auto *Member = dyn_cast<MemberExpr>(S))
      use(Member->getMemberDecl(), Member->getMemberLoc());
    else if (auto *Overload = dyn_cast<OverloadExpr>(S))
      for (const NamedDecl *D : Overload->decls())
        use(D, Overload->getNameLoc());
    else if (auto *Made = dyn_cast<CXXConstructExpr>(S))
      use(Made->getConstructor()->getParent(), Made->getLocation());
    else if (auto *Cast = dyn_cast<CastExpr>(S))
      cast(Cast);
    else if (auto *Asm = dyn_cast<AsmStmt>(S))
      assembly(Asm);
    return true;
  }

  bool onType(TypeLoc L) override {
    if (auto Tag = L.getAs<TagTypeLoc>())
      use(Tag.getDecl(), Tag.getNameLoc());
    else if (auto Alias = L.getAs<TypedefTypeLoc>())
      use(Alias.getTypedefNameDecl(), Alias.getNameLoc());
    else if (auto Template = L.getAs<TemplateSpecializationTypeLoc>())
      use(Template.getTypePtr()->getTemplateName().getAsTemplateDecl(),
          Template.getTemplateNameLoc());
    return true;
  }

private:
  bool isOwn(SourceLocation L) const { return isInMainFile(SM, L); }

  void add(SourceLocation L, ViolationKind Kind, StringRef Name, StringRef Key,
           std::optional<Harm> Why = std::nullopt) {
    SourceLocation At = SM.getExpansionLoc(L);
    unsigned Line = SM.isInMainFile(At) ? SM.getSpellingLineNumber(At) : 0;
    Findings.push_back({{Kind, Line, Name.str(), Why}, Key.str()});
  }
  void add(SourceLocation L, ViolationKind Kind, StringRef Name) {
    add(L, Kind, Name, Name);
  }

  void cast(const CastExpr *E) {
    QualType To = E->getType();
    if (E->isTypeDependent())
      return;
    if (auto *Enum = To->getAs<EnumType>();
        Enum && E->getCastKind() == CK_IntegralCast &&
        Enum->getDecl()->getName().starts_with("cudaLaunchAttribute"))
      add(E->getExprLoc(), ViolationKind::LaunchAttributeFromNumber, "");
    bool FromNumber = E->getCastKind() == CK_IntegralToPointer;
    bool FromOther =
        E->getCastKind() == CK_BitCast || E->getCastKind() == CK_LValueBitCast;
    if (!To->isPointerType() || (!FromNumber && !FromOther))
      return;
    QualType Pointee = To->getPointeeType();
    // The place of a stream, as well as a stream.
    if (FromOther && Pointee->isPointerType())
      Pointee = Pointee->getPointeeType();
    const RecordDecl *Record = Pointee->getAsRecordDecl();
    if (FromNumber && To->isFunctionPointerType())
      add(E->getExprLoc(), ViolationKind::FunctionFromNumber, "");
    else if (Record && Record->getName() == "CUstream_st")
      add(E->getExprLoc(), ViolationKind::StreamFromNumber, "");
  }

  void assembly(const AsmStmt *S) {
    bool Device = false;
    for (const FunctionDecl *F : Functions)
      Device |= F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>();
    if (!Device)
      return add(S->getBeginLoc(), ViolationKind::HostAssembly, "",
                 S->generateAsmString(Context));
    // Of several literals put together, too.
    const auto *Gnu = dyn_cast<GCCAsmStmt>(S);
    std::string Text = Gnu ? Gnu->getAsmString()->getString().str()
                           : S->generateAsmString(Context);
    if (StringRef(Text).contains("globaltimer"))
      add(S->getBeginLoc(), ViolationKind::TellingString, "globaltimer");
    if (std::string Word = declaredIn(Text); !Word.empty())
      add(S->getBeginLoc(), ViolationKind::PtxDeclaration, Word, Text);
  }

  void attributes(const Decl *D) {
    if (!D->hasAttrs())
      return;
    for (const Attr *A : D->getAttrs()) {
      if (A->isImplicit() || A->isInherited() || !isOwn(A->getLocation()))
        continue;
      if (isa<AsmLabelAttr>(A))
        add(A->getLocation(), ViolationKind::NamesSymbol, A->getSpelling());
      else if (isa<ConstructorAttr, DestructorAttr, WeakAttr, WeakRefAttr,
                   AliasAttr, IFuncAttr, SectionAttr, InitPriorityAttr,
                   VisibilityAttr>(A))
        add(A->getLocation(), ViolationKind::UsesAttribute, A->getSpelling());
    }
  }

  void function(const FunctionDecl *F) {
    if (!F->getDeclName().isIdentifier() || !isOwn(F->getLocation()) ||
        isa<CXXMethodDecl>(F))
      return;
    StringRef Name = F->getName();
    if (forbiddenWord(Name) || (F->isExternC() && forbiddenFunction(Name)))
      add(F->getLocation(), ViolationKind::DeclaresName, Name);
    bool Device = F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>();
    if (!Device && !F->isTemplated() && !F->getDefinition() &&
        F->isExternallyVisible())
      add(F->getLocation(), ViolationKind::UndefinedFunction, Name,
          qualifiedName(F));
  }

  void variable(VarDecl *V) {
    if (!V->hasGlobalStorage() || isa<ParmVarDecl>(V) ||
        !isOwn(V->getLocation()) || V->hasAttr<CUDASharedAttr>() ||
        (V->getTemplateInstantiationPattern() &&
         V->getTemplateInstantiationPattern() != V))
      return;
    if (V->isThisDeclarationADefinition() == VarDecl::DeclarationOnly &&
        V->isStaticDataMember())
      return; // its definition, or constexpr, says what it is
    std::string Name = qualifiedName(V);
    if (V->isStaticLocal() && !Functions.empty())
      Name = qualifiedName(Functions.back()) + "::" + Name;
    if (std::optional<ViolationKind> Kind = lives(V))
      add(V->getLocation(), *Kind, Name);
  }

  bool onDevice() const {
    return !Functions.empty() && sideOf(Functions.back()) != Side::Host;
  }

  /// Is one of the functions that this stands in given a stream?
  bool hasStream() const {
    return !onDevice() && llvm::any_of(Functions, [](const FunctionDecl *F) {
      return llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
        return isStream(P->getType());
      });
    });
  }

  static bool isStream(QualType Type) {
    const CXXRecordDecl *Record =
        Type->isPointerType() ? Type->getPointeeCXXRecordDecl() : nullptr;
    return Record && Record->getName() == "CUstream_st";
  }

  /// What could put a stream of type \p Type together from bytes.
  void streamFrom(QualType Type, SourceLocation L) {
    if (isStream(Type) && isOwn(L))
      add(L, ViolationKind::StreamFromNumber, "");
  }

  /// The default stream is no place for work where there is another: nothing
  /// orders what is done in one and in the other.
  void stream(const CallExpr *Call) {
    if (const FunctionDecl *F = Call->getDirectCallee();
        F && qualifiedName(F) == "std::bit_cast")
      streamFrom(Call->getType(), Call->getExprLoc());
    if (!hasStream() || !isOwn(Call->getExprLoc()))
      return;
    auto Add = [&](StringRef Name) {
      add(Call->getExprLoc(), ViolationKind::CallsFunction,
          (Name + " in the default stream").str(), Name, Harm::Streams);
    };
    if (auto *Launch = dyn_cast<CUDAKernelCallExpr>(Call)) {
      if (const CallExpr *Config = Launch->getConfig();
          Config && (Config->getNumArgs() < 4 || isNull(Config->getArg(3))))
        Add("a kernel");
      return;
    }
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || !F->getDeclName().isIdentifier() || !Call->getNumArgs())
      return;
    if (worksInDefaultStream(F->getName()) ||
        (takesStreamLast(F->getName()) &&
         isNull(Call->getArg(Call->getNumArgs() - 1))))
      Add(F->getName());
  }

  bool isNull(const Expr *E) const {
    return isa<CXXDefaultArgExpr>(E) ||
           E->isNullPointerConstant(Context,
                                    Expr::NPC_ValueDependentIsNotNull) !=
               Expr::NPCK_NotNull;
  }

  /// The device's heap keeps what a kernel puts there, for the next one.
  void heap(const CXXNewExpr *New) {
    if (onDevice() && !New->getNumPlacementArgs() && isOwn(New->getExprLoc()))
      add(New->getExprLoc(), ViolationKind::CallsFunction, "new", "new",
          Harm::State);
  }

  /// Does `<<<` stand at \p L? A launch names a function by itself that nobody
  /// else may name.
  bool isLaunch(SourceLocation L) const {
    return StringRef(SM.getCharacterData(SM.getSpellingLoc(L)))
        .starts_with("<<<");
  }

  /// \p D is named at \p L: is it one of those that may not be?
  void use(const NamedDecl *D, SourceLocation L) {
    if (!D || !isOwn(L) || isLaunch(L))
      return;
    if (D->getDeclName().isIdentifier()) {
      StringRef Name = D->getName();
      // The token reader looks at what a driver's entry point is asked for.
      bool TensorMap = Name.starts_with("cudaGetDriverEntryPoint");
      if (std::optional<Harm> Why = forbiddenWord(Name);
          Why && !TensorMap && !isOwn(D->getLocation()))
        add(L, ViolationKind::UsesName, Name, Name, Why);
      auto *F = dyn_cast<FunctionDecl>(D->getUnderlyingDecl());
      if (F && F->isExternC() && !onDevice())
        if (std::optional<Harm> Why = forbiddenFunction(Name))
          add(L, ViolationKind::CallsFunction, Name, Name, Why);
      if (F && onDevice() && Name == "malloc")
        add(L, ViolationKind::CallsFunction, Name, Name, Harm::State);
    }
    std::string Name = qualifiedName(D->getUnderlyingDecl());
    if (std::optional<Harm> Why = forbiddenQualified(Name))
      add(L, ViolationKind::UsesName, Name, Name, Why);
  }

  /// What makes \p V live between calls, or run code at load time; nothing for
  /// constants.
  std::optional<ViolationKind> lives(VarDecl *V) const {
    QualType Type = Context.getBaseElementType(V->getType());
    if (V->getType()->isReferenceType())
      Type = Context.getBaseElementType(V->getType().getNonReferenceType());
    bool Const = Type.isConstQualified() || V->isConstexpr();
    if (const CXXRecordDecl *Record = Type->getAsCXXRecordDecl())
      if (Record->hasDefinition() && Record->hasMutableFields())
        Const = false;
    if (V->hasAttr<HIPManagedAttr>())
      return ViolationKind::ManagedVariable;
    if (isWritten<CUDAConstantAttr>(V) && !V->isConstexpr()) {
      if (V->getInit())
        return std::nullopt;
      return ViolationKind::FilledConstant;
    }
    if (V->hasExternalStorage() && !V->hasInit()) {
      if (Const)
        return std::nullopt;
      return ViolationKind::ForeignVariable;
    }
    if (!Const)
      return isWritten<CUDADeviceAttr>(V) ? ViolationKind::DeviceVariable
             : V->isStaticLocal()         ? ViolationKind::StaticVariable
                                          : ViolationKind::GlobalVariable;
    if (V->getType()->isDependentType() || !V->getInit() ||
        V->getInit()->isValueDependent() || V->isInvalidDecl())
      return std::nullopt;
    if (!V->isConstexpr() && !V->hasConstantInitialization())
      return ViolationKind::RunsInitialiser;
    if (!V->getType()->isReferenceType() &&
        V->needsDestruction(Context) != QualType::DK_none)
      return ViolationKind::RunsDestructor;
    return std::nullopt;
  }

  const ParsedSource &Source;
  const SourceManager &SM;
  ASTContext &Context;
  std::vector<FunctionDecl *> Functions;
  std::vector<Finding> Findings;
};

class BodyFinder : public Walker {
public:
  explicit BodyFinder(const SourceManager &SM) : SM(SM) {}
  bool onDecl(Decl *D) override {
    const auto *F = dyn_cast<FunctionDecl>(D);
    if (!F || sideOf(F) == Side::Host || !F->hasBody())
      return true;
    SourceRange R = F->getBody()->getSourceRange();
    if (isInMainFile(SM, R.getBegin()) && isInMainFile(SM, R.getEnd()))
      Found.push_back({SM.getFileOffset(SM.getExpansionLoc(R.getBegin())),
                       SM.getFileOffset(SM.getExpansionLoc(R.getEnd())) + 1});
    return true;
  }
  std::vector<Range> Found;

private:
  const SourceManager &SM;
};
} // namespace

std::vector<Finding> stark::astFindings(const ContractText &Text) {
  return AstReader(Text).run();
}

std::vector<Range> stark::deviceBodies(const ParsedSource &Source) {
  BodyFinder Finder(Source.unit().getSourceManager());
  Finder.walk(Source);
  return std::move(Finder.Found);
}
