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

#include "ContractFindings.h"
#include "ContractNames.h"
#include "SkippedText.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
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
  void add(size_t At, std::string Key, std::string Message) {
    Findings.push_back({std::move(Key), {Text.line(At), true, Message}});
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
        clang::FileID Id = SM.translateFile(*File);
        Found.System =
            Id.isValid() && clang::SrcMgr::isSystem(SM.getFileCharacteristic(
                                SM.getLocForStartOfFile(Id)));
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
    if (Word == "include")
      include(R);
    else if (Word == "define" || Word == "undef")
      define(R, Word);
    else if (Word == "pragma")
      pragma(R);
    else if (Word == "if" || Word == "ifdef" || Word == "ifndef" ||
             Word.starts_with("elif"))
      condition(R);
    else if (Word != "else" && Word != "endif" && Word != "error" &&
             Word != "warning")
      add(R.Begin, "directive " + text(R.Begin, R.End),
          ("uses #" + Word + ", which is forbidden").str());
  }

  void include(Range R) {
    std::string Name = text(R.Begin + 2, R.End);
    auto Refuse = [&](StringRef Why) {
      add(R.Begin, "include " + Name,
          "includes " + Name + ", which is forbidden: " + Why.str());
    };
    StringRef Path = Name;
    bool Angled = Path.consume_front("<") && Path.consume_back(">");
    bool Quoted =
        !Angled && Path.consume_front("\"") && Path.consume_back("\"");
    if (!Angled && !Quoted)
      return Refuse("the file's name must be written out");
    if (Path.starts_with("/") || Path.contains("..") || Path.contains('\\') ||
        Path.contains("//") || Path.contains("./"))
      return Refuse("only headers of the toolkit, of the standard library, or "
                    "those that the source has");
    if (StringRef Why = forbiddenHeader(Path); !Why.empty())
      return Refuse(Why);
    auto It = Includes.find(Text.line(R.Begin));
    if (It == Includes.end()) {
      if (Quoted)
        Refuse("a file that the source does not include");
      else // one of a branch not taken: named as the source names it, or not
        add(R.Begin, "include " + Name,
            "includes " + Name +
                " in a branch that Clang skips, so it cannot be checked");
      return;
    }
    if (!It->second.Found)
      return Refuse("there is no such file");
    // What is no system header is the user's, or the candidate's own.
    if (!It->second.System)
      return Refuse("a file that the source does not include");
  }

  void define(Range R, StringRef Word) {
    if (R.Begin + 2 >= R.End)
      return;
    StringRef Name = T.text(R.Begin + 2);
    std::string Key = (Word + " " + Name).str();
    if (Word == "undef") {
      if (!Text.Macros.count(Name.str()))
        add(R.Begin, Key,
            ("undefines '" + Name + "', which this file does not define")
                .str());
      return;
    }
    if (languageWord(Name) || !forbiddenWord(Name).empty() ||
        !forbiddenFunction(Name).empty())
      add(R.Begin, Key,
          ("redefines '" + Name +
           "', which is forbidden: the name belongs to "
           "the language, to CUDA or to the system")
              .str());
    else if (Functions.count(Name.str()))
      add(R.Begin, Key,
          ("redefines the function '" + Name + "' by a macro").str());
    else if (declaredInHeader(Name))
      add(R.Begin, Key,
          ("redefines '" + Name + "', which a header declares").str());
  }

  bool declaredInHeader(StringRef Name) const {
    clang::ASTUnit &Unit = Text.Source.unit();
    clang::ASTContext &Context = Unit.getASTContext();
    const clang::SourceManager &SM = Unit.getSourceManager();
    auto Found =
        Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name));
    for (const clang::NamedDecl *D : Found)
      if (D->getLocation().isValid() &&
          !SM.isInMainFile(SM.getExpansionLoc(D->getLocation())))
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
      add(R.Begin, "pragma " + text(R.Begin + 2, R.End),
          ("uses #pragma " + Word +
           ", which is forbidden; only unroll, pack, "
           "once and diagnostics are allowed")
              .str());
  }

  void condition(Range R) {
    for (size_t I = R.Begin + 2; I < R.End; ++I) {
      if (T.All[I].Kind != SourceToken::Word)
        continue;
      StringRef Name = T.text(I);
      std::set<StringRef> Seen;
      if (!sameEverywhere(Name, Seen))
        add(R.Begin, ("condition " + Name).str(),
            ("asks the preprocessor about '" + Name +
             "', which is forbidden: compilers may answer differently; only "
             "__CUDA_ARCH__, CUDART_VERSION and macros of this file are "
             "allowed")
                .str());
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
      add(At, "skipped " + Hash,
          "has text in a branch that the device pass skips, so it cannot be "
          "checked; keep conditionals inside __global__ and __device__ "
          "functions, or around them");
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
