//===- ExtractReach.cpp - What an entry reaches ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractReach.h"
#include "ExtractNames.h"
#include "stark/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// Marks the units of what it meets, or notes them.
class Reach::PassWalk : public MeaningWalk {
public:
  PassWalk(Reach &Of, size_t Pass, std::set<size_t> *Noted = nullptr)
      : MeaningWalk(Of.Tree.source(Pass).unit().getASTContext()), Of(Of),
        Pass(Pass), Noted(Noted) {}

protected:
  void begin(const Decl *D) override {
    if (isBuiltin(D))
      return;
    if (!Noted)
      Of.Includes.add(Pass, D);
    for (const Decl *Each : D->redecls()) {
      bool Friend = Each != D && Each->getFriendObjectKind() != Decl::FOK_None;
      int Unit =
          Friend ? -1 : Of.Units.at(Of.Tree.place(Pass, Each->getLocation()));
      if (Unit < 0)
        continue;
      if (Noted) {
        Noted->insert(size_t(Unit));
        continue;
      }
      Of.keep(size_t(Unit));
      Of.keepParts(size_t(Unit), Of.Tree.place(Pass, Each->getLocation()));
    }
    if (auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(D);
        Made && !Noted)
      Of.keepDefinition(Pass, Made);
  }
  bool walksBody(const Decl *D) override {
    return Of.Tree.place(Pass, D->getLocation()).first >= 0;
  }

private:
  Reach &Of;
  size_t Pass;
  std::set<size_t> *Noted;
};

/// "ns::f" without unnamed and, unless \p WithInline, inline namespaces.
static std::string plainName(const NamedDecl &D, bool WithInline) {
  std::string Name = D.getNameAsString();
  for (const DeclContext *C = D.getDeclContext(); C; C = C->getParent()) {
    auto *Space = dyn_cast<NamespaceDecl>(C);
    if (Space &&
        (Space->isAnonymousNamespace() || (Space->isInline() && !WithInline)))
      continue;
    if (isa<NamespaceDecl, RecordDecl>(C))
      Name = cast<NamedDecl>(C)->getNameAsString() + "::" + Name;
  }
  return Name;
}

std::vector<const Decl *> stark::entriesNamed(const UnitsOfFiles &Units,
                                              size_t Pass, StringRef Entry) {
  StringRef Bare = Entry.take_until([](char C) { return C == '<'; }).trim();
  Bare.consume_front("::");
  std::vector<const Decl *> Found;
  for (const CodeUnit &U : Units.All)
    for (const Decl *D : U.Decls[Pass])
      if (const FunctionDecl *F = D->getAsFunction())
        if (plainName(*F, false) == Bare || plainName(*F, true) == Bare)
          Found.push_back(D);
  return Found;
}

/// Members and specialisations come with their class or template.
static bool isFoundByName(const Decl *D) {
  const FunctionDecl *F = D->getAsFunction();
  return !D->getDeclContext()->isRecord() &&
         !isa<ClassTemplateSpecializationDecl>(D) &&
         !(F && F->getPrimaryTemplate());
}

Reach::Reach(const IncludeTree &Tree, UnitsOfFiles &Units, ExtractLevel Level)
    : Tree(Tree), Units(Units), Level(Level), Includes(Tree) {
  for (size_t Pass = 0; Pass < Tree.passes(); ++Pass) {
    Walks.push_back(std::make_unique<PassWalk>(*this, Pass));
    // An instance with an error has no body.
    IsOpen |= !Tree.source(Pass).errors().empty();
  }
  for (size_t I = 0; I < Units.All.size(); ++I)
    for (const auto &Of : Units.All[I].Decls)
      for (const Decl *D : Of)
        if (auto *Named = dyn_cast<NamedDecl>(D); Named && isFoundByName(D))
          ByName[Named->getNameAsString()].push_back(I);
  for (size_t I = 0; I < Units.Parts.size(); ++I)
    for (const auto &Of : Units.Parts[I].Decls)
      for (const Decl *D : Of)
        PartOf[D] = I;
}

Reach::~Reach() = default;

llvm::Error Reach::addEntries(llvm::ArrayRef<std::string> Entries) {
  for (StringRef Entry : Entries) {
    bool Defined = false;
    for (size_t Pass = 0; Pass < Tree.passes(); ++Pass)
      for (const Decl *D : entriesNamed(Units, Pass, Entry)) {
        Defined |= D->getAsFunction()->isDefined();
        Walks[Pass]->add(D);
        auto *Template = dyn_cast<FunctionTemplateDecl>(D);
        if (!Template)
          continue;
        for (const FunctionDecl *F : Template->specializations())
          Walks[Pass]->add(F);
        IsOpen = true; // who calls it may make others of it
      }
    if (!Defined)
      return usageError("entry '" + Entry + "' is not defined in '" +
                        Tree.Files[0].Name +
                        "' or in a header of the project that it includes");
  }
  return llvm::Error::success();
}

void Reach::keep(size_t Unit) {
  CodeUnit &U = Units.All[Unit];
  if (U.Kept)
    return;
  U.Kept = true;
  Open.push_back(Unit);
  for (const auto &Of : U.Decls)
    for (const Decl *D : Of)
      for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
        if (auto *Space = dyn_cast<NamespaceDecl>(C))
          Scopes.insert(plainName(*Space, true));
}

bool Reach::isKept(size_t Pass, const Decl *D, bool Foreign) const {
  std::pair<int, size_t> Place = Tree.place(Pass, D->getLocation());
  if (Place.first < 0)
    return Foreign;
  int Unit = Units.at(Place);
  return Unit < 0 || Units.All[Unit].Kept;
}

/// The innermost namespace of \p D has something that is kept, or is none.
bool Reach::inKeptScope(const Decl *D) const {
  auto *Space = dyn_cast<NamespaceDecl>(D->getDeclContext());
  return !Space || Scopes.count(plainName(*Space, true));
}

/// Whether anything asks for the specialisation: arguments of templates and
/// conditions are computed while Clang reads, and leave no node that names it.
/// What is called leaves one, so constants and types are looked at alone.
bool Reach::isUsedAtAll(size_t Pass, const Decl *D) const {
  auto *Class = dyn_cast<CXXRecordDecl>(D);
  if (!Class)
    return D->isReferenced() || D->isUsed();
  if (auto *Partial = dyn_cast<ClassTemplatePartialSpecializationDecl>(D))
    return llvm::any_of(
        Partial->getSpecializedTemplate()->specializations(),
        [&](const ClassTemplateSpecializationDecl *Made) {
          auto From = Made->getSpecializedTemplateOrPartial();
          return From.dyn_cast<ClassTemplatePartialSpecializationDecl *>() ==
                 Partial;
        });
  // What is asked for may be a base's: `std::true_type`.
  const CXXRecordDecl *Definition = Class->getDefinition();
  if (Definition && Definition->getNumBases())
    return true;
  return llvm::any_of(Class->decls(), [&](const Decl *Member) {
    return isa<VarDecl, TypedefNameDecl, EnumDecl>(Member) &&
           isUsed(Pass, Member);
  });
}

/// Of what its own class names, Clang does not say whether others do.
bool Reach::isUsed(size_t Pass, const Decl *Member) const {
  if (!Member->isReferenced() && !Member->isUsed())
    return false;
  int Unit = Units.at(Tree.place(Pass, Member->getLocation()));
  if (Level > ExtractLevel::Used || Unit < 0)
    return true;
  const CodeUnit &U = Units.All[Unit];
  const SourceTokens &T = *Tree.Files[U.File].Tokens;
  std::string Name = cast<NamedDecl>(Member)->getNameAsString();
  unsigned Times = 0;
  for (size_t I = U.Tokens.Begin; I < U.Tokens.End; ++I)
    Times += T.is(I, Name);
  return Times == 1;
}

bool Reach::comesAlong(size_t Pass, const Decl *D, int File) const {
  auto Known = [&](const NamespaceDecl *Space) {
    if (!Space)
      return false;
    if (Scopes.count(plainName(*Space, true)))
      return true;
    for (const NamespaceDecl *Each : Space->redecls())
      if (Tree.place(Pass, Each->getLocation()).first < 0)
        return true;
    return false;
  };
  if (auto *Using = dyn_cast<UsingDirectiveDecl>(D))
    return inKeptScope(D) && Known(Using->getNominatedNamespace());
  if (auto *Alias = dyn_cast<NamespaceAliasDecl>(D))
    // One of others' namespaces would take their header along.
    return inKeptScope(D) && Known(Alias->getNamespace()) &&
           (Level != ExtractLevel::Least || IsOpen ||
            Tree.place(Pass, Alias->getNamespace()->getLocation()).first >= 0);
  if (auto *Using = dyn_cast<UsingDecl>(D))
    return inKeptScope(D) &&
           llvm::all_of(Using->shadows(), [&](const UsingShadowDecl *S) {
             return isKept(Pass, S->getTargetDecl());
           });
  if (isa<FileScopeAsmDecl>(D))
    return true;
  if (auto *Guide = dyn_cast_or_null<CXXDeductionGuideDecl>(D->getAsFunction()))
    return isKept(Pass, Guide->getDeducedTemplate(), false);
  if (D->getDeclContext() != D->getLexicalDeclContext())
    if (auto *Class = dyn_cast<CXXRecordDecl>(D->getDeclContext())) {
      // One of an instance, which is reached or not.
      auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(Class);
      if (Level <= ExtractLevel::Used && !IsOpen && Made && isMadeByClang(Made))
        return false;
      return isKept(Pass, Class, false) &&
             arePartsKept(Pass, D->getCanonicalDecl());
    }
  if (auto *F = dyn_cast<FunctionDecl>(D); F && F->getPrimaryTemplate())
    return isKept(Pass, F->getPrimaryTemplate(), false) &&
           (IsOpen || isUsedAtAll(Pass, F));
  auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(D);
  if (!Made)
    return false;
  const ClassTemplateDecl *Of = Made->getSpecializedTemplate();
  if (Tree.place(Pass, Of->getLocation()).first >= 0)
    return isKept(Pass, Of, false) && (IsOpen || isUsedAtAll(Pass, Made));
  // Of a template that is no file of the project's: for what is kept.
  return llvm::all_of(Made->getTemplateArgs().asArray(),
                      [&](const TemplateArgument &A) {
                        const Decl *Of = A.getKind() == TemplateArgument::Type
                                             ? A.getAsType()->getAsTagDecl()
                                             : nullptr;
                        return !Of || isKept(Pass, Of);
                      });
}

bool Reach::comesAlong(const CodeUnit &U) const {
  for (size_t Pass = 0; Pass < U.Decls.size(); ++Pass)
    for (const Decl *D : U.Decls[Pass])
      if (comesAlong(Pass, D, U.File))
        return true;
  return false;
}

/// The units of all that the text of \p D comes to.
const std::set<size_t> &Reach::meaningOf(size_t Unit, size_t Pass, Decl *D) {
  auto [Known, New] = Meanings.try_emplace(Unit);
  if (New) {
    PassWalk Walk(*this, Pass, &Known->second);
    addNamesOf(D, Walk, [](const Decl *) { return true; });
    Walk.run();
  }
  return Known->second;
}

/// A static_assert says something of what is kept.
bool Reach::keepAsserts() {
  bool Any = false;
  for (size_t I = 0; I < Units.All.size(); ++I)
    for (size_t Pass = 0; Pass < Units.All[I].Decls.size(); ++Pass)
      for (Decl *D : Units.All[I].Decls[Pass]) {
        if (Units.All[I].Kept || !isa<StaticAssertDecl>(D))
          continue;
        std::set<size_t> Of = meaningOf(I, Pass, D);
        Of.erase(I);
        if (Of.empty() || !llvm::all_of(Of, [&](size_t Other) {
              return Units.All[Other].Kept;
            }))
          continue;
        keep(I);
        Any = true;
      }
  return Any;
}

/// Variables, not kept yet, whose construction runs code that names a variable
/// of what is kept: it may change it.
bool Reach::keepChanging() {
  bool Any = false;
  for (size_t I = 0; I < Units.All.size(); ++I) {
    CodeUnit &U = Units.All[I];
    for (size_t Pass = 0; !U.Kept && Pass < U.Decls.size(); ++Pass)
      for (Decl *D : U.Decls[Pass]) {
        auto *V = dyn_cast<VarDecl>(D);
        if (!V || !V->getInit() || V->getInit()->isValueDependent() ||
            V->getType()->isDependentType() || V->hasConstantInitialization())
          continue;
        for (size_t Other : meaningOf(I, Pass, D))
          if (Other != I && Units.All[Other].Kept &&
              llvm::any_of(Units.All[Other].Decls[Pass], [](const Decl *O) {
                auto *Changed = dyn_cast<VarDecl>(O);
                return Changed && !Changed->isConstexpr() &&
                       !Changed->getType().isConstQualified();
              })) {
            keep(I);
            Any = true;
            break;
          }
      }
  }
  return Any;
}

static size_t takeLast(std::vector<size_t> &Of) {
  size_t Last = Of.back();
  Of.pop_back();
  return Last;
}

/// A using directive needs its namespace.
void Reach::addSpaces(const CodeUnit &U) {
  for (size_t Pass = 0; Pass < U.Decls.size(); ++Pass)
    for (const Decl *D : U.Decls[Pass])
      if (auto *Using = dyn_cast<UsingDirectiveDecl>(D))
        Includes.add(Pass, Using->getNominatedNamespace());
}

bool Reach::run() {
  bool Any = false;
  auto Enters = [&](const Decl *D) {
    auto Part = PartOf.find(D);
    return Part == PartOf.end() || Units.Parts[Part->second].Kept;
  };
  if (IsOpen)
    for (size_t I = 0; I < Units.Parts.size(); ++I)
      keepPart(I);
  for (bool Changed = true; Changed;) {
    for (auto &Walk : Walks)
      Walk->run();
    Changed = !Open.empty() || !OpenParts.empty();
    auto AddNames = [&](const std::vector<std::vector<Decl *>> &Decls) {
      for (size_t Pass = 0; Pass < Decls.size(); ++Pass)
        for (Decl *D : Decls[Pass])
          addNamesOf(D, *Walks[Pass], Enters);
    };
    while (!Open.empty())
      AddNames(Units.All[takeLast(Open)].Decls);
    while (!OpenParts.empty())
      if (const UnitPart &P = Units.Parts[takeLast(OpenParts)];
          Units.All[P.Unit].Kept)
        AddNames(P.Decls);
    if (!Changed) {
      for (size_t I = 0; I < Units.All.size(); ++I)
        if (!Units.All[I].Kept && comesAlong(Units.All[I])) {
          keep(I);
          addSpaces(Units.All[I]);
          Changed = true;
        }
      Changed |= keepChanging();
      Changed |= keepAsserts();
    }
    Any |= Changed;
  }
  return Any;
}

bool Reach::keepNamed(const std::set<StringRef> &Words) {
  for (StringRef Word : Words)
    if (auto Found = ByName.find(Word); Found != ByName.end())
      for (size_t I : Found->second)
        keep(I);
  return !Open.empty();
}

void Reach::keepPart(size_t Part) {
  if (std::exchange(Units.Parts[Part].Kept, true))
    return;
  OpenParts.push_back(Part);
}

void Reach::keepParts(size_t Unit, std::pair<int, size_t> Place) {
  const CodeUnit &U = Units.All[Unit];
  if (U.Parts.empty() || U.File != Place.first)
    return;
  size_t Token = Tree.Files[U.File].Tokens->firstAt(Place.second);
  for (size_t I : U.Parts)
    if (Units.Parts[I].Tokens.Begin <= Token &&
        Token < Units.Parts[I].Tokens.End)
      keepPart(I);
}

void Reach::keepDefinition(size_t Pass,
                           const ClassTemplateSpecializationDecl *Made) {
  const CXXRecordDecl *Of = Made->getTemplateInstantiationPattern();
  Of = Of ? Of->getDefinition() : nullptr;
  if (auto Part = PartOf.find(Of);
      Part != PartOf.end() && Made->hasDefinition())
    keepPart(Part->second);
}

bool Reach::arePartsKept(size_t Pass, const Decl *D) const {
  std::pair<int, size_t> Place = Tree.place(Pass, D->getLocation());
  int Unit = Units.at(Place);
  if (Unit < 0 || Units.All[Unit].File != Place.first)
    return true;
  size_t Token = Tree.Files[Place.first].Tokens->firstAt(Place.second);
  return llvm::all_of(Units.All[Unit].Parts, [&](size_t I) {
    const UnitPart &P = Units.Parts[I];
    return P.Kept || Token < P.Tokens.Begin || P.Tokens.End <= Token;
  });
}

bool Reach::keepMembers(const std::set<StringRef> &Words) {
  for (size_t I = 0; I < Units.Parts.size(); ++I) {
    const UnitPart &P = Units.Parts[I];
    if (P.Kept || P.Member.empty() || !Units.All[P.Unit].Kept ||
        !Words.count(P.Member))
      continue;
    bool Inside = llvm::all_of(Units.All[P.Unit].Parts, [&](size_t Other) {
      const UnitPart &Outer = Units.Parts[Other];
      return Outer.Kept || Other == I || P.Tokens.Begin < Outer.Tokens.Begin ||
             Outer.Tokens.End < P.Tokens.End;
    });
    if (Inside)
      keepPart(I);
  }
  return !OpenParts.empty();
}
