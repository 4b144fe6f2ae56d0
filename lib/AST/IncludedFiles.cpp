//===- IncludedFiles.cpp - All that a parse has read ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/IncludedFiles.h"
#include "EmbeddedHeaders.h"
#include "stark/Support/File.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Serialization/ASTReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

/// Of \p Unit itself. One pass: SourceManager::translateFile() makes one for
/// every file, and what is expanded of macros is in the way of each.
static void addIncluded(const clang::SourceManager &SM, bool OfSystem,
                        std::vector<std::string> &Files) {
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const clang::SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile() ||
        (!OfSystem &&
         clang::SrcMgr::isSystem(Entry.getFile().getFileCharacteristic())))
      continue;
    clang::OptionalFileEntryRef File =
        Entry.getFile().getContentCache().OrigEntry;
    if (File && File != SM.getFileEntryRefForID(SM.getMainFileID()))
      Files.push_back(absolutePath(File->getName()));
  }
}

/// Of what was precompiled.
static void addPrecompiled(clang::ASTReader &Reader, bool OfSystem,
                           std::vector<std::string> &Files) {
  for (clang::serialization::ModuleFile &Module : Reader.getModuleManager())
    Reader.visitInputFiles(
        Module, OfSystem, /*Complain=*/false,
        [&](const clang::serialization::InputFile &File, bool) {
          if (clang::OptionalFileEntryRef Found = File.getFile())
            Files.push_back(absolutePath(Found->getName()));
        });
}

static std::vector<std::string> includedIn(clang::ASTUnit &Unit,
                                           bool OfSystem) {
  std::vector<std::string> Files;
  addIncluded(Unit.getSourceManager(), OfSystem, Files);
  if (llvm::IntrusiveRefCntPtr<clang::ASTReader> Reader = Unit.getASTReader())
    addPrecompiled(*Reader, OfSystem, Files);
  llvm::erase_if(Files, [](llvm::StringRef File) {
    return File.starts_with(HeaderFolder);
  });
  llvm::sort(Files);
  Files.erase(std::unique(Files.begin(), Files.end()), Files.end());
  return Files;
}

std::vector<std::string> ParsedSource::includedFiles() const {
  return includedIn(*Unit, /*OfSystem=*/false);
}

std::vector<std::string> stark::allIncludedFiles(const ParsedSource &Source) {
  return includedIn(Source.unit(), /*OfSystem=*/true);
}
