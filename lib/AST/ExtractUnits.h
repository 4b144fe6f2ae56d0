//===- ExtractUnits.h - Declarations of all files -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   include tree -> units: the pieces of text at namespace scope that are kept
/// or left out as one, with what each pass makes of them; and the parts of
/// these that may be left out
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTUNITS_H
#define STARK_LIB_AST_EXTRACTUNITS_H

#include "ExtractTree.h"

namespace stark {

struct CodeUnit {
  int File = 0;
  Range Tokens;                                  ///< [Begin, End) of the file's
  std::vector<std::vector<clang::Decl *>> Decls; ///< of each pass
  std::vector<size_t> Parts; ///< ascending, outer ones first
  bool Kept = false;
};

/// Of a unit: a member function, or the definition of a class template, without
/// which there is its declaration.
struct UnitPart {
  size_t Unit = 0;
  Range Tokens;
  std::vector<std::vector<clang::Decl *>> Decls; ///< of each pass
  std::string Member;                            ///< empty: a definition
  bool Kept = false;
};

/// The conditional of a file: its branches, each from its directive to the next
/// one's.
struct Conditional {
  std::vector<size_t> Branches; ///< first tokens of #if, #elif, #else
  size_t End = 0;               ///< first token of #endif
  size_t Last = 0;              ///< behind all of it
  int Outer = -1;
};

/// Clang's own, made of a template that stands elsewhere.
bool isMadeByClang(const clang::Decl *D);

class UnitsOfFiles {
public:
  explicit UnitsOfFiles(const IncludeTree &Tree, bool WithParts = false);

  std::vector<CodeUnit> All;
  std::vector<UnitPart> Parts;
  std::vector<std::vector<size_t>> OfFile;            ///< ascending
  std::vector<std::vector<Conditional>> Conditionals; ///< of each file
  /// Why nothing can be cut, with file and line; empty: it can.
  std::string WhyNot;

  /// The unit that holds the place, or that includes the file of it; -1: none.
  int at(std::pair<int, size_t> Place) const;
  int atToken(int File, size_t Token) const;

private:
  void collect(size_t Pass, clang::Decl *D, clang::Decl *Outer);
  void add(size_t Pass, clang::Decl *D, clang::Decl *Outer);
  void noteStructure(size_t Pass, clang::SourceLocation L);
  void takeLeadingTokens();
  void takeTrailingTokens();
  void merge();
  void readConditionals(int File);
  bool growOverConditionals();
  void findParts(size_t Unit);
  bool isPart(int File, Range Tokens) const;
  Range definitionOf(const CodeUnit &U, size_t Pass,
                     const clang::Decl *D) const;
  Range memberOf(const CodeUnit &U, size_t Pass, const clang::Decl *D) const;
  void addPart(size_t Unit, Range Tokens, size_t Pass, clang::Decl *D,
               llvm::StringRef Member);

  const IncludeTree &Tree;
  std::vector<std::set<size_t>> Structure; ///< tokens behind which units begin
};

} // namespace stark

#endif
