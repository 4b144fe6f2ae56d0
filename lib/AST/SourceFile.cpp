//===- SourceFile.cpp - A file as Clang sees it ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/SourceFile.h"
#include "stark/Support/File.h"

using namespace stark;

llvm::Expected<std::unique_ptr<ParsedSource>>
stark::parseSourceFile(llvm::StringRef Path, const ParseOptions &Options,
                       llvm::StringRef As) {
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  return parseSource(As.empty() ? Path : As, *Text, Options);
}
