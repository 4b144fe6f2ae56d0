//===- ContractDirectives.cpp - What a candidate may tell the preprocessor ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   nvcc judges what Clang checked, so both must see the same text: no asking
/// which compiler it is, no redefined language, no foreign files, and no host
/// code in branches that one of the two passes skips.
///
//===----------------------------------------------------------------------===//

#include "Brackets.h"
#include "ContractFindings.h"
#include "ContractNames.h"
#include "MainFile.h"
#include "SkippedText.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace stark;
using llvm::StringRef;

namespace {

/// What an #include led to.
struct Included {
  bool Found = false, System = false;
};

class DirectiveReader {
public:
  explicit DirectiveReader(const ContractText &Text)
      : Text(Text), T(Text.Tokens), Skipped(skippedText(Text.Source)),
        DeviceBodies(deviceBodies(Text.Source)) {
    findIncludes();
    for (const Piece &P : Text.Pieces)
      if (P.Kind == PieceKind::Function)
        Functions.insert(P.Name);
  }

  std::vector<Finding> run() {
    for (size_t I = 0; I < T.All.size(); ++I) {
      if (!T.All[I].InDirective || !T.All[I].StartsLine || !T.is(I, "#"))
        continue;
      size_t End = I;
      while (T.All[End].Kind != SourceToken::EndOfDirective)
        ++End;
      if (I + 1 < End)
        directive({I, End});
    }
    for (const Range &R : Skipped)
      skipped(R);
    return std::move(Findings);
  }

private:
  void add(size_t At, ViolationKind Kind, StringRef Name, StringRef Key,
           std::optional<Harm> Why = std::nullopt) {
    Findings.push_back({{Kind, Text.line(At), Name.str(), Why}, Key.str()});
  }
  void add(size_t At, ViolationKind Kind, StringRef Name) {
    add(At, Kind, Name, Name);
  }

  void findIncludes() {
    clang::ASTUnit &Unit = Text.Source.unit();
    const clang::SourceManager &SM = Unit.getSourceManager();
    auto *Record = Unit.getPreprocessor().getPreprocessingRecord();
    if (!Record)
      return;
    clang::FileID Main = SM.getMainFileID();
    clang::SourceRange Whole(SM.getLocForStartOfFile(Main),
                             SM.getLocForEndOfFile(Main));
    for (clang::PreprocessedEntity *E :
         Record->getPreprocessedEntitiesInRange(Whole)) {
      auto *Include = llvm::dyn_cast_or_null<clang::InclusionDirective>(E);
      if (!Include || !SM.isInMainFile(Include->getSourceRange().getBegin()))
        continue;
      Included Found;
      if (clang::OptionalFileEntryRef File = Include->getFile()) {
        Found.Found = true;
        Found.System = clang::SrcMgr::isSystem(
            Unit.getPreprocessor().getHeaderSearchInfo().getFileDirFlavor(
                *File));
      }
      unsigned Line =
          SM.getSpellingLineNumber(Include->getSourceRange().getBegin());
      Includes[Line] = Found;
    }
  }

  std::string text(size_t Begin, size_t End) const {
    std::string Result;
    for (size_t I = Begin; I < End; ++I) {
      StringRef P = T.text(I);
      P.consume_front("<parameters>");
      Result += P;
    }
    return Result;
  }

  void directive(Range R) {
    StringRef Word = T.text(R.Begin + 1);
    Conditional Branch = conditionalOf(Word);
    if (Word == "include")
      include(R);
    else if (Word == "define" || Word == "undef")
      define(R, Word);
    else if (Word == "pragma")
      pragma(R);
    else if (Branch == Conditional::If || Word.starts_with("elif"))
      condition(R);
    else if (Branch == Conditional::None && Word != "error" &&
             Word != "warning")
      add(R.Begin, ViolationKind::UsesDirective, Word, text(R.Begin, R.End));
  }

  void include(Range R) {
    std::string Name = text(R.Begin + 2, R.End);
    auto Refuse = [&](ViolationKind Kind,
                      std::optional<Harm> Why = std::nullopt) {
      add(R.Begin, Kind, Name, Name, Why);
    };
    StringRef Path = Name;
    bool Angled = Path.consume_front("<") && Path.consume_back(">");
    bool Quoted =
        !Angled && Path.consume_front("\"") && Path.consume_back("\"");
    if (!Angled && !Quoted)
      return Refuse(ViolationKind::ComputedInclude);
    if (Path.starts_with("/") || Path.contains("..") || Path.contains('\\') ||
        Path.contains("//") || Path.contains("./"))
      return Refuse(ViolationKind::OutsideInclude);
    if (std::optional<Harm> Why = forbiddenHeader(Path))
      return Refuse(ViolationKind::HarmfulInclude, Why);
    auto It = Includes.find(Text.line(R.Begin));
    if (It == Includes.end()) // of a branch not taken
      return Refuse(Quoted ? ViolationKind::ForeignInclude
                           : ViolationKind::SkippedInclude);
    if (!It->second.Found)
      return Refuse(ViolationKind::MissingInclude);
    // What is no system header is the user's, or the candidate's own.
    if (!It->second.System)
      return Refuse(ViolationKind::ForeignInclude);
  }

  void define(Range R, StringRef Word) {
    if (R.Begin + 2 >= R.End)
      return;
    StringRef Name = T.text(R.Begin + 2);
    if (Word == "undef") {
      if (!Text.Macros.count(Name.str()))
        add(R.Begin, ViolationKind::UndefinesName, Name);
      return;
    }
    if (languageWord(Name) || forbiddenWord(Name) || forbiddenFunction(Name))
      add(R.Begin, ViolationKind::RedefinesLanguage, Name);
    else if (Functions.count(Name.str()))
      add(R.Begin, ViolationKind::RedefinesFunction, Name);
    else if (declaredInHeader(Name))
      add(R.Begin, ViolationKind::RedefinesDeclared, Name);
  }

  bool declaredInHeader(StringRef Name) const {
    clang::ASTUnit &Unit = Text.Source.unit();
    clang::ASTContext &Context = Unit.getASTContext();
    const clang::SourceManager &SM = Unit.getSourceManager();
    auto Found =
        Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name));
    for (const clang::NamedDecl *D : Found)
      if (D->getLocation().isValid() && !isInMainFile(SM, D->getLocation()))
        return true;
    return false;
  }

  void pragma(Range R) {
    StringRef Word = R.Begin + 2 < R.End ? T.text(R.Begin + 2) : StringRef();
    bool Gcc = Word == "GCC" || Word == "clang";
    StringRef Next = R.Begin + 3 < R.End ? T.text(R.Begin + 3) : StringRef();
    bool Fine = Word == "unroll" || Word == "nounroll" || Word == "once" ||
                Word == "pack" || Word == "STDC" || Word == "ivdep" ||
                Word.starts_with("nv_") || Word.starts_with("diag_") ||
                Word == "region" || Word == "endregion" || Word.empty() ||
                (Gcc && (Next == "diagnostic" || Next == "unroll" ||
                         Next == "ivdep" || Next == "loop"));
    if (!Fine)
      add(R.Begin, ViolationKind::UsesPragma, Word, text(R.Begin + 2, R.End));
  }

  void condition(Range R) {
    for (size_t I = R.Begin + 2; I < R.End; ++I) {
      if (T.All[I].Kind != SourceToken::Word)
        continue;
      StringRef Name = T.text(I);
      std::set<StringRef> Seen;
      if (!sameEverywhere(Name, Seen))
        add(R.Begin, ViolationKind::AsksCompiler, Name);
    }
  }

  /// Whether \p Name means the same to Clang's device pass and nvcc's, or is
  /// made in this file of names that do.
  bool sameEverywhere(StringRef Name, std::set<StringRef> &Seen) const {
    if (Name == "defined" || Name == "true" || Name == "false" ||
        Name == "__CUDA_ARCH__" || Name.starts_with("__CUDA_ARCH_FEAT_") ||
        Name == "CUDART_VERSION" || Name == "CUDA_VERSION")
      return true;
    if (!Text.Macros.count(Name.str()) || Seen.size() > 100)
      return false;
    if (!Seen.insert(Name).second)
      return true;
    for (const Piece &P : Text.Pieces) {
      if (P.Kind != PieceKind::Define || P.Name != Name)
        continue;
      size_t I = P.Tokens.Begin + 3;
      std::set<StringRef> Own = Seen; // parameters mean what they are given
      if (T.is(I, "<parameters>("))
        for (; I < P.Tokens.End && !T.is(I, ")"); ++I)
          Own.insert(T.text(I));
      for (; I < P.Tokens.End; ++I)
        if (T.All[I].Kind == SourceToken::Word && !Own.count(T.text(I)) &&
            !sameEverywhere(T.text(I), Seen))
          return false;
    }
    return true;
  }

  /// Text that Clang's device pass skips may be nvcc's host code.
  void skipped(const Range &Bytes) {
    size_t Begin = T.firstAt(Bytes.Begin), End = T.firstAt(Bytes.End);
    size_t Body = Begin;
    while (Body < End && T.All[Body].InDirective)
      ++Body;
    if (Body >= End)
      return;
    if (End - Begin >= 4 && T.is(Begin + 1, "if") && T.is(Begin + 2, "0") &&
        T.All[Begin + 3].Kind == SourceToken::EndOfDirective)
      return; // nobody takes it
    for (const Range &Device : DeviceBodies)
      if (Device.contains(Bytes))
        return;
    std::string Hash; // the same text in the source is the user's
    for (size_t I = Body; I < End; ++I)
      if (!T.All[I].InDirective)
        Hash += T.text(I).str() + " ";
    for (const Piece &P : Text.Pieces) {
      if (P.Tokens.End <= Body || P.Tokens.Begin >= End)
        continue;
      bool Fine = Text.deviceOnly(P) || T.All[P.Tokens.Begin].InDirective ||
                  P.Kind == PieceKind::Using || P.Kind == PieceKind::Open ||
                  P.Kind == PieceKind::Close || isConstant(P);
      if (Fine)
        continue;
      size_t At = std::max(Body, P.Tokens.Begin);
      add(At, ViolationKind::SkippedText, "", Hash);
      return;
    }
  }

  bool isConstant(const Piece &P) const {
    for (size_t I = P.Tokens.Begin; I < P.Tokens.End; ++I) {
      if (T.is(I, "("))
        return false;
      if (T.is(I, "constexpr"))
        return P.Kind == PieceKind::Variable;
    }
    return false;
  }

  const ContractText &Text;
  const SourceTokens &T;
  std::vector<Range> Skipped, DeviceBodies;
  std::map<unsigned, Included> Includes; ///< by line
  std::set<std::string> Functions;
  std::vector<Finding> Findings;
};
} // namespace

std::vector<Finding> stark::directiveFindings(const ContractText &Text) {
  return DirectiveReader(Text).run();
}
