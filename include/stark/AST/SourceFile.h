//===- SourceFile.h - A file as Clang sees it -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_AST_SOURCEFILE_H
#define STARK_AST_SOURCEFILE_H

#include "stark/AST/Parse.h"

namespace stark {

/// What the file \p Path holds. Errors beside those of readFile(): it is no
/// source, since it is too large, or holds bytes that no text has.
llvm::Expected<std::string> readSource(llvm::StringRef Path);

/// parseSource() of what the file \p Path holds. It is parsed as \p As, beside
/// which quoted includes are found; as itself when that is empty.
llvm::Expected<std::unique_ptr<ParsedSource>>
parseSourceFile(llvm::StringRef Path, const ParseOptions &Options,
                llvm::StringRef As = "");

} // namespace stark

#endif
