//===- ExtractIncludes.cpp - Which includes of others are needed ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractIncludes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// What nvcc 13.0 reads before any source (cuda_runtime.h and what it includes
/// without a condition), by the names that are included.
static constexpr StringRef NvccReads[] = {
    "cuda_runtime.h", "cmath", "math.h", "cstdlib", "stdlib.h",
    "string.h",       "new",   "time.h", "utility"};

NeededIncludes::NeededIncludes(const IncludeTree &Tree)
    : Tree(Tree), Passes(Tree.passes()) {
  for (size_t Pass = 0; Pass < Passes.size(); ++Pass)
    readRecord(Pass);
}

void NeededIncludes::readRecord(size_t Pass) {
  const SourceManager &SM = Tree.sources(Pass);
  PassIncludes &P = Passes[Pass];
  auto *Record =
      Tree.source(Pass).unit().getPreprocessor().getPreprocessingRecord();
  std::vector<const FileEntry *> Read;
  for (PreprocessedEntity *E : *Record) {
    auto *Include = llvm::dyn_cast_or_null<InclusionDirective>(E);
    if (!Include || !Include->getFile())
      continue;
    const FileEntry *Header = &Include->getFile()->getFileEntry();
    SourceLocation At = Include->getSourceRange().getBegin();
    if (auto [File, Offset] = Tree.place(Pass, At); File >= 0) {
      const IncludedFile &F = Tree.Files[File];
      if (const Directive *D = F.directiveAt(F.Tokens->firstAt(Offset)))
        P.Named[{File, D->First}] = Header;
    } else if (const FileEntry *From =
                   SM.getFileEntryForID(SM.getFileID(SM.getExpansionLoc(At)))) {
      P.Of[From].insert(Header);
    }
    if (llvm::is_contained(NvccReads, Include->getFileName()))
      Read.push_back(Header);
  }
  for (const FileEntry *Header : Read)
    addAll(P, Header, P.ReadByNvcc);
  for (const auto &[At, Header] : P.Named)
    addAll(P, Header, P.All[Header]);
}

/// \p Header and all that it includes.
void NeededIncludes::addAll(const PassIncludes &P, const FileEntry *Header,
                            Files &To) {
  if (!To.insert(Header).second)
    return;
  if (auto Known = P.Of.find(Header); Known != P.Of.end())
    for (const FileEntry *Each : Known->second)
      addAll(P, Each, To);
}

/// Whether Clang reads \p Id before the source.
bool NeededIncludes::isReadBefore(size_t Pass, FileID Id) const {
  const SourceManager &SM = Tree.sources(Pass);
  for (SourceLocation From; Id.isValid(); Id = SM.getFileID(From)) {
    if (Tree.place(Pass, SM.getLocForStartOfFile(Id)).first >= 0)
      return false;
    From = SM.getExpansionLoc(SM.getIncludeLoc(Id));
    if (From.isInvalid())
      break;
  }
  return true;
}

/// Whether nvcc may find what is there elsewhere.
bool NeededIncludes::addPlace(size_t Pass, SourceLocation L) {
  if (L.isInvalid() || Tree.place(Pass, L).first >= 0)
    return false;
  const SourceManager &SM = Tree.sources(Pass);
  PassIncludes &P = Passes[Pass];
  FileID Id = SM.getFileID(SM.getExpansionLoc(L));
  const FileEntry *Header = SM.getFileEntryForID(Id);
  if (Header && P.ReadByNvcc.count(Header))
    return false;
  bool Before = isReadBefore(Pass, Id);
  if (Header && P.Known.insert(Header).second)
    P.Open.push_back({Header, Before});
  return Before;
}

void NeededIncludes::add(size_t Pass, const Decl *D) {
  if (Tree.place(Pass, D->getLocation()).first >= 0)
    return;
  if (auto *Template = dyn_cast<ClassTemplateDecl>(D))
    D = Template->getTemplatedDecl();
  // Of what is only declared each header declares what it needs.
  if (auto *Class = dyn_cast<CXXRecordDecl>(D);
      Class && !(D = Class->getDefinition()))
    return;
  // Where an operator stands in a template all that there are may be meant;
  // those that are come with their types.
  if (const FunctionDecl *F = D->getAsFunction();
      F && F->isOverloadedOperator() && !isa<CXXMethodDecl>(F))
    return;
  bool Elsewhere = false;
  if (const FunctionDecl *F = D->getAsFunction())
    for (const FunctionDecl *Each : F->redecls())
      Elsewhere |= addPlace(Pass, Each->getLocation());
  else
    Elsewhere = addPlace(Pass, D->getLocation());
  auto *Named = dyn_cast<NamedDecl>(D);
  if (Elsewhere && Named && Named->getIdentifier() &&
      !D->getDeclContext()->isRecord())
    addName(Pass, *Named->getIdentifier());
}

/// Whatever is called so, of no namespace or of std.
void NeededIncludes::addName(size_t Pass, const IdentifierInfo &Name) {
  ASTContext &Context = Tree.source(Pass).unit().getASTContext();
  std::vector<const DeclContext *> Scopes{Context.getTranslationUnitDecl()};
  auto Std = Context.Idents.find("std");
  if (Std != Context.Idents.end())
    for (const NamedDecl *D :
         Context.getTranslationUnitDecl()->lookup(Std->second))
      if (auto *Space = dyn_cast<NamespaceDecl>(D))
        Scopes.push_back(Space);
  for (const DeclContext *Scope : Scopes)
    for (const NamedDecl *D : Scope->lookup(&Name)) {
      if (auto *Shadow = dyn_cast<UsingShadowDecl>(D))
        D = Shadow->getTargetDecl();
      if (const FunctionDecl *F = D->getAsFunction())
        for (const FunctionDecl *Each : F->redecls())
          addPlace(Pass, Each->getLocation());
      else
        addPlace(Pass, D->getLocation());
    }
}

void NeededIncludes::addWord(StringRef Word, bool Unread) {
  for (size_t Pass = 0; Pass < Passes.size(); ++Pass) {
    Preprocessor &PP = Tree.source(Pass).unit().getPreprocessor();
    auto Known = PP.getIdentifierTable().find(Word);
    if (Known == PP.getIdentifierTable().end())
      continue;
    if (const MacroInfo *Macro = PP.getMacroInfo(Known->second))
      addPlace(Pass, Macro->getDefinitionLoc());
    if (Unread)
      addName(Pass, *Known->second);
  }
}

bool NeededIncludes::isBrought(const PassIncludes &P,
                               const FileEntry *Header) const {
  return llvm::any_of(P.Named, [&](const auto &Each) {
    return Needed.count(Each.first) && P.All.at(Each.second).count(Header);
  });
}

/// Of the directives that come to \p Header the one that brings least besides.
void NeededIncludes::choose(const PassIncludes &P, const FileEntry *Header) {
  const Place *Chosen = nullptr;
  size_t Least = 0;
  for (const auto &[At, Named] : P.Named) {
    const Files &All = P.All.at(Named);
    if (All.count(Header) && (!Chosen || All.size() < Least)) {
      Chosen = &At;
      Least = All.size();
    }
  }
  if (Chosen)
    Needed.insert(*Chosen);
}

bool NeededIncludes::settle() {
  for (PassIncludes &P : Passes) {
    std::vector<OpenHeader> Open = std::exchange(P.Open, {});
    for (const auto &[At, Named] : P.Named)
      if (llvm::any_of(Open, [&](const OpenHeader &Each) {
            return Each.Header == Named;
          }))
        Needed.insert(At);
    for (const OpenHeader &Each : Open)
      // Of the toolkit's headers Clang takes some that nvcc has no use for.
      if (!(Each.ReadBefore && Tree.isToolkit(Each.Header)) &&
          !isBrought(P, Each.Header))
        choose(P, Each.Header);
  }
  return std::exchange(Settled, Needed.size()) != Needed.size();
}
