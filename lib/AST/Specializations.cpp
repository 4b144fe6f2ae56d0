//===- Specializations.cpp - What a library says once more ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Specializations.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace stark;
using namespace clang;

/// Fewer specialisations are no repetition.
static constexpr size_t FewestRepeated = 3;

namespace {
class Finder : public Walker {
public:
  explicit Finder(const ParsedSource &Source)
      : SM(Source.unit().getSourceManager()) {
    walk(Source);
  }
  bool onDecl(Decl *D) override;

  struct Family {
    std::vector<RepeatedLines> Classes, Members;
  };
  /// By the template they are of and its first argument, where that is a type:
  /// "vec_t<half". A vector keeps the source's order.
  std::vector<std::pair<std::string, Family>> Found;

private:
  Family &familyOf(const ClassTemplateSpecializationDecl *S);
  RepeatedLines linesOf(const Decl *D, const NamedDecl *Of) const;
  const SourceManager &SM;
};
} // namespace

Finder::Family &Finder::familyOf(const ClassTemplateSpecializationDecl *S) {
  std::string Name = S->getQualifiedNameAsString();
  const TemplateArgumentList &Arguments = S->getTemplateArgs();
  if (Arguments.size() && Arguments[0].getKind() == TemplateArgument::Type)
    Name += "<" + Arguments[0].getAsType().getCanonicalType().getAsString();
  for (auto &[Known, F] : Found)
    if (Known == Name)
      return F;
  return Found.emplace_back(Name, Family()).second;
}

RepeatedLines Finder::linesOf(const Decl *D, const NamedDecl *Of) const {
  SourceRange R = D->getSourceRange();
  return {SM.getExpansionLineNumber(R.getBegin()),
          SM.getExpansionLineNumber(SM.getExpansionRange(R.getEnd()).getEnd()),
          Of->getNameAsString()};
}

bool Finder::onDecl(Decl *D) {
  if (const auto *S = dyn_cast<ClassTemplateSpecializationDecl>(D)) {
    if (S->isThisDeclarationADefinition() && S->isExplicitSpecialization())
      familyOf(S).Classes.push_back(linesOf(S, S));
    return true;
  }
  const auto *M = dyn_cast<CXXMethodDecl>(D);
  if (!M || !M->isOutOfLine())
    return true;
  if (const auto *S = dyn_cast<ClassTemplateSpecializationDecl>(M->getParent()))
    familyOf(S).Members.push_back(linesOf(M, S));
  return true;
}

/// Whether nobody misses \p Line between two that are left out.
static bool saysNothing(llvm::StringRef Line) {
  Line = Line.trim();
  return Line.empty() || Line.starts_with("//");
}

std::vector<RepeatedLines>
stark::findRepeatedLines(const ParsedSource &Source) {
  std::vector<RepeatedLines> All;
  for (auto &[Template, F] : Finder(Source).Found) {
    if (F.Classes.size() < FewestRepeated)
      continue;
    auto Length = [](const RepeatedLines &L) { return L.Last - L.First; };
    auto Longest =
        llvm::max_element(F.Classes, [&](const auto &A, const auto &B) {
          return Length(A) < Length(B);
        });
    F.Classes.erase(Longest);
    llvm::append_range(All, F.Classes);
    llvm::append_range(All, F.Members);
  }
  llvm::stable_sort(All, [](const RepeatedLines &A, const RepeatedLines &B) {
    return A.First < B.First;
  });
  llvm::SmallVector<llvm::StringRef> Text;
  Source.text().split(Text, '\n');
  std::vector<RepeatedLines> Joined;
  for (RepeatedLines &L : All) {
    bool Joins = !Joined.empty() && Joined.back().Template == L.Template;
    for (unsigned Line = Joins ? Joined.back().Last + 1 : L.First;
         Joins && Line < L.First; ++Line)
      Joins = saysNothing(Text[Line - 1]);
    if (Joins)
      Joined.back().Last = std::max(Joined.back().Last, L.Last);
    else
      Joined.push_back(std::move(L));
  }
  return Joined;
}
