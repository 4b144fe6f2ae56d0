//===- HalvesItems.cpp - Which half a declaration is for -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesItems.h"
#include "MainFile.h"
#include "SourceTokens.h"
#include "stark/AST/Walk.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

FunctionDecl *Item::function() const {
  if (auto *Template = dyn_cast<FunctionTemplateDecl>(D))
    return Template->getTemplatedDecl();
  return dyn_cast<FunctionDecl>(D);
}

std::vector<size_t> stark::itemsAt(const std::vector<Item> &Items,
                                   size_t Offset) {
  std::vector<size_t> Found;
  for (size_t I = 0; I < Items.size(); ++I)
    if (Items[I].Bytes.Begin <= Offset && Offset < Items[I].Bytes.End)
      Found.push_back(I);
  return Found;
}

/// Whether \p D takes one of torch's tensors, or a complex number of torch's
/// whose type is deduced: no number, vector or pointer becomes one.
static bool takesTorchOnly(const NamedDecl *D, const Headers &From) {
  const FunctionDecl *F = D->getUnderlyingDecl()->getAsFunction();
  if (!F)
    return false;
  return llvm::any_of(F->parameters(), [&](const ParmVarDecl *P) {
    QualType T = P->getType().getNonReferenceType();
    const NamedDecl *Named = T->getAsCXXRecordDecl();
    bool Tensor = Named && Named->getName() == "Tensor";
    if (const auto *Made = T->getAs<TemplateSpecializationType>();
        Made && T->isDependentType()) {
      Named = Made->getTemplateName().getAsTemplateDecl();
      Tensor = Named && Named->getName() == "complex";
    }
    return Tensor && From.isTorch(Named->getLocation());
  });
}

namespace {
/// All that a declaration names.
class UseReader : public Walker {
public:
  UseReader(const Headers &From, std::set<const Decl *> &Uses)
      : From(From), Uses(Uses) {}

  bool onDecl(Decl *D) override {
    if (auto *Using = dyn_cast<UsingDecl>(D))
      for (const UsingShadowDecl *S : Using->shadows())
        use(S->getTargetDecl());
    else if (auto *Directive = dyn_cast<UsingDirectiveDecl>(D))
      use(Directive->getNominatedNamespace());
    else if (auto *Alias = dyn_cast<NamespaceAliasDecl>(D))
      use(Alias->getNamespace());
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (auto *Ref = dyn_cast<DeclRefExpr>(S))
      use(Ref->getDecl());
    else if (auto *Member = dyn_cast<MemberExpr>(S))
      use(Member->getMemberDecl());
    else if (auto *Overload = dyn_cast<OverloadExpr>(S))
      overloads(*Overload);
    else if (auto *Made = dyn_cast<CXXConstructExpr>(S))
      use(Made->getConstructor()->getParent());
    return true;
  }

  bool onType(TypeLoc L) override {
    if (auto Tag = L.getAs<TagTypeLoc>())
      use(Tag.getDecl());
    else if (auto Alias = L.getAs<TypedefTypeLoc>())
      use(Alias.getTypedefNameDecl());
    else if (auto Using = L.getAs<UsingTypeLoc>())
      use(Using.getFoundDecl());
    else if (auto Template = L.getAs<TemplateSpecializationTypeLoc>())
      use(Template.getTypePtr()->getTemplateName().getAsTemplateDecl());
    else if (auto Deduced = L.getAs<DeducedTemplateSpecializationTypeLoc>())
      use(Deduced.getTypePtr()->getTemplateName().getAsTemplateDecl());
    return true;
  }

private:
  /// Torch brings an exp() of complex numbers into the global namespace. The
  /// set may lose those: none is chosen for what a kernel has.
  void overloads(const OverloadExpr &Set) {
    bool Others = llvm::any_of(Set.decls(), [&](const NamedDecl *D) {
      return !From.isTorch(D->getUnderlyingDecl()->getLocation());
    });
    for (const NamedDecl *D : Set.decls())
      if (!Others || !takesTorchOnly(D, From))
        use(D);
  }

  void use(const NamedDecl *D) {
    if (D)
      Uses.insert(D->getUnderlyingDecl()->getCanonicalDecl());
  }
  const Headers &From;
  std::set<const Decl *> &Uses;
};

class ItemReader {
public:
  ItemReader(const ParsedSource &Source, const Headers &From,
             std::string &WhyNot)
      : Source(Source), Unit(Source.unit()), SM(Unit.getSourceManager()),
        From(From), Tokens(Source.text(), Names), WhyNot(WhyNot) {}

  std::optional<std::vector<Item>> run(bool ForHalves) {
    for (Decl *D : Unit.getASTContext().getTraversalScope())
      declaration(D, D);
    llvm::stable_sort(Items, [](const Item &A, const Item &B) {
      return A.Bytes.Begin < B.Bytes.Begin;
    });
    takeLeadingTokens();
    readMacros();
    if (ForHalves) {
      findHostOnly();
      checkDevice();
    }
    if (!WhyNot.empty())
      return std::nullopt;
    return std::move(Items);
  }

private:
  void refuse(const std::string &Why) {
    if (WhyNot.empty())
      WhyNot = Why;
  }

  /// \p Outer has the bytes: `extern "C"` stands outside its declaration.
  void declaration(Decl *D, Decl *Outer);
  void add(Decl *D, Decl *Outer);
  Item::SideType sideOfItem(const Decl *D);
  Item::SideType sideOfVariable(const VarDecl *V);
  void takeLeadingTokens();
  void readMacros();
  void findHostOnly();
  void checkDevice();

  const ParsedSource &Source;
  ASTUnit &Unit;
  const SourceManager &SM;
  const Headers &From;
  Spellings Names;
  SourceTokens Tokens;
  std::string &WhyNot;
  std::vector<Item> Items;
};
} // namespace

/// Clang's own, made of a template that stands elsewhere in the text.
static bool isInstance(const Decl *D) {
  if (auto *F = dyn_cast<FunctionDecl>(D))
    return F->isTemplateInstantiation();
  if (auto *C = dyn_cast<ClassTemplateSpecializationDecl>(D))
    return C->getSpecializationKind() == TSK_ImplicitInstantiation;
  if (auto *V = dyn_cast<VarTemplateSpecializationDecl>(D))
    return V->getSpecializationKind() == TSK_ImplicitInstantiation;
  return false;
}

void ItemReader::declaration(Decl *D, Decl *Outer) {
  if (D->isImplicit() || isInstance(D) || isa<EmptyDecl>(D))
    return;
  if (isa<NamespaceDecl>(D)) {
    for (Decl *Inner : cast<DeclContext>(D)->decls())
      declaration(Inner, Inner);
  } else if (auto *Linkage = dyn_cast<LinkageSpecDecl>(D)) {
    for (Decl *Inner : Linkage->decls())
      declaration(Inner, Linkage->hasBraces() ? Inner : D);
  } else if (isInMainFile(SM, D->getLocation()) ||
             isInMainFile(SM, D->getBeginLoc())) {
    add(D, Outer);
  }
}

void ItemReader::add(Decl *D, Decl *Outer) {
  CharSourceRange R = SM.getExpansionRange(Outer->getSourceRange());
  if (!SM.isInMainFile(R.getBegin()) || !SM.isInMainFile(R.getEnd()))
    return refuse("a declaration lies in two files");
  Item New;
  New.D = D;
  size_t Last = Tokens.firstAt(SM.getFileOffset(R.getEnd()));
  New.Bytes.Begin = SM.getFileOffset(R.getBegin());
  New.Bytes.End = Last < Tokens.All.size() ? Tokens.All[Last].Bytes.End
                                           : Source.text().size();
  if (auto *Named = dyn_cast<NamedDecl>(D))
    New.Name = Named->getDeclName().isIdentifier() ? Named->getName().str()
                                                   : std::string();
  New.Side = sideOfItem(D);
  if (const FunctionDecl *F = New.function();
      F && F->doesThisDeclarationHaveABody() && F->getBody())
    New.Body =
        fileBytes(F->getBody()->getSourceRange(), SM, Unit.getLangOpts());
  UseReader(From, New.Uses).walk(D);
  if (New.Side == Item::Kernel)
    for (ParmVarDecl *P : New.function()->parameters())
      UseReader(From, New.InSignature).walk(P);
  Items.push_back(std::move(New));
}

Item::SideType ItemReader::sideOfItem(const Decl *D) {
  if (auto *Template = dyn_cast<TemplateDecl>(D))
    if (Template->getTemplatedDecl())
      D = Template->getTemplatedDecl();
  if (auto *F = dyn_cast<FunctionDecl>(D)) {
    if (F->hasAttr<CUDAGlobalAttr>())
      return Item::Kernel;
    if (sideOf(F) == Side::Device)
      return Item::Device;
    bool Both = isWritten<CUDADeviceAttr>(F) || F->isConstexpr() ||
                isa<CXXDeductionGuideDecl>(F);
    return Both ? Item::Shared : Item::Host;
  }
  if (auto *V = dyn_cast<VarDecl>(D))
    return sideOfVariable(V);
  if (!isa<TagDecl, TypedefNameDecl, UsingDecl, UsingDirectiveDecl,
           NamespaceAliasDecl, StaticAssertDecl>(D))
    refuse(std::string("it has a declaration of the kind ") +
           D->getDeclKindName());
  return Item::Shared;
}

Item::SideType ItemReader::sideOfVariable(const VarDecl *V) {
  if (V->hasAttr<HIPManagedAttr>())
    refuse("'" + V->getNameAsString() + "' is managed memory");
  if (isWritten<CUDADeviceAttr>(V) || isWritten<CUDAConstantAttr>(V) ||
      isWritten<CUDASharedAttr>(V))
    return Item::Device;
  QualType Type = Unit.getASTContext().getBaseElementType(V->getType());
  bool Constant =
      V->isConstexpr() ||
      (Type.isConstQualified() && V->getInit() &&
       !V->getInit()->isValueDependent() && V->hasConstantInitialization());
  return Constant ? Item::Shared : Item::Host;
}

/// `[[nodiscard]]` stands before what Clang takes for a declaration's range.
void ItemReader::takeLeadingTokens() {
  std::set<size_t> Ends;
  for (const Item &I : Items)
    Ends.insert(I.Bytes.End);
  for (Item &I : Items) {
    size_t First = Tokens.firstAt(I.Bytes.Begin);
    while (First > 0) {
      const SourceToken &Before = Tokens.All[First - 1];
      if (Before.InDirective || Ends.count(Before.Bytes.End) ||
          Tokens.is(First - 1, ";") || Tokens.is(First - 1, "{") ||
          Tokens.is(First - 1, "}"))
        break;
      --First;
    }
    if (First < Tokens.All.size())
      I.Bytes.Begin = Tokens.All[First].Bytes.Begin;
  }
}

void ItemReader::readMacros() {
  Preprocessor &PP = Unit.getPreprocessor();
  for (PreprocessedEntity *E : *PP.getPreprocessingRecord()) {
    auto *Macro = llvm::dyn_cast_or_null<MacroExpansion>(E);
    if (!Macro || Macro->isBuiltinMacro() ||
        !isInMainFile(SM, Macro->getSourceRange().getBegin()))
      continue;
    SourceLocation Made;
    if (const MacroDefinitionRecord *Definition = Macro->getDefinition())
      Made = Definition->getLocation();
    else if (const MacroInfo *Info = PP.getMacroInfo(Macro->getName()))
      Made = Info->getDefinitionLoc();
    size_t At = SM.getFileOffset(
        SM.getExpansionLoc(Macro->getSourceRange().getBegin()));
    for (size_t I : itemsAt(Items, At)) {
      Items[I].Macros.push_back(Made);
      if (From.isTorch(Made))
        Items[I].Torch = Macro->getName()->getName().str();
    }
  }
}

void ItemReader::findHostOnly() {
  std::vector<std::set<size_t>> Needs(Items.size());
  for (size_t I = 0; I < Items.size(); ++I) {
    for (const Decl *Used : Items[I].Uses)
      for (const Decl *D : Used->redecls()) {
        SourceLocation At = D->getLocation();
        if (From.isTorch(At) && From.smallTorchHeader(At).empty() &&
            Items[I].Torch.empty())
          if (auto *Named = dyn_cast<NamedDecl>(D))
            Items[I].Torch = Named->getQualifiedNameAsString();
        if (!isa<NamespaceDecl>(D) && isInMainFile(SM, At))
          for (size_t Other :
               itemsAt(Items, SM.getFileOffset(SM.getExpansionLoc(At))))
            Needs[I].insert(Other);
        if (isa<NamespaceDecl>(D))
          break; // a namespace is whose it was first
      }
    Items[I].HostOnly = Items[I].Side == Item::Host || !Items[I].Torch.empty();
  }
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (size_t I = 0; I < Items.size(); ++I)
      for (size_t Other : Needs[I])
        if (!Items[I].HostOnly && Items[Other].HostOnly) {
          Items[I].HostOnly = Changed = true;
          if (Items[Other].Torch.empty())
            Items[I].Torch = Items[Other].Name;
          else
            Items[I].Torch = Items[Other].Torch;
        }
  }
}

/// What is for the device may not need what only the host has, nor be needed
/// by the host, kernels apart.
void ItemReader::checkDevice() {
  for (const Item &I : Items) {
    bool Device = I.Side == Item::Kernel || I.Side == Item::Device;
    if (Device && I.HostOnly)
      return refuse("'" + I.Name + "' is for the device and needs '" + I.Torch +
                    "'");
    if (Device)
      continue;
    for (const Decl *Used : I.Uses) {
      SourceLocation At = Used->getLocation();
      if (I.Side == Item::Host && From.isCccl(At))
        return refuse("'" + I.Name + "' uses CUDA's C++ libraries on the host");
      const FunctionDecl *F = Used->getAsFunction();
      if (F && F->hasAttr<CUDAGlobalAttr>() && !isInMainFile(SM, At))
        return refuse("the kernel '" + F->getNameAsString() +
                      "' is defined in another file");
      auto *V = dyn_cast<VarDecl>(Used);
      if (I.Side == Item::Host && V && V->hasGlobalStorage() &&
          !V->isStaticLocal() && isInMainFile(SM, At) &&
          sideOfVariable(V) == Item::Device)
        return refuse("the host uses the device's variable '" +
                      V->getNameAsString() + "'");
    }
  }
}

std::optional<std::vector<Item>> stark::findItems(const ParsedSource &Source,
                                                  const Headers &From,
                                                  std::string &WhyNot) {
  return ItemReader(Source, From, WhyNot).run(/*ForHalves=*/true);
}

std::optional<std::vector<Item>> stark::readItems(const ParsedSource &Source,
                                                  const Headers &From,
                                                  std::string &WhyNot) {
  return ItemReader(Source, From, WhyNot).run(/*ForHalves=*/false);
}
