//===- Fences.h - Code blocks in a model's Markdown -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Fences of backticks or tildes of any length, as CommonMark has them, and
/// what models make of them: a missing closing fence, a whole answer wrapped in
/// one fence, labels in the line above, escaped angle brackets. One pass, no
/// recursion: the text is hostile.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_FENCES_H
#define STARK_LIB_AGENT_FENCES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

struct CodeBlock {
  std::string Language; ///< first word of the info string, lower case
  std::string Label;    ///< the rest of it, lower case
  std::string Above;    ///< the last line of text before it, lower case
  std::string Body;     ///< lines ended by LF, the fence's indentation removed
  size_t Begin = 0, End = 0; ///< bytes of the whole block in the text
  bool Closed = false;

  bool isCode() const; ///< CUDA, C or C++, or no language given
  bool isJson() const;
  bool isDiff() const; ///< or blocks to search for and to put in their place
};

/// In order. \p Text has LF line ends. Signs of quotation and of a list's item
/// before a block are taken away.
std::vector<CodeBlock> findCodeBlocks(llvm::StringRef Text);

} // namespace stark

#endif
