//===- HalvesText.cpp - What of a text stays in a half -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesText.h"
#include "Brackets.h"
#include "MainFile.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Preprocessor.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

std::string stark::lineBreaks(StringRef Text) {
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] != '\n' && Text[I] != '\r')
      continue;
    size_t Before = Text.find_last_not_of("\r\n \t", I);
    bool First = I == 0 || (Text[I - 1] != '\r' && Text[I - 1] != '\n');
    if (First && Before != StringRef::npos && Text[Before] == '\\')
      Result += '\\';
    Result += Text[I];
  }
  return Result;
}

/// White space of the same lines and columns.
static std::string blanks(StringRef Text) {
  std::string Result = Text.str();
  for (char &C : Result)
    if (C != '\n' && C != '\r')
      C = ' ';
  return Result;
}

std::vector<Edit> stark::blank(const SourceTokens &Tokens, Range R) {
  std::vector<Edit> Edits;
  auto Take = [&](size_t Begin, size_t End) {
    if (Begin < End)
      Edits.push_back(
          {{Begin, End}, blanks(Tokens.source().slice(Begin, End))});
  };
  size_t Done = R.Begin;
  for (size_t I = Tokens.firstAt(R.Begin);
       I < Tokens.All.size() && Tokens.All[I].Bytes.Begin < R.End; ++I) {
    const SourceToken &T = Tokens.All[I];
    if (!T.InDirective || !T.StartsLine || !Tokens.is(I, "#"))
      continue;
    StringRef Word = I + 1 < Tokens.All.size() ? Tokens.text(I + 1) : "";
    size_t End = I;
    while (Tokens.All[End].Kind != SourceToken::EndOfDirective)
      ++End;
    if (Word == "define" || Word == "undef" ||
        conditionalOf(Word) != Conditional::None) {
      Take(Done, T.Bytes.Begin);
      Done = Tokens.All[End].Bytes.End;
    }
    I = End;
  }
  Take(Done, R.End);
  return Edits;
}

std::vector<Edit> stark::externalNames(const SourceTokens &Tokens,
                                       const std::vector<Item> &Items,
                                       const ParsedSource &Source) {
  std::vector<Edit> Edits;
  for (size_t I = 0; I + 1 < Tokens.All.size(); ++I) {
    const SourceToken &T = Tokens.All[I];
    if (T.InDirective || !Tokens.is(I, "namespace") || !Tokens.is(I + 1, "{"))
      continue;
    Edits.push_back({T.Bytes, "inline namespace stark_unnamed"});
  }
  const SourceManager &SM = Source.unit().getSourceManager();
  for (const Item &K : Items) {
    if (K.Side != Item::Kernel || !SM.isInMainFile(K.D->getLocation()))
      continue;
    size_t Name = Tokens.firstAt(SM.getFileOffset(K.D->getLocation()));
    for (size_t I = Tokens.firstAt(K.Bytes.Begin); I < Name; ++I)
      if (Tokens.is(I, "static") || Tokens.is(I, "inline"))
        for (Edit &E : blank(Tokens, Tokens.All[I].Bytes))
          Edits.push_back(std::move(E));
  }
  return Edits;
}

namespace {
/// Reads the conditions of #if and its kin.
class ConditionReader {
public:
  ConditionReader(const SourceTokens &T, const std::vector<Item> &Items,
                  const ParsedSource &Source)
      : T(T), Items(Items), PP(Source.unit().getPreprocessor()) {}

  std::string run() {
    for (size_t I = 0; I + 1 < T.All.size(); ++I) {
      if (!T.All[I].InDirective || !T.All[I].StartsLine || !T.is(I, "#"))
        continue;
      Conditional Branch = conditionalOf(T.text(I + 1));
      if (Branch != Conditional::If && Branch != Conditional::Else)
        continue;
      for (size_t W = I + 2; T.All[W].Kind != SourceToken::EndOfDirective; ++W)
        if (T.All[W].Kind == SourceToken::Word && !same(W))
          return "line " + std::to_string(T.line(T.All[W].Bytes.Begin)) +
                 " asks for '" + T.text(W).str() + "'";
    }
    return "";
  }

private:
  bool same(size_t Word) {
    StringRef Name = T.text(Word);
    if (Name == "defined" || Name == "CUDART_VERSION")
      return true;
    // g++, as nvcc's own host pass, has none.
    if (Name.starts_with("__CUDA_ARCH"))
      return inFunctionOfDevice(T.All[Word].Bytes.Begin);
    if (Name.size() > 1 && Name[0] == '_' &&
        (Name[1] == '_' || llvm::isUpper(Name[1])))
      return false;
    const MacroInfo *Info = PP.getMacroInfo(PP.getIdentifierInfo(Name));
    if (!Info)
      return true;
    const SourceManager &SM = PP.getSourceManager();
    SourceLocation At = Info->getDefinitionLoc();
    return SM.isInMainFile(At) || SM.isWrittenInCommandLineFile(At);
  }

  bool inFunctionOfDevice(size_t At) const {
    for (size_t I : itemsAt(Items, At))
      if (!Items[I].HostOnly && Items[I].Body && Items[I].Body->Begin <= At)
        return true;
    return false;
  }

  const SourceTokens &T;
  const std::vector<Item> &Items;
  Preprocessor &PP;
};

/// Goes from what the host has to all that is named there.
class NameReader {
public:
  NameReader(const SourceTokens &T, const std::vector<Item> &Items,
             const Headers &From)
      : T(T), Items(Items), From(From), Kept(Items.size(), false) {}

  std::vector<bool> run() {
    for (size_t I = 0; I < T.All.size(); ++I)
      if (T.All[I].InDirective && T.All[I].Kind == SourceToken::Word)
        Named.insert(T.text(I));
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (size_t I = 0; I < Items.size(); ++I)
        if (!Kept[I] && wanted(Items[I])) {
          keep(I);
          Changed = true;
        }
    }
    return std::move(Kept);
  }

private:
  void keep(size_t Index) {
    const Item &I = Items[Index];
    Kept[Index] = true;
    for (size_t W = T.firstAt(I.Bytes.Begin);
         W < T.All.size() && T.All[W].Bytes.Begin < I.Bytes.End; ++W) {
      bool InBody = I.Side == Item::Kernel && I.Body &&
                    T.All[W].Bytes.Begin >= I.Body->Begin;
      if (T.All[W].Kind == SourceToken::Word && !InBody)
        Named.insert(T.text(W));
    }
    // What one text writes stays together.
    for (size_t Other = 0; Other < Items.size(); ++Other)
      if (!Kept[Other] && Items[Other].Bytes.overlaps(I.Bytes))
        keep(Other);
  }

  bool wanted(const Item &I) const {
    if (I.HostOnly)
      return true;
    if (I.Side == Item::Device || isa<StaticAssertDecl>(I.D))
      return false;
    // The header is left out where nothing of it is named.
    if (auto *Using = dyn_cast<UsingDirectiveDecl>(I.D))
      return !From.isToolkit(
          Using->getNominatedNamespace()->getCanonicalDecl()->getLocation());
    if (auto *Enum = dyn_cast<EnumDecl>(I.D))
      for (const EnumConstantDecl *E : Enum->enumerators())
        if (Named.count(E->getName()))
          return true;
    if (FunctionDecl *F = I.function())
      if (auto *Method = dyn_cast<CXXMethodDecl>(F))
        return Named.count(Method->getParent()->getName());
    if (I.Name.empty())
      return !isa<TagDecl>(I.D);
    return Named.count(I.Name);
  }

  const SourceTokens &T;
  const std::vector<Item> &Items;
  const Headers &From;
  std::vector<bool> Kept;
  std::set<StringRef> Named;
};
} // namespace

std::string stark::differingConditional(const SourceTokens &Tokens,
                                        const std::vector<Item> &Items,
                                        const ParsedSource &Source) {
  return ConditionReader(Tokens, Items, Source).run();
}

std::vector<bool> stark::keptByHost(const SourceTokens &Tokens,
                                    const std::vector<Item> &Items,
                                    const Headers &From) {
  return NameReader(Tokens, Items, From).run();
}
