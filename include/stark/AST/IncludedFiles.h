//===- IncludedFiles.h - All that a parse has read --------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_INCLUDEDFILES_H
#define STARK_AST_INCLUDEDFILES_H

#include "stark/AST/Parse.h"

namespace stark {

/// As ParsedSource::includedFiles(), and the system's headers, too.
std::vector<std::string> allIncludedFiles(const ParsedSource &Source);

} // namespace stark

#endif
