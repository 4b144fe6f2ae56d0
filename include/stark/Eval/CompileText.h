//===- CompileText.h - Whether nvcc takes a text --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_EVAL_COMPILETEXT_H
#define STARK_EVAL_COMPILETEXT_H

#include "stark/AST/Parse.h"

namespace stark {

/// Compiles \p Text as it would be beside \p SourcePath, with the flags, for
/// the architecture. An error is what nvcc says; false: there is no toolkit.
llvm::Expected<bool> compilesWithNvcc(llvm::StringRef Text,
                                      llvm::StringRef SourcePath,
                                      const ParseOptions &Options);

} // namespace stark

#endif
