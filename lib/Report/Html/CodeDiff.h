//===- CodeDiff.h - Two sources side by side ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_REPORT_HTML_CODEDIFF_H
#define STARK_LIB_REPORT_HTML_CODEDIFF_H

#include "Code.h"
#include "stark/AST/Anchor.h"

namespace stark {

/// A row has a line of the old text, of the new one, or both.
struct DiffRow {
  static constexpr size_t None = ~size_t(0);
  size_t Old = None, New = None; ///< from 0
  bool Changed = false;
};

struct CodeDiff {
  std::vector<DiffRow> Rows;
  size_t Removed = 0, Added = 0;
};

/// Lines that replace one another stand in one row. Texts that have little in
/// common differ from their first to their last line that does.
CodeDiff diffCode(const Code &Old, const Code &New);

/// The rows that changed, with context, as a table called \p Label; after about
/// \p Bytes of it the rest is left out, and said, with \p Where it can be read.
void writeDiff(HtmlWriter &W, const CodeDiff &Diff, const Code &Old,
               const Code &New, llvm::StringRef Label, size_t Bytes,
               llvm::StringRef Where);

/// The lines around \p Anchors of \p Base, those of the anchors marked;
/// likewise.
void writeAnchors(HtmlWriter &W, const Code &Base,
                  const std::vector<Anchor> &Anchors, size_t Bytes);

} // namespace stark

#endif
