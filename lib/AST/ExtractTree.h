//===- ExtractTree.h - Files as they are included -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Clang's two passes -> the files of the project, once for each time that
/// they are included, each with its tokens and what the passes skipped of it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTTREE_H
#define STARK_LIB_AST_EXTRACTTREE_H

#include "SourceTokens.h"
#include "stark/AST/Parse.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include <map>
#include <memory>
#include <set>

namespace stark {

/// A directive of a file: tokens [First, End), the last an EndOfDirective.
struct Directive {
  size_t First = 0, End = 0;
  llvm::StringRef Word; ///< "define"; empty for a lone '#'
};

/// A file where it is included; 0 is the source itself.
struct IncludedFile {
  int Parent = -1;
  size_t At = 0; ///< in the parent: the first token of the directive
  std::string Path, Name;
  llvm::StringRef Text;
  std::unique_ptr<SourceTokens> Tokens;
  std::vector<Directive> Directives;
  std::map<size_t, int> Children; ///< by the directive's first token
  /// By the same: what a pass includes there without reading it (again), or
  /// that is no file of the project.
  std::set<size_t> ReadBefore, Foreign;
  std::vector<std::vector<Range>> Skipped; ///< of each pass that reads it

  const Directive *directiveAt(size_t Token) const;
  bool isLive(size_t Offset) const;  ///< in some pass
  bool differs(size_t Offset) const; ///< live in one pass, skipped in another
};

class IncludeTree {
public:
  /// \p Passes read the same text.
  IncludeTree(llvm::ArrayRef<const ParsedSource *> Passes,
              const ParseOptions &Options);

  std::vector<IncludedFile> Files;
  Spellings Names;

  const clang::SourceManager &sources(size_t Pass) const;
  size_t passes() const { return Read.size(); }
  const ParsedSource &source(size_t Pass) const { return *Read[Pass].Source; }
  /// The file and byte where \p L is expanded; -1: not the project's.
  std::pair<int, size_t> place(size_t Pass, clang::SourceLocation L) const;
  bool isToolkit(const clang::FileEntry *Header) const;
  /// What Clang calls the file, "#line" included.
  std::string shown(int File) const { return Files[File].Path; }

private:
  struct PassFiles {
    const ParsedSource *Source;
    std::map<clang::FileID, int> Numbers;
  };
  void readFiles(PassFiles &P);
  int childFor(int Parent, size_t At, llvm::StringRef Path);
  void readRecord(PassFiles &P);
  bool isProject(llvm::StringRef Path) const;

  std::vector<PassFiles> Read;
  std::vector<std::string> NotOurs; ///< folders of torch, of the toolkit
  std::string ToolkitFolder;        ///< with a slash; empty: there is none
};

} // namespace stark

#endif
