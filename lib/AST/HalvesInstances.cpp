//===- HalvesInstances.cpp - Kernels that templates make -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   templates of kernels + their uses in the AST -> explicit instantiations
///
//===----------------------------------------------------------------------===//

#include "HalvesLaunches.h"
#include "MainFile.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using namespace clang;

namespace {
class InstanceWriter {
public:
  InstanceWriter(const ParsedSource &Source, const std::vector<Item> &Items,
                 const Headers &From, std::set<std::string> &Needed)
      : SM(Source.unit().getSourceManager()),
        Policy(Source.unit().getASTContext().getPrintingPolicy()), Items(Items),
        From(From), Needed(Needed) {
    Policy.SuppressTagKeyword = true;
    Policy.SuppressUnwrittenScope = true;
    Policy.FullyQualifiedName = true;
    Policy.PrintCanonicalTypes = true;
    Policy.Bool = true;
  }

  /// False: it has no name in the device's half.
  bool write(const FunctionDecl *F, llvm::raw_ostream &OS) const {
    auto *Type = F->getType().getCanonicalType()->castAs<FunctionProtoType>();
    if (!isKnown(F->getTemplateSpecializationArgs()->asArray()))
      return false;
    OS << "template __global__ void ";
    F->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
    const char *Separator = "(";
    for (QualType T : Type->param_types()) {
      if (!isKnown(T))
        return false;
      OS << Separator;
      T.print(OS, Policy);
      Separator = ", ";
    }
    OS << (Type->getNumParams() ? ");" : "();");
    return true;
  }

private:
  bool isKnown(const NamedDecl *D) const {
    SourceLocation At = D->getLocation();
    if (D->getParentFunctionOrMethod() || D->getDeclName().isEmpty())
      return false;
    if (From.isTorch(At)) {
      std::string Small = From.smallTorchHeader(At);
      Needed.insert(Small);
      return !Small.empty();
    }
    if (!isInMainFile(SM, At))
      return true;
    for (size_t I : itemsAt(Items, SM.getFileOffset(SM.getExpansionLoc(At))))
      if (Items[I].HostOnly)
        return false;
    return true;
  }

  bool isKnown(llvm::ArrayRef<TemplateArgument> Arguments) const {
    return llvm::all_of(Arguments, [&](const TemplateArgument &A) {
      switch (A.getKind()) {
      case TemplateArgument::Type:
        return isKnown(A.getAsType());
      case TemplateArgument::Integral:
        return isKnown(A.getIntegralType());
      case TemplateArgument::Declaration:
        return isKnown(A.getAsDecl());
      case TemplateArgument::Template:
        return isKnown(A.getAsTemplate().getAsTemplateDecl());
      case TemplateArgument::Pack:
        return isKnown(A.getPackAsArray());
      case TemplateArgument::NullPtr:
        return true;
      default:
        return false;
      }
    });
  }

  bool isKnown(QualType T) const {
    T = T.getCanonicalType();
    if (T->isPointerType() || T->isReferenceType())
      return isKnown(T->getPointeeType());
    if (const auto *Array = T->getAsArrayTypeUnsafe())
      return isKnown(Array->getElementType());
    if (const auto *Function = T->getAs<FunctionProtoType>())
      return isKnown(Function->getReturnType()) &&
             llvm::all_of(Function->param_types(),
                          [&](QualType P) { return isKnown(P); });
    if (const TagDecl *Tag = T->getAsTagDecl()) {
      auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(Tag);
      return isKnown(Tag) &&
             (!Made || isKnown(Made->getTemplateArgs().asArray()));
    }
    return T->isBuiltinType() || T->isVectorType();
  }

  const SourceManager &SM;
  PrintingPolicy Policy;
  const std::vector<Item> &Items;
  const Headers &From;
  std::set<std::string> &Needed;
};
} // namespace

std::optional<std::string>
stark::kernelInstances(const ParsedSource &Source,
                       const std::vector<Item> &Items, const Headers &From,
                       std::set<std::string> &Needed, std::string &WhyNot) {
  InstanceWriter Writer(Source, Items, From, Needed);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  std::set<const Decl *> Seen;
  for (const Item &I : Items) {
    auto *Template = dyn_cast<FunctionTemplateDecl>(I.D);
    if (I.Side != Item::Kernel || !Template ||
        !Seen.insert(Template->getCanonicalDecl()).second)
      continue;
    for (const FunctionDecl *F : Template->specializations()) {
      TemplateSpecializationKind Kind = F->getTemplateSpecializationKind();
      // An explicit one stands in the text, and in both halves.
      if (Kind == TSK_ExplicitSpecialization || !F->isReferenced())
        continue;
      if (Kind == TSK_ExplicitInstantiationDefinition ||
          Kind == TSK_ExplicitInstantiationDeclaration) {
        WhyNot = "'" + I.Name + "' is instantiated explicitly";
        return std::nullopt;
      }
      if (!Writer.write(F, OS)) {
        WhyNot = "'" + I.Name +
                 "' is made of a type that the device's half cannot name";
        return std::nullopt;
      }
      OS << "\n";
    }
  }
  return Text;
}
