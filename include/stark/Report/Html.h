//===- Html.h - A page that runs nothing of what it quotes ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text of anybody --> HtmlWriter --> one file that needs no other
/// Names of elements and attributes are literals of this program, all else is
/// escaped; there is no way to write markup that was read. The page's policy
/// forbids the network, and any style or script but the two that lie in the
/// program (lib/Report/Html/page.css, page.js).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_HTML_H
#define STARK_REPORT_HTML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace stark {

/// name="value"; an href that is neither "#..." nor a relative path of plain
/// characters becomes "#".
struct HtmlAttribute {
  llvm::StringLiteral Name;
  std::string Value;
};
using HtmlAttributes = std::initializer_list<HtmlAttribute>;

class HtmlWriter {
public:
  explicit HtmlWriter(llvm::raw_ostream &OS) : OS(OS) {}
  HtmlWriter(const HtmlWriter &) = delete;
  ~HtmlWriter();

  /// \p Tag of HTML or SVG; close() ends the innermost one that is open.
  HtmlWriter &open(llvm::StringLiteral Tag, HtmlAttributes Attributes = {});
  HtmlWriter &close();
  /// One that has no content: <br>, <path/>.
  HtmlWriter &empty(llvm::StringLiteral Tag, HtmlAttributes Attributes = {});
  /// Bytes that are no UTF-8, control characters and those that change the
  /// direction of text are shown, not done.
  HtmlWriter &text(llvm::StringRef Text);
  /// open, text, close
  HtmlWriter &element(llvm::StringLiteral Tag, HtmlAttributes Attributes,
                      llvm::StringRef Text);
  /// A part of the page that scrolls by itself where it is too wide; whoever
  /// has only keys can get into it, and hears \p Label.
  HtmlWriter &openScroll(llvm::StringRef Label);
  /// \p Text with its spaces and lines. A long one scrolls, by keys as well.
  HtmlWriter &preformatted(llvm::StringRef Text);
  /// A line feed in the file, for whoever reads that.
  HtmlWriter &line();

private:
  void start(llvm::StringLiteral Tag, HtmlAttributes Attributes);
  llvm::raw_ostream &OS;
  std::vector<llvm::StringLiteral> Open;
};

/// At most \p Limit bytes of \p Text, to the end of a character; \p Cut is what
/// was left out.
llvm::StringRef headOf(llvm::StringRef Text, size_t Limit, size_t &Cut);

/// What stands before and after the content of a page of \p Title, which is
/// written to \p W in between; \p OS is that of \p W.
void beginPage(HtmlWriter &W, llvm::raw_ostream &OS, llvm::StringRef Title);
void endPage(HtmlWriter &W, llvm::raw_ostream &OS);

} // namespace stark

#endif
