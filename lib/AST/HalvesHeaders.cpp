//===- HalvesHeaders.cpp - Whose header something comes from -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesHeaders.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

Headers::Headers(const ParsedSource &Source,
                 llvm::ArrayRef<std::string> TorchFolders)
    : SM(Source.unit().getSourceManager()) {
  for (StringRef Folder : TorchFolders)
    this->TorchFolders.push_back(Folder.rtrim('/').str() + "/");
  readIncludes(Source);
}

void Headers::readIncludes(const ParsedSource &Source) {
  auto *Record = Source.unit().getPreprocessor().getPreprocessingRecord();
  assert(Record && "parseSource() asks for the record");
  for (PreprocessedEntity *E : *Record) {
    auto *Include = llvm::dyn_cast_or_null<InclusionDirective>(E);
    if (!Include)
      continue;
    OptionalFileEntryRef File = Include->getFile();
    StringRef Name = File ? llvm::sys::path::filename(File->getName()) : "";
    if ((Name == "cuda.h" || Name == "cuda_runtime.h") &&
        !isTorch(File->getName()))
      ToolkitFolders.insert(
          (llvm::sys::path::parent_path(File->getName()) + "/").str());
    if (File && !Include->wasInQuotes())
      Angled.emplace(File->getName().str(), Include->getFileName().str());
    SourceRange R = Include->getSourceRange();
    // Not isInMainFile(): it is so of the text that flags stand for.
    if (!SM.isWrittenInMainFile(R.getBegin()))
      continue;
    size_t Begin = SM.getFileOffset(R.getBegin());
    StringRef Line = Source.text().substr(Begin);
    Lines.push_back({{Begin, Begin + Line.find_first_of("\r\n")},
                     Include->getFileName().str(),
                     File ? File->getName().str() : "",
                     File.has_value()});
    if (Line.find_first_of("\r\n") == StringRef::npos)
      Lines.back().Bytes.End = Source.text().size();
  }
}

StringRef Headers::pathOf(FileID Id) const {
  OptionalFileEntryRef File = SM.getFileEntryRefForID(Id);
  return File ? File->getName() : StringRef();
}

bool Headers::isTorch(StringRef Path) const {
  return llvm::any_of(TorchFolders, [&](const std::string &Folder) {
    return Path.starts_with(Folder);
  });
}

bool Headers::isTorch(SourceLocation L) const {
  return L.isValid() && isTorch(pathOf(SM.getFileID(SM.getExpansionLoc(L))));
}

std::string Headers::smallTorchHeader(SourceLocation L) const {
  if (!isTorch(L))
    return "";
  StringRef Path = pathOf(SM.getFileID(SM.getExpansionLoc(L)));
  for (StringRef Type : {"Half", "BFloat16"})
    for (StringRef Folder : {"/c10/util/", "/torch/headeronly/util/"})
      for (StringRef Suffix : {".h", "-inl.h"})
        if (Path.ends_with((Folder + Type + Suffix).str()))
          return ("<c10/util/" + Type + ".h>").str();
  return "";
}

bool Headers::isToolkit(SourceLocation L) const {
  return L.isValid() && isToolkit(pathOf(SM.getFileID(SM.getExpansionLoc(L))));
}

bool Headers::isToolkit(StringRef Path) const {
  return llvm::any_of(ToolkitFolders, [&](const std::string &Folder) {
    return Path.starts_with(Folder);
  });
}

bool Headers::isCccl(SourceLocation L) const {
  if (L.isInvalid() || isTorch(L))
    return false;
  StringRef Path = pathOf(SM.getFileID(SM.getExpansionLoc(L)));
  return Path.contains("/cccl/") || Path.contains("/thrust/") ||
         Path.contains("/cub/") || Path.contains("/cuda/std/");
}

std::string Headers::broughtByTorch(SourceLocation L) const {
  if (L.isInvalid() || isTorch(L))
    return "";
  FileID Id = SM.getFileID(SM.getExpansionLoc(L));
  for (;;) {
    SourceLocation From = SM.getIncludeLoc(Id);
    if (From.isInvalid())
      return "";
    FileID Includer = SM.getFileID(From);
    if (isTorch(pathOf(Includer)))
      break;
    Id = Includer;
  }
  StringRef Path = pathOf(Id);
  auto It = Angled.find(Path.str());
  return It != Angled.end() ? "<" + It->second + ">"
                            : ("\"" + Path + "\"").str();
}

std::vector<std::string> Headers::includers(SourceLocation L) const {
  std::vector<std::string> Paths;
  if (L.isInvalid())
    return Paths;
  for (FileID Id = SM.getFileID(SM.getExpansionLoc(L));;) {
    SourceLocation From = SM.getIncludeLoc(Id);
    if (From.isInvalid())
      return Paths;
    Paths.push_back(pathOf(Id).str());
    Id = SM.getFileID(From);
  }
}
