//===- LineWriter.h - Whose line it is -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text + edits -> lines with their owners -> text with #line directives
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_LINEWRITER_H
#define STARK_LIB_CACHE_LINEWRITER_H

#include "LineScanner.h"
#include "stark/Cache/DispatchPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace stark {

inline constexpr llvm::StringLiteral Bom = "\xEF\xBB\xBF";

using Lines = std::vector<llvm::StringRef>;

/// With their ends; the last may have none.
Lines splitLines(llvm::StringRef Text);

/// For each line of \p New the line of \p Old that it is, or -1: a longest
/// common subsequence between equal heads and tails.
std::vector<int> matchLines(const Lines &Old, const Lines &New);

/// As a string of C.
std::string inQuotes(llvm::StringRef Path);

struct OwnedLine {
  std::string Text; ///< with its end
  int Line = -1;    ///< of the text that was edited, from 0; -1: of the edits
};

/// \p Text after \p Edits. Nothing when these do not fit it.
std::optional<std::vector<OwnedLine>>
editLines(llvm::StringRef Text, llvm::ArrayRef<TokenEdit> Edits);

/// Puts #line directives where lines change hands.
class LineWriter {
public:
  /// \p Physical: the lines that \p OS has already.
  LineWriter(llvm::raw_ostream &OS, size_t Physical, llvm::StringRef SourcePath,
             llvm::StringRef OutputPath)
      : OS(OS), Physical(Physical), SourcePath(inQuotes(SourcePath)),
        OutputPath(inQuotes(OutputPath)) {}

  /// \p User: the line of the user's file that it is, or -1.
  void write(llvm::StringRef Line, int User);

private:
  llvm::raw_ostream &OS;
  size_t Physical; ///< lines written so far
  std::string SourcePath, OutputPath;
  LineScanner Scanner;
  enum { Unknown, Users, Own } Named = Unknown;
  int Next = -1; ///< the user's line that the compiler thinks comes next
  /// For each open conditional whether a #line was put into it.
  std::vector<bool> Unsure;
};

} // namespace stark

#endif
