//===- Pragmas.cpp - Lines that belong to a loop --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pragmas.h"

using namespace stark;

std::optional<Range> stark::withPragmas(const SourceText &F, Range Statement) {
  llvm::StringRef Text = F.text();
  while (std::optional<size_t> Begin = F.lineBegin(Statement.Begin)) {
    llvm::StringRef Above = Text.take_front(*Begin).rtrim("\r\n");
    if (*Begin == 0)
      break;
    Above = Above.substr(Above.rfind('\n') + 1);
    if (Above.rtrim().ends_with("\\"))
      return std::nullopt;
    if (!Above.ltrim().starts_with("#pragma"))
      break;
    Statement.Begin = size_t(Above.ltrim().data() - Text.data());
  }
  return Statement;
}
