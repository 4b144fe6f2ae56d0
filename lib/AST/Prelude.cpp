//===- Prelude.cpp - Headers that are parsed once ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Prelude.h"
#include "HeaderWords.h"
#include "LeadingIncludes.h"
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
static std::vector<std::string> firstHeaders(llvm::StringRef Text) {
  std::vector<std::string> Includes;
  for (LeadingInclude &I : leadingIncludes(Text)) {
    if (!I.Angled)
      break;
    Includes.push_back(std::move(I.Name));
  }
  return Includes;
}

/// How many of \p Includes, which the main file begins with, say nothing when
/// they are read again.
static size_t guarded(clang::ASTUnit &Unit,
                      llvm::ArrayRef<std::string> Includes) {
  const clang::SourceManager &SM = Unit.getSourceManager();
  clang::Preprocessor &PP = Unit.getPreprocessor();
  clang::PreprocessingRecord *Record = PP.getPreprocessingRecord();
  size_t Guarded = 0;
  if (!Record)
    return 0;
  for (clang::PreprocessedEntity *E : Record->getPreprocessedEntitiesInRange(
           {SM.getLocForStartOfFile(SM.getMainFileID()),
            SM.getLocForEndOfFile(SM.getMainFileID())})) {
    auto *Include = llvm::dyn_cast_or_null<clang::InclusionDirective>(E);
    if (!Include || !SM.isInMainFile(Include->getSourceRange().getBegin()))
      continue;
    clang::OptionalFileEntryRef File = Include->getFile();
    if (Guarded == Includes.size() ||
        Include->getFileName() != Includes[Guarded] || !File ||
        (!isOfLibrary(Include->getFileName()) &&
         !PP.getHeaderSearchInfo().isFileMultipleIncludeGuarded(*File)))
      break;
    ++Guarded;
  }
  return Guarded;
}

std::unique_ptr<const Prelude> Prelude::make(const ParsedSource &Source,
                                             const ParseOptions &Options) {
  TraceScope Traced("parse headers");
  auto Made = std::make_unique<Prelude>();
  Made->Includes = firstHeaders(Source.text());
  // A header that says something else when it is read again is not shared, nor
  // is what comes after it.
  Made->Includes.resize(guarded(Source.unit(), Made->Includes));
  return Made->precompile(textOf(Made->Includes), Options) ? std::move(Made)
                                                           : nullptr;
}

std::string Prelude::textOf(llvm::ArrayRef<std::string> Includes) {
  std::string Text;
  for (const std::string &Name : Includes)
    Text += "#include <" + Name + ">\n";
  return Text;
}

bool Prelude::precompile(std::string Text, const ParseOptions &Options,
                         PassOf Pass, HeaderWords *Words) {
  std::vector<SourceError> Errors;
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnit(PreludeSource, Text, Options, nullptr, Errors, Pass);
  // libtorch's headers, which are always a file's, disagree with what there is
  // in place of a toolkit; that is no fault of a source.
  bool MayErr = !File.empty() && !findToolkit(Options.Toolkit);
  if (!Unit || !(Errors.empty() || MayErr) || !Unit->hasSema() ||
      guarded(*Unit, Includes) != Includes.size())
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
  return firstHeaders(Text).empty() ? ofToolkit(Options) != nullptr
                                    : ofIncludes(Text, Options) != nullptr;
}

bool Prelude::opens(llvm::StringRef Text) const {
  std::vector<std::string> Theirs = firstHeaders(Text);
  return Theirs.size() >= Includes.size() &&
         std::equal(Includes.begin(), Includes.end(), Theirs.begin());
}
