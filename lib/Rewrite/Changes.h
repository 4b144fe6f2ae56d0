//===- Changes.h - What a rewrite changes in a source ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   replacements -> the changed text, new code laid out in the file's style
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_CHANGES_H
#define STARK_LIB_REWRITE_CHANGES_H

#include "stark/AST/Site.h"
#include "clang/Tooling/Core/Replacement.h"

namespace stark {

class Changes {
public:
  /// A few words in place of others: the line keeps its layout.
  void replace(Range Bytes, llvm::StringRef Text);
  /// After what was put there before.
  void insert(size_t At, llvm::StringRef Text) { replace({At, At}, Text); }
  /// Whole statements or declarations, laid out by Clang's formatter.
  void write(Range Bytes, llvm::StringRef Code);
  /// All of \p Others; what both have is made once.
  void add(const Changes &Others);
  bool operator==(const Changes &) const = default;

  /// \p Text, the content of \p Path, with the changes made, in its own line
  /// ends. The style is that of the .clang-format that holds for \p Path, or
  /// LLVM's with the indentation that \p Text has. Errors: changes that
  /// overlap or lie outside.
  llvm::Expected<std::string> applyTo(llvm::StringRef Text,
                                      llvm::StringRef Path) const;

private:
  struct Change {
    clang::tooling::Replacement Made;
    bool Layout = false;
    bool operator==(const Change &) const = default;
  };
  std::vector<Change> All;
};

/// Bytes of a source and the text that stands there instead.
struct Substitute {
  Range Bytes;
  std::string Text;
};

/// The part \p Whole of \p Source with \p Instead made, each of which lies
/// within it; unset when two of them overlap.
std::optional<std::string> substituted(llvm::StringRef Source, Range Whole,
                                       llvm::ArrayRef<Substitute> Instead);

} // namespace stark

#endif
