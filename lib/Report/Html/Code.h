//===- Code.h - CUDA with its words told apart ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text --Clang's raw lexer--> words with a class --> lines of HTML
/// The text need not be CUDA, nor UTF-8.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REPORT_HTML_CODE_H
#define STARK_LIB_REPORT_HTML_CODE_H

#include "stark/Report/Html.h"

namespace stark {

class Code {
public:
  explicit Code(std::string Text);
  llvm::StringRef text() const { return Text; }
  size_t lines() const { return Lines.size(); }
  /// Without the line feed; \p Line from 0.
  llvm::StringRef line(size_t Line) const;
  /// From 0; that of the end for what lies behind it.
  size_t lineAt(size_t Byte) const;
  /// Its words in elements; what is longer than a screen is cut, and said.
  void writeLine(HtmlWriter &W, size_t Line) const;

  /// The names of functions that are __global__, in order.
  const std::vector<std::string> &kernels() const { return Kernels; }
  /// A name with \p Part in it, or the word of a string literal (inline PTX)
  /// that has it; empty: there is none.
  llvm::StringRef wordWith(llvm::StringRef Part) const;

private:
  enum class Class : char { Keyword, Cuda, Number, String, Comment, Directive };
  struct Word {
    size_t Begin, End;
    Class Is;
  };
  void lex();
  std::string Text;
  std::vector<size_t> Lines; ///< where each begins
  std::vector<Word> Words;   ///< apart, in order
  std::vector<std::pair<size_t, size_t>> Names;
  std::vector<std::string> Kernels;
};

} // namespace stark

#endif
