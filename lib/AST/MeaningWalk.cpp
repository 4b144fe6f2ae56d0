//===- MeaningWalk.cpp - What declarations come to ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeaningWalk.h"
#include "clang/AST/ASTContext.h"

using namespace stark;
using namespace clang;

bool stark::isBuiltin(const Decl *D) {
  auto *F = dyn_cast<FunctionDecl>(D);
  return F && F->isImplicit() && F->getBuiltinID();
}

void MeaningWalk::add(const Decl *D) {
  if (!D || isa<NamespaceDecl, TranslationUnitDecl>(D))
    return;
  if (auto *Shadow = dyn_cast<UsingShadowDecl>(D))
    add(Shadow->getTargetDecl());
  if (Seen.insert(D).second)
    Open.push_back(D);
}

void MeaningWalk::addArguments(llvm::ArrayRef<TemplateArgument> Arguments) {
  for (const TemplateArgument &A : Arguments)
    switch (A.getKind()) {
    case TemplateArgument::Type:
      addType(A.getAsType());
      break;
    case TemplateArgument::Declaration:
      add(A.getAsDecl());
      break;
    case TemplateArgument::Integral:
      addType(A.getIntegralType());
      break;
    case TemplateArgument::Template:
    case TemplateArgument::TemplateExpansion:
      add(A.getAsTemplateOrTemplatePattern().getAsTemplateDecl());
      break;
    case TemplateArgument::Expression:
      statement(A.getAsExpr());
      break;
    case TemplateArgument::Pack:
      addArguments(A.pack_elements());
      break;
    default:
      break;
    }
}

void MeaningWalk::addQualifier(NestedNameSpecifier *N) {
  for (; N; N = N->getPrefix()) {
    if (const Type *T = N->getAsType())
      addType(QualType(T, 0));
    add(N->getAsNamespaceAlias());
  }
}

void MeaningWalk::addType(QualType T) {
  if (!T.isNull() && SeenTypes.insert(T.getTypePtr()).second)
    type(T.getTypePtr());
}

void MeaningWalk::type(const Type *T) {
  if (auto *Alias = dyn_cast<TypedefType>(T)) {
    add(Alias->getDecl());
  } else if (auto *Using = dyn_cast<UsingType>(T)) {
    add(Using->getFoundDecl());
  } else if (auto *Elaborated = dyn_cast<ElaboratedType>(T)) {
    addQualifier(Elaborated->getQualifier());
  } else if (auto *Made = dyn_cast<TemplateSpecializationType>(T)) {
    add(Made->getTemplateName().getAsTemplateDecl());
    addArguments(Made->template_arguments());
  } else if (auto *Deduced = dyn_cast<DeducedTemplateSpecializationType>(T)) {
    add(Deduced->getTemplateName().getAsTemplateDecl());
  } else if (auto *Tag = dyn_cast<TagType>(T)) {
    add(Tag->getDecl());
  } else if (auto *Injected = dyn_cast<InjectedClassNameType>(T)) {
    add(Injected->getDecl());
  } else if (auto *Name = dyn_cast<DependentNameType>(T)) {
    addQualifier(Name->getQualifier());
  } else if (auto *F = dyn_cast<FunctionProtoType>(T)) {
    addType(F->getReturnType());
    for (QualType P : F->param_types())
      addType(P);
  } else if (auto *Array = dyn_cast<ArrayType>(T)) {
    addType(Array->getElementType());
    if (auto *Constant = dyn_cast<ConstantArrayType>(T))
      statement(Constant->getSizeExpr());
  } else if (auto *Member = dyn_cast<MemberPointerType>(T)) {
    addType(QualType(Member->getClass(), 0));
    addType(Member->getPointeeType());
  } else if (auto *Of = dyn_cast<DecltypeType>(T)) {
    statement(Of->getUnderlyingExpr());
  } else if (auto *Vector = dyn_cast<VectorType>(T)) {
    addType(Vector->getElementType());
  } else if (QualType To = T->getPointeeType(); !To.isNull()) {
    addType(To);
  }
  QualType Next = QualType(T, 0).getSingleStepDesugaredType(Context);
  if (Next.getTypePtr() != T)
    addType(Next);
}

void MeaningWalk::run() {
  while (!Open.empty()) {
    const Decl *D = Open.back();
    Open.pop_back();
    begin(D);
    walk(D);
    end();
  }
}

void MeaningWalk::walk(const Decl *D) {
  if (auto *T = dyn_cast<TemplateDecl>(D))
    add(T->getTemplatedDecl());
  if (auto *F = dyn_cast<FunctionDecl>(D))
    function(F);
  else if (auto *R = dyn_cast<CXXRecordDecl>(D))
    record(R);
  else if (auto *V = dyn_cast<VarDecl>(D))
    variable(V);
  else if (auto *Alias = dyn_cast<TypedefNameDecl>(D))
    addType(Alias->getUnderlyingType());
  else if (auto *E = dyn_cast<EnumDecl>(D))
    addType(E->getIntegerType());
  else if (auto *Space = dyn_cast<NamespaceAliasDecl>(D))
    add(Space->getAliasedNamespace());
  if (auto *V = dyn_cast<ValueDecl>(D))
    addType(V->getType());
  // A member, a constant of an enum.
  if (auto *Outer = dyn_cast<TagDecl>(D->getDeclContext()))
    add(Outer);
}

void MeaningWalk::function(const FunctionDecl *F) {
  add(F->getPrimaryTemplate());
  add(F->getTemplateInstantiationPattern());
  if (auto *Arguments = F->getTemplateSpecializationArgs())
    addArguments(Arguments->asArray());
  for (const ParmVarDecl *P : F->parameters())
    addType(P->getType());
  const FunctionDecl *Definition = nullptr;
  if (!F->isDefined(Definition) || !Definition ||
      (!Definition->isTemplateInstantiation() && !walksBody(Definition)) ||
      Definition->isDependentContext())
    return;
  if (Definition != F)
    return add(Definition);
  if (auto *Made = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *I : Made->inits()) {
      add(I->getAnyMember());
      statement(I->getInit());
    }
  statement(F->getBody());
}

void MeaningWalk::record(const CXXRecordDecl *R) {
  if (auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(R)) {
    add(Made->getSpecializedTemplate());
    auto From = Made->getSpecializedTemplateOrPartial();
    if (auto *Partial =
            From.dyn_cast<ClassTemplatePartialSpecializationDecl *>())
      add(Partial);
    addArguments(Made->getTemplateArgs().asArray());
  }
  if (const CXXRecordDecl *Pattern = R->getTemplateInstantiationPattern())
    add(Pattern);
  const CXXRecordDecl *Definition = R->getDefinition();
  if (!Definition || Definition->isDependentContext())
    return;
  if (Definition != R)
    return add(Definition);
  for (const CXXBaseSpecifier &Base : R->bases())
    addType(Base.getType());
  for (const FieldDecl *Field : R->fields())
    addType(Field->getType());
  if (const CXXDestructorDecl *D = R->getDestructor();
      D && D->isUserProvided() && walksDestructors())
    add(D);
}

void MeaningWalk::variable(const VarDecl *V) {
  if (auto *Made = dyn_cast<VarTemplateSpecializationDecl>(V)) {
    add(Made->getSpecializedTemplate());
    addArguments(Made->getTemplateArgs().asArray());
  }
  add(V->getTemplateInstantiationPattern());
  add(V->getInstantiatedFromStaticDataMember());
  if (V->isLocalVarDeclOrParm() && !V->isStaticLocal())
    return; // its statement has it
  const VarDecl *From = nullptr;
  if (const Expr *Value = V->getAnyInitializer(From);
      Value && (walksBody(From) || From->isTemplated() ||
                isa<VarTemplateSpecializationDecl>(From)))
    if (!From->getDeclContext()->isDependentContext())
      statement(Value);
}

void MeaningWalk::addExpression(const Expr *E) {
  addType(E->getType());
  if (auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    add(Ref->getDecl());
    add(Ref->getFoundDecl());
    addQualifier(Ref->getQualifier());
    for (const TemplateArgumentLoc &A : Ref->template_arguments())
      addArguments(A.getArgument());
  } else if (auto *Member = dyn_cast<MemberExpr>(E)) {
    add(Member->getMemberDecl());
    add(Member->getFoundDecl().getDecl());
  } else if (auto *Set = dyn_cast<OverloadExpr>(E)) {
    for (const NamedDecl *D : Set->decls()) {
      add(D);
      add(D->getUnderlyingDecl());
    }
  } else if (auto *Made = dyn_cast<CXXConstructExpr>(E)) {
    add(Made->getConstructor());
  } else if (auto *Inherited = dyn_cast<CXXInheritedCtorInitExpr>(E)) {
    add(Inherited->getConstructor());
  } else if (auto *New = dyn_cast<CXXNewExpr>(E)) {
    add(New->getOperatorNew());
    add(New->getOperatorDelete());
  } else if (auto *Delete = dyn_cast<CXXDeleteExpr>(E)) {
    add(Delete->getOperatorDelete());
  } else if (auto *Default = dyn_cast<CXXDefaultArgExpr>(E)) {
    statement(Default->getExpr());
  } else if (auto *InClass = dyn_cast<CXXDefaultInitExpr>(E)) {
    statement(InClass->getExpr());
  } else if (auto *Trait = dyn_cast<UnaryExprOrTypeTraitExpr>(E)) {
    if (Trait->isArgumentType())
      addType(Trait->getArgumentType());
  } else if (auto *Trait = dyn_cast<TypeTraitExpr>(E)) {
    for (const TypeSourceInfo *T : Trait->getArgs())
      addType(T->getType());
  } else if (auto *Cast = dyn_cast<ExplicitCastExpr>(E)) {
    addType(Cast->getTypeAsWritten());
  }
}

void MeaningWalk::statement(const Stmt *S) {
  if (!S)
    return;
  onNode(S);
  if (auto *E = dyn_cast<Expr>(S)) {
    addExpression(E);
  } else if (auto *Declared = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Declared->decls()) {
      add(D);
      if (auto *V = dyn_cast<VarDecl>(D))
        addType(V->getType());
    }
  }
  for (const Stmt *Child : S->children())
    statement(Child);
}
