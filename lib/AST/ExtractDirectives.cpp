//===- ExtractDirectives.cpp - What is kept, token by token ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractDirectives.h"
#include "stark/AST/Torch.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

KeptTokens::KeptTokens(const IncludeTree &Tree, const UnitsOfFiles &Units,
                       ExtractLevel Level)
    : Tree(Tree), Units(Units), Level(Level) {
  for (const IncludedFile &F : Tree.Files) {
    Keep.emplace_back(F.Tokens->All.size());
    int In = -1;
    if (F.Parent >= 0) {
      In = Units.atToken(F.Parent, F.At);
      if (In < 0)
        In = InUnit[F.Parent];
    }
    InUnit.push_back(In);
  }
  readMacros();
}

/// The name that a #define or #undef is of, or empty.
static StringRef macroOf(const SourceTokens &T, const Directive &D) {
  if ((D.Word == "define" || D.Word == "undef") && D.First + 2 < D.End)
    return T.text(D.First + 2);
  return "";
}

void KeptTokens::readMacros() {
  for (size_t File = 0; File < Tree.Files.size(); ++File) {
    const IncludedFile &F = Tree.Files[File];
    for (const Directive &D : F.Directives) {
      StringRef Name = macroOf(*F.Tokens, D);
      if (Name.empty())
        continue;
      std::set<StringRef> &Of = Macros[Name];
      for (size_t I = D.First + 3; I < D.End; ++I)
        if (F.Tokens->All[I].Kind == SourceToken::Word)
          Of.insert(F.Tokens->text(I));
    }
  }
  // Headers that are not ours may ask for macros that ours define.
  for (size_t Pass = 0; Pass < Tree.passes(); ++Pass) {
    auto *Record =
        Tree.source(Pass).unit().getPreprocessor().getPreprocessingRecord();
    for (PreprocessedEntity *E : *Record) {
      auto *Use = llvm::dyn_cast_or_null<MacroExpansion>(E);
      if (!Use || Use->isBuiltinMacro())
        continue;
      auto Known = Macros.find(Use->getName()->getName());
      if (Known != Macros.end() &&
          Tree.place(Pass, Use->getSourceRange().getBegin()).first < 0)
        Named.insert(Known->first);
    }
  }
}

bool KeptTokens::any(int File) const {
  return llvm::is_contained(Keep[File], true);
}

void KeptTokens::keepAll(int File, Range Tokens) {
  const IncludedFile &F = Tree.Files[File];
  for (size_t I = Tokens.Begin; I < Tokens.End; ++I)
    Keep[File][I] = true;
  for (const Directive &D : F.Directives) {
    if (D.First < Tokens.Begin || D.First >= Tokens.End)
      continue;
    if ((D.Word == "pragma" && F.Tokens->is(D.First + 2, "once")) ||
        (F.ReadBefore.count(D.First) &&
         F.isLive(F.Tokens->All[D.First].Bytes.Begin)))
      for (size_t I = D.First; I < D.End; ++I)
        Keep[File][I] = false;
  }
}

bool KeptTokens::keepsDirective(int File, const Directive &D) const {
  const IncludedFile &F = Tree.Files[File];
  if (!F.isLive(F.Tokens->All[D.First].Bytes.Begin))
    return false;
  if (auto Child = F.Children.find(D.First); Child != F.Children.end())
    return any(Child->second);
  if (F.Foreign.count(D.First))
    return !Includes || !File || Includes->has(File, D.First);
  if (StringRef Name = macroOf(*F.Tokens, D); !Name.empty())
    return Level == ExtractLevel::Macros || Named.count(Name);
  if (D.Word != "pragma" || F.Tokens->is(D.First + 2, "once"))
    return false;
  // Of what it changes there may be nothing here, but behind it.
  StringRef Of = D.First + 2 < D.End ? F.Tokens->text(D.First + 2) : "";
  return Of == "pack" || Of == "push_macro" || Of == "pop_macro" ||
         llvm::any_of(Units.OfFile[File],
                      [&](size_t I) { return Units.All[I].Kept; });
}

void KeptTokens::keepDirectives(int File) {
  for (const Directive &D : Tree.Files[File].Directives)
    if (Units.atToken(File, D.First) < 0 && keepsDirective(File, D))
      for (size_t I = D.First; I < D.End; ++I)
        Keep[File][I] = true;
}

/// Braces of namespaces, and macros that may stand for them.
void KeptTokens::keepStructure(int File) {
  struct Block {
    size_t Brace = 0;
    bool Any = false;
    std::vector<size_t> Loose; ///< tokens that stay if the block does
  };
  const IncludedFile &F = Tree.Files[File];
  const SourceTokens &T = *F.Tokens;
  std::vector<Block> Open;
  std::vector<size_t> Run;
  std::vector<bool> &Kept = Keep[File];
  auto Flush = [&] {
    for (size_t I : Run) {
      if (Open.empty())
        Kept[I] = true;
      else
        Open.back().Loose.push_back(I);
    }
    Run.clear();
  };
  for (size_t I = 0; I < T.All.size(); ++I) {
    int Unit = Units.atToken(File, I);
    if (Unit >= 0 || T.All[I].InDirective) {
      Flush();
      if (Kept[I] && !Open.empty())
        Open.back().Any = true;
      continue;
    }
    if (!F.isLive(T.All[I].Bytes.Begin))
      continue;
    if (T.is(I, "{")) {
      Open.emplace_back();
      Open.back().Brace = I;
      Open.back().Loose = std::exchange(Run, {});
    } else if (T.is(I, "}")) {
      Flush();
      if (Open.empty()) {
        Kept[I] = true;
        continue;
      }
      Block Done = std::move(Open.back());
      Open.pop_back();
      if (!Done.Any)
        continue;
      Kept[Done.Brace] = Kept[I] = true;
      for (size_t Loose : Done.Loose)
        Kept[Loose] = true;
      if (!Open.empty())
        Open.back().Any = true;
    } else if (T.is(I, ";")) {
      // An explicit instantiation: what is used is instantiated all the same.
      bool Instance = !Run.empty() && (T.is(Run.front(), "template") ||
                                       T.is(Run.front(), "extern"));
      if (!Instance && !Run.empty()) {
        Run.push_back(I);
        Flush();
      }
      Run.clear();
    } else {
      Run.push_back(I);
    }
  }
  Flush();
  for (const Block &B : Open) {
    Kept[B.Brace] = true;
    for (size_t Loose : B.Loose)
      Kept[Loose] = true;
  }
}

void KeptTokens::layOut(int File) {
  const IncludedFile &F = Tree.Files[File];
  Keep[File].assign(F.Tokens->All.size(), false);
  Range All{0, F.Tokens->All.size()};
  if (Level == ExtractLevel::Whole)
    return keepAll(File, All);
  if (InUnit[File] >= 0) {
    if (Units.All[InUnit[File]].Kept)
      keepAll(File, All);
    return;
  }
  for (size_t I : Units.OfFile[File]) {
    if (!Units.All[I].Kept)
      continue;
    keepAll(File, Units.All[I].Tokens);
    for (size_t Part : Units.All[I].Parts) {
      const UnitPart &P = Units.Parts[Part];
      if (!P.Kept)
        std::fill(Keep[File].begin() + P.Tokens.Begin,
                  Keep[File].begin() + P.Tokens.End, false);
    }
  }
  keepDirectives(File);
  keepStructure(File);
  keepConditionals(File);
}

void KeptTokens::layOut() {
  Skipped.clear();
  // What is included stands behind what includes it.
  for (int File = int(Tree.Files.size()) - 1; File >= 0; --File)
    layOut(File);
  Words.clear();
  for (size_t File = 0; File < Tree.Files.size(); ++File) {
    const SourceTokens &T = *Tree.Files[File].Tokens;
    for (size_t I = 0; I < T.All.size(); ++I)
      if (Keep[File][I] && T.All[I].Kind == SourceToken::Word)
        Words.insert(T.text(I));
  }
}

/// Macros of the project that what is kept names. Whether there are more.
bool KeptTokens::nameMacros() {
  size_t Before = Named.size();
  std::vector<StringRef> Open(Words.begin(), Words.end());
  Open.insert(Open.end(), Named.begin(), Named.end());
  std::set<StringRef> Seen;
  while (!Open.empty()) {
    StringRef Word = Open.back();
    Open.pop_back();
    auto Known = Macros.find(Word);
    if (Known == Macros.end() || !Seen.insert(Word).second)
      continue;
    Named.insert(Word);
    Open.insert(Open.end(), Known->second.begin(), Known->second.end());
  }
  return Named.size() != Before;
}

void KeptTokens::complete(Reach &From) {
  // What is not known to be needed may be, where more may be reached.
  if (Level == ExtractLevel::Least && !From.isOpen() &&
      !includesTorch(Tree.Files[0].Text))
    Includes = &From.includes();
  for (bool Changed = true; Changed;) {
    From.run();
    From.includes().settle();
    layOut();
    Changed = nameMacros();
    if (Includes) {
      for (StringRef Word : Words)
        From.includes().addWord(Word, Skipped.count(Word));
      Changed |= From.includes().settle();
    }
    if (Level == ExtractLevel::Whole)
      return;
    Changed |= From.keepNamed(Skipped);
    Changed |= From.keepMembers(Words);
    if (From.isOpen())
      Changed |= From.keepNamed(Words);
  }
}
