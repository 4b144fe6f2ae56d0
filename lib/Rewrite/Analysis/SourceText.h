//===- SourceText.h - Where nodes stand in a source -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The bytes of a node of the AST, and the words of a source.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_SOURCETEXT_H
#define STARK_LIB_REWRITE_ANALYSIS_SOURCETEXT_H

#include "Changes.h"
#include "Syntax.h"
#include "stark/AST/Parse.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include <utility>

namespace stark {

/// A node and the text that stands for it elsewhere.
using Instead = std::pair<const clang::Stmt *, std::string>;

class SourceText {
public:
  /// \p Source must outlive it.
  explicit SourceText(const ParsedSource &Source);

  const clang::ASTContext &context() const;
  llvm::StringRef text() const { return Source.text(); }
  /// The same with blanks for comments.
  llvm::StringRef code() const { return Code; }

  /// Bytes of what was written in the file itself; unset inside macros.
  std::optional<Range> range(const clang::Stmt *S) const;
  std::optional<Range> range(clang::SourceRange R) const;
  /// With its semicolon, when it ends in one.
  std::optional<Range> statementRange(const clang::Stmt *S) const;
  std::string text(const clang::Stmt *S) const; ///< empty inside macros
  std::string text(Range R) const;
  /// \p Whole, or with its semicolon, where each node is replaced; unset where
  /// one of them stands in a macro.
  std::optional<std::string> textWith(const clang::Stmt *Whole,
                                      llvm::ArrayRef<Instead> Nodes) const;
  /// "const float *"; canonical, as what is written may be local to a place.
  std::string typeName(clang::QualType T) const;
  /// The same as it is written, for use at the same place.
  std::string writtenType(clang::QualType T) const;

  unsigned lineOf(const clang::Stmt *S) const;
  /// Blanks at the beginning of the line of \p Offset.
  std::string indentAt(size_t Offset) const;
  /// Where the line of \p Offset begins, when nothing but blanks stands before.
  std::optional<size_t> lineBegin(size_t Offset) const;
  /// A preprocessor directive other than #pragma unroll in \p R: what the
  /// parse does not show may lie there.
  bool hasDirective(Range R) const;
  /// The name of \p D is written in the file itself, in \p Within.
  std::optional<size_t> nameOffset(const clang::NamedDecl *D,
                                   Range Within) const;

  bool hasWord(llvm::StringRef Word) const;
  /// \p Name, or with a number when the file has it already.
  std::string freshName(llvm::StringRef Name) const;
  /// The same code, however it is laid out.
  bool hasCode(llvm::StringRef Wanted) const;

protected:
  const ParsedSource &Source;

private:
  std::string Code;
};

/// Calls \p Found with the end of each occurrence of \p Word as a word.
void forEachWord(llvm::StringRef Text, llvm::StringRef Word,
                 llvm::function_ref<void(size_t End)> Found);

} // namespace stark

#endif
