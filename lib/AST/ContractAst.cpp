//===- ContractAst.cpp - Forbidden things, as the AST has them -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractNames.h"
#include "ContractPtx.h"
#include "ContractReader.h"
#include "MainFile.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace stark;
using namespace clang;
using llvm::StringRef;

std::string stark::qualifiedName(const NamedDecl *D) {
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

namespace {

class AstReader : public ContractReader {
public:
  explicit AstReader(const ContractText &Text) : ContractReader(Text) {}

  std::vector<Finding> run() {
    walk(Source);
    for (const auto &[Name, L] : Taken)
      if (llvm::none_of(llvm::split(givesBack(Name), ' '), [&](StringRef Back) {
            return GivenBack.count(Back.str()) != 0;
          }))
        add(L, ViolationKind::CallsFunction,
            Name + " without " + givesBack(Name).split(' ').first.str(), Name,
            Harm::State);
    return std::move(Findings);
  }

  bool onDecl(Decl *D) override {
    attributes(D);
    if (auto *F = dyn_cast<FunctionDecl>(D))
      function(F);
    else if (auto *V = dyn_cast<VarDecl>(D))
      variable(V);
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
  using ContractReader::add;
  void add(SourceLocation L, ViolationKind Kind, StringRef Name) {
    add(L, Kind, Name, Name);
  }

  void cast(const CastExpr *E) {
    if (!E->isTypeDependent() && E->getType()->isFunctionPointerType() &&
        E->getCastKind() == CK_IntegralToPointer)
      add(E->getExprLoc(), ViolationKind::FunctionFromNumber, "");
  }

  void assembly(const AsmStmt *S) {
    bool Device = llvm::any_of(Functions, [](const FunctionDecl *F) {
      return sideOf(F) != Side::Host;
    });
    // A function of both sides is the host's as well.
    bool Both = llvm::any_of(Functions, [](const FunctionDecl *F) {
      return F->hasAttr<CUDADeviceAttr>();
    });
    if (!Device && !(Both && hostSkips(Text.Tokens, offsetOf(S))))
      return add(S->getBeginLoc(), ViolationKind::HostAssembly, "",
                 S->generateAsmString(Context));
    // Of several literals put together, too.
    const auto *Gnu = dyn_cast<GCCAsmStmt>(S);
    std::string Ptx = Gnu ? Gnu->getAsmString()->getString().str()
                          : S->generateAsmString(Context);
    if (std::string Word = tellingRegister(Ptx); !Word.empty())
      add(S->getBeginLoc(), ViolationKind::TellingString, Word);
    if (std::string Word = declaredInPtx(Ptx); !Word.empty())
      add(S->getBeginLoc(), ViolationKind::PtxDeclaration, Word, Ptx);
  }

  size_t offsetOf(const Stmt *S) const {
    return SM.getFileOffset(SM.getExpansionLoc(S->getBeginLoc()));
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

  /// Of the C library, and not known to keep nothing. What a user's header has
  /// is the user's.
  bool mayKeep(const FunctionDecl *F) {
    StringRef Name = F->getName(),
              File = SM.getFilename(SM.getSpellingLoc(F->getLocation()));
    if (!SM.isInSystemHeader(F->getLocation()) || keepsNothing(Name) ||
        Name.starts_with("__builtin_"))
      return false;
    if (unsigned Id = F->getBuiltinID()) {
      const char *Header = Context.BuiltinInfo.getHeaderName(Id);
      if (!Header || StringRef(Header) == "math.h" ||
          StringRef(Header) == "complex.h")
        return false;
    }
    // CUDA's runtime and libraries have rules of their own.
    return !ofCuda(Name) && !isOfToolkit(File) &&
           !llvm::sys::path::filename(File).contains("math") &&
           !File.contains("torch");
  }

  /// The toolkit's, or what stands in for it.
  bool isOfToolkit(StringRef File) {
    StringRef Own = llvm::sys::path::filename(File);
    if (File.starts_with("/stark-headers/") || Own.starts_with("__clang_cuda"))
      return true;
    if (!ToolkitFolder)
      ToolkitFolder = findToolkitFolder();
    // Where it shares a folder with the C library, names are all there is.
    if (ToolkitFolder->empty())
      return Own.contains("cuda") || File.contains("/crt/");
    return File.starts_with(*ToolkitFolder);
  }

  /// With a slash at its end; empty: there is none that is its own.
  std::string findToolkitFolder() const {
    for (auto I = SM.fileinfo_begin(); I != SM.fileinfo_end(); ++I) {
      StringRef File = I->first.getName();
      if (llvm::sys::path::filename(File) != "cuda_runtime_api.h")
        continue;
      StringRef Folder = llvm::sys::path::parent_path(File);
      return llvm::sys::fs::exists(Folder + "/features.h")
                 ? ""
                 : (Folder + "/").str();
    }
    return "";
  }

  /// \p D is named at \p L: is it one of those that may not be?
  void use(const NamedDecl *D, SourceLocation L) {
    if (!D || !isOwn(L) || isLaunch(L))
      return;
    if (!onDevice() && D->getDeclName().isIdentifier() &&
        !isOwn(D->getLocation())) {
      if (!givesBack(D->getName()).empty())
        Taken.try_emplace(D->getName().str(), L);
      GivenBack.insert(D->getName().str());
    }
    if (D->getDeclName().isIdentifier()) {
      StringRef Name = D->getName();
      // The token reader looks at what a driver's entry point is asked for.
      bool TensorMap = Name.starts_with("cudaGetDriverEntryPoint");
      if (std::optional<Harm> Why = forbiddenWord(Name);
          Why && !TensorMap && !isOwn(D->getLocation()))
        add(L, ViolationKind::UsesName, Name, Name, Why);
      auto *F = dyn_cast<FunctionDecl>(D->getUnderlyingDecl());
      if (F && F->isExternC() && !onDevice()) {
        if (std::optional<Harm> Why = forbiddenFunction(Name))
          add(L, ViolationKind::CallsFunction, Name, Name, Why);
        else if (!forbiddenWord(Name) && mayKeep(F))
          add(L, ViolationKind::CallsFunction, Name, Name, Harm::State);
      }
      if (F && onDevice() && Name == "malloc")
        add(L, ViolationKind::CallsFunction, Name, Name, Harm::State);
      if (F && onDevice() && !isOwn(F->getLocation()) &&
          (Name == "clock" || Name == "clock64"))
        add(L, ViolationKind::CallsFunction, Name, Name, Harm::Clocks);
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

  std::optional<std::string> ToolkitFolder;
  std::map<std::string, SourceLocation> Taken; ///< by what takes it
  std::set<std::string> GivenBack;             ///< names of functions
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
