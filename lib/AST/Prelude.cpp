//===- Prelude.cpp - Headers that are parsed once ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Prelude.h"
#include "HeaderWords.h"
#include "SourceTokens.h"
#include "Unit.h"
#include "stark/Support/TimeTrace.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"

using namespace stark;

namespace {
/// Clang keeps the functions whose CUDA errors it reports at the end of a file
/// to itself; an explicit instantiation may name what is private.
template <auto Member> struct SemaMember {
  friend auto &functionsToCheck(clang::Sema &S) { return S.*Member; }
};
auto &functionsToCheck(clang::Sema &S);
template struct SemaMember<&clang::Sema::DeclsToCheckForDeferredDiags>;
} // namespace

/// The headers between <> that \p Text begins with.
static std::vector<std::string> leadingIncludes(llvm::StringRef Text) {
  Spellings Names;
  SourceTokens Tokens(Text, Names);
  std::vector<std::string> Includes;
  for (size_t I = 0; I + 3 < Tokens.All.size();) {
    auto Is = [&](size_t At, llvm::StringRef Word) {
      return At < Tokens.All.size() && Tokens.All[At].InDirective &&
             Tokens.text(At) == Word;
    };
    if (!Is(I, "#") || !Is(I + 1, "include") || !Is(I + 2, "<"))
      break;
    size_t Begin = Tokens.All[I + 2].Bytes.End;
    for (I += 3; I < Tokens.All.size() &&
                 Tokens.All[I].Kind != SourceToken::EndOfDirective;)
      ++I;
    llvm::StringRef Name = Text.slice(Begin, Tokens.All[I - 1].Bytes.Begin);
    if (Tokens.text(I - 1) != ">" || Name.contains('\n') || Name.contains('>'))
      break;
    Includes.push_back(Name.str());
    ++I;
  }
  return Includes;
}

std::unique_ptr<const Prelude> Prelude::make(const ParsedSource &Source,
                                             const ParseOptions &Options) {
  TraceScope Traced("parse headers");
  clang::Preprocessor &PP = Source.unit().getPreprocessor();
  auto Made = std::make_unique<Prelude>();
  Made->Includes = leadingIncludes(Source.text());
  // A header that says something else when it is read again is not shared, nor
  // is what comes after it.
  const clang::SourceManager &SM = Source.unit().getSourceManager();
  clang::PreprocessingRecord *Record = PP.getPreprocessingRecord();
  size_t Guarded = 0;
  if (Record)
    for (clang::PreprocessedEntity *E : Record->getPreprocessedEntitiesInRange(
             {SM.getLocForStartOfFile(SM.getMainFileID()),
              SM.getLocForEndOfFile(SM.getMainFileID())})) {
      auto *Include = llvm::dyn_cast_or_null<clang::InclusionDirective>(E);
      if (!Include || !SM.isInMainFile(Include->getSourceRange().getBegin()))
        continue;
      clang::OptionalFileEntryRef File = Include->getFile();
      if (Guarded == Made->Includes.size() ||
          Include->getFileName() != Made->Includes[Guarded] || !File ||
          !PP.getHeaderSearchInfo().isFileMultipleIncludeGuarded(*File))
        break;
      ++Guarded;
    }
  Made->Includes.resize(Guarded);
  std::string Text;
  for (const std::string &Name : Made->Includes)
    Text += "#include <" + Name + ">\n";
  return Made->precompile(std::move(Text), Options) ? std::move(Made) : nullptr;
}

bool Prelude::precompile(std::string Text, const ParseOptions &Options,
                         PassOf Pass, HeaderWords *Words) {
  std::vector<SourceError> Errors;
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnit(PreludeSource, Text, Options, nullptr, Errors, Pass);
  // libtorch's headers, which are always a file's, disagree with what there is
  // in place of a toolkit; that is no fault of a source.
  bool MayErr = !File.empty() && !findToolkit(Options.Toolkit);
  if (!Unit || !(Errors.empty() || MayErr) || !Unit->hasSema())
    return false;
  // These have been checked just now; kept, they would be read and checked
  // again with each candidate.
  functionsToCheck(Unit->getSema()).clear();
  if (Words)
    Words->note(Unit->getPreprocessor());
  llvm::raw_string_ostream OS(Precompiled);
  if (Unit->serialize(OS))
    return false;
  MadeOf = std::move(Text);
  return true;
}

bool Prelude::isToolkits(llvm::StringRef Text, const ParseOptions &Options) {
  return leadingIncludes(Text).empty() && ofToolkit(Options);
}

bool Prelude::opens(llvm::StringRef Text) const {
  std::vector<std::string> Theirs = leadingIncludes(Text);
  return Theirs.size() >= Includes.size() &&
         std::equal(Includes.begin(), Includes.end(), Theirs.begin());
}
