//===- ExtractConditionals.cpp - Conditionals that are kept ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractDirectives.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// The tokens of a branch, without its directive.
Range KeptTokens::branch(int File, const Conditional &C, size_t Branch) const {
  const Directive *D = Tree.Files[File].directiveAt(C.Branches[Branch]);
  return {D->End,
          Branch + 1 < C.Branches.size() ? C.Branches[Branch + 1] : C.End};
}

bool KeptTokens::isSkippedBranch(int File, const Conditional &C,
                                 size_t Branch) const {
  const IncludedFile &F = Tree.Files[File];
  const Directive *D = F.directiveAt(C.Branches[Branch]);
  return !F.isLive(F.Tokens->All[D->End - 1].Bytes.Begin);
}

/// All of the file, and nothing but that it is read once.
bool KeptTokens::isGuard(int File, const Conditional &C) const {
  const IncludedFile &F = Tree.Files[File];
  const SourceTokens &T = *F.Tokens;
  if (File == 0 || C.Branches.size() != 1 || C.Last != T.All.size())
    return false;
  const Directive *Asks = F.directiveAt(C.Branches.front());
  for (size_t I = 0; I < Asks->First; ++I)
    if (!T.All[I].InDirective)
      return false;
  StringRef Name = T.text(Asks->End - 2);
  if (Name == ")")
    Name = T.text(Asks->End - 3);
  const Directive *Next = F.directiveAt(Asks->End);
  return Next && Next->Word == "define" && T.is(Next->First + 2, Name);
}

/// The answer is that of the project's macros and of the flags.
bool KeptTokens::isOurs(StringRef Word, std::set<StringRef> &Asked) const {
  if (!Asked.insert(Word).second)
    return true;
  if (auto Known = Macros.find(Word); Known != Macros.end())
    return llvm::all_of(Known->second,
                        [&](StringRef Next) { return isOurs(Next, Asked); });
  if (Word.starts_with("_"))
    return false;
  for (size_t Pass = 0; Pass < Tree.passes(); ++Pass) {
    Preprocessor &PP = Tree.source(Pass).unit().getPreprocessor();
    MacroInfo *Info = PP.getMacroInfo(PP.getIdentifierInfo(Word));
    if (!Info)
      continue;
    PresumedLoc From =
        Tree.sources(Pass).getPresumedLoc(Info->getDefinitionLoc());
    if (From.isInvalid() || StringRef(From.getFilename()) != "<command line>")
      return false;
  }
  return true;
}

/// No file and no flag defines \p Word as a macro, at any place.
bool KeptTokens::isUndefined(StringRef Word) const {
  if (Word.starts_with("_") || Macros.count(Word))
    return false;
  for (size_t Pass = 0; Pass < Tree.passes(); ++Pass) {
    Preprocessor &PP = Tree.source(Pass).unit().getPreprocessor();
    if (PP.getIdentifierInfo(Word)->hadMacroDefinition())
      return false;
  }
  return true;
}

/// The answer is no whatever a compiler or a toolkit says: `defined(X) && ...`
/// of a macro that nobody defines.
bool KeptTokens::isNever(int File, const Directive &D) const {
  const SourceTokens &T = *Tree.Files[File].Tokens;
  if (D.Word != "if" && D.Word != "elif")
    return false;
  bool Never = false;
  unsigned Depth = 0;
  std::vector<StringRef> Part; // between two `&&`
  for (size_t I = D.First + 2; I < D.End; ++I) {
    if (Depth == 0 && (T.is(I, "||") || T.is(I, "or") || T.is(I, "?")))
      return false;
    if (I + 1 < D.End && (Depth || !T.is(I, "&&"))) {
      Depth += T.is(I, "(");
      Depth -= T.is(I, ")") && Depth;
      Part.push_back(T.text(I));
      continue;
    }
    while (Part.size() > 2 && Part.front() == "(" && Part.back() == ")")
      Part = std::vector<StringRef>(Part.begin() + 1, Part.end() - 1);
    if (Part.size() > 1 && Part.front() == "defined")
      Part.erase(Part.begin());
    if (Part.size() == 3 && Part.front() == "(")
      Part = {Part[1]};
    Never |= Part.size() == 1 && llvm::isAlpha(Part.front().front()) &&
             Part.front() != "true" && isUndefined(Part.front());
    Part.clear();
  }
  return Never;
}

bool KeptTokens::isOurs(int File, const Conditional &C) const {
  const IncludedFile &F = Tree.Files[File];
  std::set<StringRef> Asked;
  for (size_t I = 0; I < C.Branches.size(); ++I) {
    const Directive *D = F.directiveAt(C.Branches[I]);
    if (F.differs(F.Tokens->All[D->End - 1].Bytes.Begin))
      return false;
    if (isNever(File, *D))
      continue;
    for (size_t Token = D->First + 2; Token < D->End; ++Token)
      if (F.Tokens->All[Token].Kind == SourceToken::Word &&
          !F.Tokens->is(Token, "defined") &&
          !isOurs(F.Tokens->text(Token), Asked))
        return false;
  }
  return true;
}

bool KeptTokens::holdsKept(int File, const Conditional &C) const {
  for (size_t I = 0; I < C.Branches.size(); ++I) {
    Range R = branch(File, C, I);
    for (size_t Token = R.Begin; Token < R.End; ++Token)
      if (Keep[File][Token])
        return true;
  }
  return false;
}

/// What is skipped declares a function, type or macro that what is kept names.
bool KeptTokens::definesWanted(int File, const Conditional &C) const {
  const SourceTokens &T = *Tree.Files[File].Tokens;
  for (size_t I = 0; I < C.Branches.size(); ++I) {
    if (!isSkippedBranch(File, C, I))
      continue;
    Range R = branch(File, C, I);
    unsigned Depth = 0;
    for (size_t Token = R.Begin; Token < R.End; ++Token) {
      if (T.is(Token, "{") || T.is(Token, "("))
        ++Depth;
      else if ((T.is(Token, "}") || T.is(Token, ")")) && Depth)
        --Depth;
      bool Named =
          T.is(Token + 1, "(") ||
          (Token && (T.is(Token - 1, "struct") || T.is(Token - 1, "class")));
      if (!Depth && Named && T.All[Token].Kind == SourceToken::Word &&
          !T.All[Token].InDirective && Words.count(T.text(Token)) &&
          !T.text(Token).starts_with("__"))
        return true;
    }
  }
  return false;
}

void KeptTokens::keepConditional(int File, const Conditional &C) {
  const IncludedFile &F = Tree.Files[File];
  auto KeepDirective = [&](size_t First) {
    const Directive *D = F.directiveAt(First);
    for (size_t I = D->First; I < D->End; ++I)
      Keep[File][I] = true;
  };
  for (size_t I = 0; I < C.Branches.size(); ++I) {
    KeepDirective(C.Branches[I]);
    if (!isSkippedBranch(File, C, I))
      continue;
    Range R = branch(File, C, I);
    for (size_t Token = R.Begin; Token < R.End; ++Token) {
      Keep[File][Token] = true;
      if (F.Tokens->All[Token].Kind == SourceToken::Word)
        Skipped.insert(F.Tokens->text(Token));
    }
  }
  KeepDirective(C.End);
}

/// Inner ones first: they stand behind their outer ones.
void KeptTokens::keepConditionals(int File) {
  const std::vector<Conditional> &All = Units.Conditionals[File];
  for (size_t I = All.size(); I-- > 0;) {
    const Conditional &C = All[I];
    size_t First = C.Branches.front();
    // What a skipped branch holds goes with it.
    bool Reached = true;
    for (int Outer = C.Outer; Outer >= 0; Outer = All[Outer].Outer)
      for (size_t B = 0; B < All[Outer].Branches.size(); ++B) {
        Range R = branch(File, All[Outer], B);
        if (R.Begin <= First && First < R.End)
          Reached &= !isSkippedBranch(File, All[Outer], B);
      }
    if (!Reached || isGuard(File, C))
      continue;
    if (Units.atToken(File, First) >= 0) {
      if (Keep[File][First] && !isOurs(File, C))
        keepConditional(File, C);
      continue;
    }
    bool Ours = Level <= ExtractLevel::Reached && isOurs(File, C);
    if (!Ours && (holdsKept(File, C) || definesWanted(File, C)))
      keepConditional(File, C);
  }
}
