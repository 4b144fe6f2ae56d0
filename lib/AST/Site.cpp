//===- Site.cpp - Places in a source where a change could go -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Site.h"
#include "stark/AST/Parse.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include <map>

using namespace stark;
using namespace clang;

llvm::StringRef stark::siteKindName(SiteKind Kind) {
  switch (Kind) {
  case SiteKind::Kernel:
    return "kernel";
  case SiteKind::Device:
    return "device";
  case SiteKind::Host:
    return "host";
  case SiteKind::Launch:
    return "launch";
  case SiteKind::Loop:
    return "loop";
  case SiteKind::Branch:
    return "branch";
  case SiteKind::Access:
    return "access";
  case SiteKind::Declaration:
    return "declaration";
  case SiteKind::Barrier:
    return "barrier";
  case SiteKind::Statement:
    return "statement";
  }
  return "";
}

const Site *Sites::find(llvm::StringRef Id) const {
  for (const Site &S : All)
    if (S.Id == Id)
      return &S;
  return nullptr;
}

void Sites::print(llvm::raw_ostream &OS) const {
  for (const Site &S : All) {
    OS << S.Id << ": " << siteKindName(S.Kind) << ", line " << S.Line;
    if (S.EndLine != S.Line)
      OS << "-" << S.EndLine;
    if (!S.Editable)
      OS << ", not editable: " << S.Reason;
    OS << "\n";
  }
}

std::string Sites::toJson(const ParsedSource &Source) const { return "{}"; }

namespace {
class Finder : public RecursiveASTVisitor<Finder> {
public:
  Finder(const ParsedSource &Source, Sites &Found)
      : SM(Source.unit().getSourceManager()), LO(Source.unit().getLangOpts()),
        Found(Found) {}

  bool TraverseFunctionDecl(FunctionDecl *F) {
    int Outer = Current;
    if (F->isThisDeclarationADefinition() &&
        SM.isInMainFile(SM.getExpansionLoc(F->getLocation()))) {
      SiteKind Kind = F->hasAttr<CUDAGlobalAttr>()   ? SiteKind::Kernel
                      : F->hasAttr<CUDADeviceAttr>() ? SiteKind::Device
                                                     : SiteKind::Host;
      SourceRange Whole = F->getSourceRange();
      if (auto *Template = F->getDescribedFunctionTemplate())
        Whole = Template->getSourceRange();
      Current = add(Kind, F->getNameAsString(), F->getNameAsString(), Whole);
    }
    RecursiveASTVisitor::TraverseFunctionDecl(F);
    Current = Outer;
    return true;
  }
  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *C) {
    add(SiteKind::Launch, "launch", "", C->getSourceRange());
    return true;
  }
  bool VisitForStmt(ForStmt *S) {
    add(SiteKind::Loop, "loop", "", S->getSourceRange());
    return true;
  }

private:
  int add(SiteKind Kind, llvm::StringRef Stem, llvm::StringRef Name,
          SourceRange Where) {
    if (Current < 0 && Kind > SiteKind::Host)
      return -1;
    CharSourceRange Chars =
        Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Where), SM, LO);
    Site S;
    S.Kind = Kind;
    S.Name = Name;
    S.Parent = Kind <= SiteKind::Host ? -1 : Current;
    S.Id = Kind <= SiteKind::Host
               ? Stem.str()
               : Found.All[Current].Id + ":" + Stem.str() +
                     std::to_string(++Counts[{Current, Stem.str()}]);
    if (Chars.isValid()) {
      S.Bytes = {SM.getFileOffset(Chars.getBegin()),
                 SM.getFileOffset(Chars.getEnd())};
    } else {
      S.Editable = false;
      S.Reason = "inside a macro expansion";
    }
    S.Line = SM.getExpansionLineNumber(Where.getBegin());
    S.EndLine = SM.getExpansionLineNumber(Where.getEnd());
    Found.All.push_back(std::move(S));
    return int(Found.All.size()) - 1;
  }

  const SourceManager &SM;
  const LangOptions &LO;
  Sites &Found;
  int Current = -1;
  std::map<std::pair<int, std::string>, int> Counts;
};
} // namespace

Sites stark::findSites(const ParsedSource &Source) {
  Sites Found;
  Finder F(Source, Found);
  F.TraverseDecl(Source.unit().getASTContext().getTranslationUnitDecl());
  return Found;
}
