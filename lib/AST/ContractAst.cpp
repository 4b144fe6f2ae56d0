//===- ContractAst.cpp - Forbidden things, as the AST has them -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractFindings.h"
#include "ContractNames.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

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

namespace {

class AstReader : public RecursiveASTVisitor<AstReader> {
public:
  explicit AstReader(const ContractText &Text)
      : Unit(Text.Source.unit()), SM(Unit.getSourceManager()),
        Context(Unit.getASTContext()) {}

  std::vector<Finding> run() {
    for (auto I = Unit.top_level_begin(), E = Unit.top_level_end(); I != E; ++I)
      if (*I && inMainFile((*I)->getLocation()))
        TraverseDecl(*I);
    return std::move(Findings);
  }

  bool TraverseDecl(Decl *D) {
    auto *F = dyn_cast_or_null<FunctionDecl>(D);
    if (!F)
      return RecursiveASTVisitor::TraverseDecl(D);
    Functions.push_back(F);
    bool Result = RecursiveASTVisitor::TraverseDecl(D);
    Functions.pop_back();
    return Result;
  }
  bool TraverseLambdaExpr(LambdaExpr *E) {
    Functions.push_back(E->getCallOperator());
    bool Result = RecursiveASTVisitor::TraverseLambdaExpr(E);
    Functions.pop_back();
    return Result;
  }

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    use(E->getDecl(), E->getLocation());
    return true;
  }
  bool VisitMemberExpr(MemberExpr *E) {
    use(E->getMemberDecl(), E->getMemberLoc());
    return true;
  }
  bool VisitOverloadExpr(OverloadExpr *E) {
    for (const NamedDecl *D : E->decls())
      use(D, E->getNameLoc());
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    use(E->getConstructor()->getParent(), E->getLocation());
    return true;
  }
  bool VisitTagTypeLoc(TagTypeLoc L) {
    use(L.getDecl(), L.getNameLoc());
    return true;
  }
  bool VisitTypedefTypeLoc(TypedefTypeLoc L) {
    use(L.getTypedefNameDecl(), L.getNameLoc());
    return true;
  }
  bool VisitTemplateSpecializationTypeLoc(TemplateSpecializationTypeLoc L) {
    if (auto *D = L.getTypePtr()->getTemplateName().getAsTemplateDecl())
      use(D, L.getTemplateNameLoc());
    return true;
  }
  bool VisitUsingDecl(UsingDecl *D) {
    for (const UsingShadowDecl *S : D->shadows())
      use(S->getTargetDecl(), D->getLocation());
    return true;
  }
  bool VisitUsingDirectiveDecl(UsingDirectiveDecl *D) {
    use(D->getNominatedNamespace(), D->getLocation());
    return true;
  }
  bool VisitNamespaceAliasDecl(NamespaceAliasDecl *D) {
    use(D->getNamespace(), D->getLocation());
    return true;
  }

  bool VisitCastExpr(CastExpr *E) {
    QualType To = E->getType();
    if (E->isTypeDependent() || !To->isPointerType())
      return true;
    bool Function = To->isFunctionPointerType();
    if (E->getCastKind() == CK_IntegralToPointer) {
      const RecordDecl *Record = To->getPointeeType()->getAsRecordDecl();
      if (Function)
        add(E->getExprLoc(), "cast function",
            "makes a function pointer from a number, which is forbidden");
      else if (Record && Record->getName() == "CUstream_st")
        add(E->getExprLoc(), "cast stream",
            "makes a stream from a number, which is forbidden: work goes to "
            "the stream that the entry is given");
    }
    return true;
  }

  bool VisitAsmStmt(AsmStmt *S) {
    bool Device = false;
    for (const FunctionDecl *F : Functions)
      Device |= F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>();
    if (!Device)
      add(S->getBeginLoc(), "asm " + S->generateAsmString(Context),
          "has assembly in host code, which is forbidden");
    return true;
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *D) {
    add(D->getLocation(), "asm " + D->getAsmString()->getString().str(),
        "has assembly outside every function, which is forbidden");
    return true;
  }

  bool VisitDecl(Decl *D) {
    if (!D->hasAttrs())
      return true;
    for (const Attr *A : D->getAttrs()) {
      if (A->isImplicit() || A->isInherited() || !inMainFile(A->getLocation()))
        continue;
      bool Bad = isa<ConstructorAttr>(A) || isa<DestructorAttr>(A) ||
                 isa<WeakAttr>(A) || isa<WeakRefAttr>(A) || isa<AliasAttr>(A) ||
                 isa<IFuncAttr>(A) || isa<SectionAttr>(A) ||
                 isa<InitPriorityAttr>(A) || isa<AsmLabelAttr>(A) ||
                 isa<VisibilityAttr>(A);
      if (Bad)
        add(A->getLocation(),
            ("attribute " + StringRef(A->getSpelling())).str(),
            isa<AsmLabelAttr>(A)
                ? "gives a function another name for the linker, which is "
                  "forbidden"
                : ("uses the attribute '" + StringRef(A->getSpelling()) +
                   "', which is forbidden: it changes how code is linked or "
                   "loaded")
                      .str());
    }
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (!F->getDeclName().isIdentifier() || !inMainFile(F->getLocation()) ||
        isa<CXXMethodDecl>(F))
      return true;
    StringRef Name = F->getName();
    if (!forbiddenWord(Name).empty() ||
        (F->isExternC() && !forbiddenFunction(Name).empty()))
      add(F->getLocation(), ("word " + Name).str(),
          ("declares '" + Name + "', which is forbidden").str());
    bool Device = F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>();
    if (!Device && !F->isTemplated() && !F->getDefinition() &&
        F->isExternallyVisible())
      add(F->getLocation(), "undefined " + qualifiedName(F),
          ("declares host function '" + Name +
           "', which neither it nor the source defines")
              .str());
    return true;
  }

  bool VisitNamespaceDecl(NamespaceDecl *D) {
    if (D->getName() == "std" && inMainFile(D->getLocation()))
      add(D->getLocation(), "namespace std",
          "adds to namespace std, which is forbidden");
    return true;
  }

  bool VisitVarDecl(VarDecl *V) {
    if (!V->hasGlobalStorage() || isa<ParmVarDecl>(V) ||
        !inMainFile(V->getLocation()) || V->hasAttr<CUDASharedAttr>() ||
        (V->getTemplateInstantiationPattern() &&
         V->getTemplateInstantiationPattern() != V))
      return true;
    if (V->isThisDeclarationADefinition() == VarDecl::DeclarationOnly &&
        V->isStaticDataMember())
      return true; // its definition, or constexpr, says what it is
    std::string Name = qualifiedName(V);
    if (V->isStaticLocal() && !Functions.empty())
      Name = qualifiedName(Functions.back()) + "::" + Name;
    std::string Why = lives(V);
    if (!Why.empty())
      add(V->getLocation(), "state " + Name,
          "variable '" + Name + "' " + Why +
              ", which is forbidden: nothing may be kept between calls");
    return true;
  }

private:
  bool inMainFile(SourceLocation L) const {
    return L.isValid() && SM.isInMainFile(SM.getExpansionLoc(L));
  }

  void add(SourceLocation L, std::string Key, std::string Message) {
    SourceLocation At = SM.getExpansionLoc(L);
    unsigned Line = SM.isInMainFile(At) ? SM.getSpellingLineNumber(At) : 0;
    Findings.push_back({std::move(Key), {Line, true, std::move(Message)}});
  }

  bool onDevice() const {
    return !Functions.empty() && !Functions.back()->hasAttr<CUDAHostAttr>() &&
           (Functions.back()->hasAttr<CUDADeviceAttr>() ||
            Functions.back()->hasAttr<CUDAGlobalAttr>());
  }

  /// \p D is named at \p L: is it one of those that may not be?
  void use(const NamedDecl *D, SourceLocation L) {
    if (!D || !inMainFile(L))
      return;
    bool Plain = D->getDeclName().isIdentifier();
    if (Plain) {
      StringRef Name = D->getName();
      if (StringRef Why = forbiddenWord(Name);
          !Why.empty() && !tensorMap(Name) && !inMainFile(D->getLocation()))
        add(L, ("word " + Name).str(),
            ("uses '" + Name + "', which is forbidden: " + Why).str());
      auto *F = dyn_cast<FunctionDecl>(D->getUnderlyingDecl());
      if (F && F->isExternC() && !onDevice())
        if (StringRef Why = forbiddenFunction(Name); !Why.empty())
          add(L, ("call " + Name).str(),
              ("calls '" + Name + "', which is forbidden: " + Why).str());
    }
    std::string Name = qualifiedName(D->getUnderlyingDecl());
    if (StringRef Why = forbiddenQualified(Name); !Why.empty())
      add(L, "name " + Name,
          "uses '" + Name + "', which is forbidden: " + Why.str());
  }

  /// The token reader looks at what is asked for.
  static bool tensorMap(StringRef Name) {
    return Name.starts_with("cudaGetDriverEntryPoint");
  }

  /// Clang gives constants an implicit __constant__ or __device__.
  template <class A> static bool written(const Decl *D) {
    const A *Found = D->getAttr<A>();
    return Found && !Found->isImplicit();
  }

  /// What makes \p V live between calls, or run code at load time; empty for
  /// constants.
  std::string lives(VarDecl *V) const {
    QualType Type = Context.getBaseElementType(V->getType());
    if (V->getType()->isReferenceType())
      Type = Context.getBaseElementType(V->getType().getNonReferenceType());
    bool Const = Type.isConstQualified() || V->isConstexpr();
    if (const CXXRecordDecl *Record = Type->getAsCXXRecordDecl())
      if (Record->hasDefinition() && Record->hasMutableFields())
        Const = false;
    if (V->hasAttr<HIPManagedAttr>())
      return "is managed memory";
    if (written<CUDAConstantAttr>(V) && !V->isConstexpr())
      return V->getInit() ? "" : "is constant memory that the host would fill";
    if (V->hasExternalStorage() && !V->hasInit())
      return Const ? "" : "belongs to another file";
    if (!Const)
      return written<CUDADeviceAttr>(V) ? "is mutable device memory"
             : V->isStaticLocal()       ? "is static and can change"
                                        : "is global and can change";
    if (V->getType()->isDependentType() || !V->getInit() ||
        V->getInit()->isValueDependent() || V->isInvalidDecl())
      return "";
    if (!V->isConstexpr() && !V->hasConstantInitialization())
      return "is initialised by code that runs once";
    if (!V->getType()->isReferenceType() &&
        V->needsDestruction(Context) != QualType::DK_none)
      return "runs a destructor when the program ends";
    return "";
  }

  ASTUnit &Unit;
  const SourceManager &SM;
  ASTContext &Context;
  std::vector<FunctionDecl *> Functions;
  std::vector<Finding> Findings;
};
} // namespace

std::vector<Finding> stark::astFindings(const ContractText &Text) {
  return AstReader(Text).run();
}

namespace {
class BodyFinder : public RecursiveASTVisitor<BodyFinder> {
public:
  BodyFinder(const SourceManager &SM, std::vector<Range> &Out)
      : SM(SM), Out(Out) {}
  bool VisitFunctionDecl(FunctionDecl *F) {
    bool Device = F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>();
    if (!Device || F->hasAttr<CUDAHostAttr>() || !F->hasBody())
      return true;
    SourceRange R = F->getBody()->getSourceRange();
    SourceLocation B = SM.getExpansionLoc(R.getBegin());
    SourceLocation E = SM.getExpansionLoc(R.getEnd());
    if (SM.isInMainFile(B) && SM.isInMainFile(E))
      Out.push_back({SM.getFileOffset(B), SM.getFileOffset(E) + 1});
    return true;
  }

private:
  const SourceManager &SM;
  std::vector<Range> &Out;
};
} // namespace

std::vector<Range> stark::deviceBodies(const ParsedSource &Source) {
  std::vector<Range> Result;
  ASTUnit &Unit = Source.unit();
  const SourceManager &SM = Unit.getSourceManager();
  BodyFinder Finder(SM, Result);
  for (auto I = Unit.top_level_begin(), E = Unit.top_level_end(); I != E; ++I)
    if (*I && SM.isInMainFile(SM.getExpansionLoc((*I)->getLocation())))
      Finder.TraverseDecl(*I);
  return Result;
}
