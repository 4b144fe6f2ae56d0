//===- ExtractTree.cpp - Files as they are included -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractTree.h"
#include "SkippedText.h"
#include "stark/AST/Torch.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

const Directive *IncludedFile::directiveAt(size_t Token) const {
  auto It = llvm::partition_point(
      Directives, [&](const Directive &D) { return D.End <= Token; });
  return It != Directives.end() && It->First <= Token ? &*It : nullptr;
}

bool IncludedFile::isLive(size_t Offset) const {
  return llvm::any_of(Skipped, [&](const std::vector<Range> &Of) {
    return !isSkipped(Of, Offset);
  });
}

bool IncludedFile::differs(size_t Offset) const {
  return isLive(Offset) &&
         llvm::any_of(Skipped, [&](const std::vector<Range> &Of) {
           return isSkipped(Of, Offset);
         });
}

static std::vector<Directive> findDirectives(const SourceTokens &T) {
  std::vector<Directive> Found;
  for (size_t I = 0; I < T.All.size(); ++I) {
    if (!T.All[I].InDirective)
      continue;
    Directive D;
    D.First = I;
    while (I < T.All.size() && T.All[I].Kind != SourceToken::EndOfDirective)
      ++I;
    D.End = std::min(I + 1, T.All.size());
    if (D.End - D.First > 2)
      D.Word = T.text(D.First + 1);
    Found.push_back(D);
  }
  return Found;
}

static void start(IncludedFile &F, StringRef Text, Spellings &Names) {
  F.Text = Text;
  F.Tokens = std::make_unique<SourceTokens>(Text, Names);
  F.Directives = findDirectives(*F.Tokens);
}

IncludeTree::IncludeTree(llvm::ArrayRef<const ParsedSource *> Passes,
                         const ParseOptions &Options) {
  for (StringRef Folder : torchFolders(Options))
    NotOurs.push_back(Folder.rtrim('/').str() + "/");
  if (std::optional<Toolkit> Cuda = findToolkit(Options.Toolkit)) {
    NotOurs.push_back(StringRef(Cuda->Root).rtrim('/').str() + "/");
    llvm::SmallString<128> Real;
    llvm::sys::fs::real_path(Cuda->Root, Real);
    ToolkitFolder = Real.str().rtrim('/').str() + "/";
  }
  Files.emplace_back();
  Files[0].Path = Passes.front()->path();
  Files[0].Name = llvm::sys::path::filename(Files[0].Path).str();
  start(Files[0], Passes.front()->text(), Names);
  for (const ParsedSource *Source : Passes) {
    Read.push_back({Source, {}});
    readFiles(Read.back());
    readRecord(Read.back());
  }
}

const SourceManager &IncludeTree::sources(size_t Pass) const {
  return Read[Pass].Source->unit().getSourceManager();
}

bool IncludeTree::isProject(StringRef Path) const {
  return !Path.starts_with("/stark-headers") &&
         llvm::none_of(NotOurs, [&](const std::string &Folder) {
           return Path.starts_with(Folder);
         });
}

bool IncludeTree::isToolkit(const FileEntry *Header) const {
  return !ToolkitFolder.empty() &&
         Header->tryGetRealPathName().starts_with(ToolkitFolder);
}

int IncludeTree::childFor(int Parent, size_t At, StringRef Path) {
  IncludedFile &F = Files[Parent];
  const Directive *D = F.directiveAt(F.Tokens->firstAt(At));
  if (!D)
    return -1;
  if (auto Known = F.Children.find(D->First); Known != F.Children.end())
    return Files[Known->second].Path == Path ? Known->second : -1;
  int Number = int(Files.size());
  F.Children[D->First] = Number;
  IncludedFile New;
  New.Parent = Parent;
  New.At = D->First;
  New.Path = Path.str();
  New.Name = llvm::sys::path::filename(Path).str();
  if (D->First + 2 < D->End) {
    StringRef Line = F.Text.slice(F.Tokens->All[D->First + 2].Bytes.Begin,
                                  F.Tokens->All[D->End - 1].Bytes.Begin);
    if (Line.starts_with("\"") || Line.starts_with("<"))
      New.Name = Line.drop_front()
                     .take_until([](char C) { return C == '"' || C == '>'; })
                     .str();
  }
  Files.push_back(std::move(New));
  return Number;
}

void IncludeTree::readFiles(PassFiles &P) {
  const SourceManager &SM = P.Source->unit().getSourceManager();
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile())
      continue;
    FileID Id =
        SM.getFileID(SourceLocation::getFromRawEncoding(Entry.getOffset()));
    if (Id == SM.getMainFileID()) {
      P.Numbers[Id] = 0;
      Files[0].Skipped.emplace_back();
      continue;
    }
    SourceLocation From = Entry.getFile().getIncludeLoc();
    OptionalFileEntryRef File = Entry.getFile().getContentCache().OrigEntry;
    if (From.isInvalid() || !File)
      continue;
    auto [Includer, At] = SM.getDecomposedLoc(SM.getExpansionLoc(From));
    auto Parent = P.Numbers.find(Includer);
    if (Parent == P.Numbers.end())
      continue;
    if (SrcMgr::isSystem(Entry.getFile().getFileCharacteristic()) ||
        !isProject(File->getName()))
      continue;
    int Number = childFor(Parent->second, At, File->getName());
    if (Number < 0)
      continue;
    P.Numbers[Id] = Number;
    if (!Files[Number].Tokens)
      start(Files[Number], SM.getBufferData(Id), Names);
    Files[Number].Skipped.emplace_back();
  }
}

/// What is skipped, and what includes include.
void IncludeTree::readRecord(PassFiles &P) {
  const SourceManager &SM = P.Source->unit().getSourceManager();
  auto *Record = P.Source->unit().getPreprocessor().getPreprocessingRecord();
  assert(Record && "parseSource() asks for the record");
  for (const SourceRange &R : Record->getSkippedRanges()) {
    auto File = P.Numbers.find(SM.getFileID(R.getBegin()));
    if (File != P.Numbers.end())
      Files[File->second].Skipped.back().push_back(
          {SM.getFileOffset(R.getBegin()), SM.getFileOffset(R.getEnd())});
  }
  for (auto &[Id, Number] : P.Numbers)
    llvm::sort(
        Files[Number].Skipped.back(),
        [](const Range &A, const Range &B) { return A.Begin < B.Begin; });
  // By what they are: the same file has several names.
  std::set<const FileEntry *> Ours;
  for (auto &[Id, Number] : P.Numbers)
    Ours.insert(SM.getFileEntryForID(Id));
  for (PreprocessedEntity *E : *Record) {
    auto *Include = llvm::dyn_cast_or_null<InclusionDirective>(E);
    if (!Include)
      continue;
    auto [Id, At] = SM.getDecomposedLoc(
        SM.getExpansionLoc(Include->getSourceRange().getBegin()));
    auto File = P.Numbers.find(Id);
    if (File == P.Numbers.end())
      continue;
    IncludedFile &F = Files[File->second];
    const Directive *D = F.directiveAt(F.Tokens->firstAt(At));
    if (!D || F.Children.count(D->First))
      continue;
    OptionalFileEntryRef Found = Include->getFile();
    bool Before = Found && Ours.count(&Found->getFileEntry());
    (Before ? F.ReadBefore : F.Foreign).insert(D->First);
  }
}

std::pair<int, size_t> IncludeTree::place(size_t Pass, SourceLocation L) const {
  if (L.isInvalid())
    return {-1, 0};
  const SourceManager &SM = sources(Pass);
  auto [Id, At] = SM.getDecomposedLoc(SM.getExpansionLoc(L));
  auto File = Read[Pass].Numbers.find(Id);
  return {File == Read[Pass].Numbers.end() ? -1 : File->second, At};
}
