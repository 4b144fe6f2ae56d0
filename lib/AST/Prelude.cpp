//===- Prelude.cpp - Headers that are parsed once ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Prelude.h"
#include "EmbeddedHeaders.h"
#include "SourceTokens.h"
#include "Unit.h"
#include "stark/AST/Toolkit.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
#include "llvm/Support/FileSystem.h"
#include <map>
#include <mutex>

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

bool Prelude::precompile(std::string Text, const ParseOptions &Options) {
  std::vector<SourceError> Errors;
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnit(PreludeSource, Text, Options, nullptr, Errors);
  if (!Unit || !Errors.empty() || !Unit->hasSema())
    return false;
  // These have been checked just now; kept, they would be read and checked
  // again with each candidate.
  functionsToCheck(Unit->getSema()).clear();
  llvm::raw_string_ostream OS(Precompiled);
  if (Unit->serialize(OS))
    return false;
  MadeOf = std::move(Text);
  return true;
}

/// Of all that Clang's reading of them depends on.
static std::string torchKey(const ParseOptions &Options,
                            const posix::Libtorch &Torch,
                            const std::string &Text) {
  DigestBuilder Key;
  Key.add("format", "1")
      .add("clang", clang::getClangFullVersion())
      .add("torch", Torch.Root + " " + Torch.Version)
      .add("text", Text)
      .add("arch", Options.Arch)
      .add("folder", Options.Folder);
  if (std::optional<Toolkit> Found = findToolkit(Options.Toolkit))
    Key.add("toolkit", Found->Root + " " + std::to_string(Found->Major) + "." +
                           std::to_string(Found->Minor));
  for (const std::string &Flag : Options.Flags)
    Key.add("flag", Flag);
  for (const EmbeddedHeader &H : embeddedHeaders(/*WithToolkit=*/true))
    Key.add(H.Name, H.Text);
  llvm::sys::fs::file_status Status;
  llvm::sys::fs::status(Torch.Includes.front() + "/ATen/ATen.h", Status);
  Key.add("installed",
          std::to_string(llvm::sys::toTimeT(Status.getLastModificationTime())));
  return Key.finish().substr(0, 16);
}

const Prelude *Prelude::ofTorch(const ParseOptions &Options) {
  llvm::Expected<posix::Libtorch> Torch = torchFor(Options);
  if (!Torch) {
    llvm::consumeError(Torch.takeError());
    return nullptr;
  }
  std::string Text = torchHeaders(*Torch);
  std::string Key = torchKey(Options, *Torch, Text);
  // A tree that was made with one refers to it for as long as it lives.
  static std::mutex Guard;
  static std::map<std::string, std::unique_ptr<Prelude>> Known;
  std::lock_guard Lock(Guard);
  auto [At, IsNew] = Known.try_emplace(Key);
  if (!IsNew)
    return At->second.get();
  TraceScope Traced("parse headers");
  auto Made = std::make_unique<Prelude>();
  std::string Cache = userCacheFolder();
  std::string File = Cache + "/torch/" + Key + ".pch";
  llvm::Expected<std::string> Kept =
      Cache.empty() ? llvm::Expected<std::string>("") : readFile(File);
  if (!Kept)
    llvm::consumeError(Kept.takeError());
  else if (!Kept->empty()) {
    Made->Precompiled = std::move(*Kept);
    Made->MadeOf = std::move(Text);
    return (At->second = std::move(Made)).get();
  }
  if (!Made->precompile(std::move(Text), Options))
    return nullptr;
  // A cache that cannot be written to only costs time.
  if (!Cache.empty())
    llvm::consumeError(
        writeFileAtomically(File, Made->Precompiled, /*Flush=*/false));
  return (At->second = std::move(Made)).get();
}

bool Prelude::opens(llvm::StringRef Text) const {
  std::vector<std::string> Theirs = leadingIncludes(Text);
  return Theirs.size() >= Includes.size() &&
         std::equal(Includes.begin(), Includes.end(), Theirs.begin());
}
