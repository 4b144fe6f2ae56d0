//===- ExtractNames.h - What a text names ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_AST_EXTRACTNAMES_H
#define STARK_LIB_AST_EXTRACTNAMES_H

#include "MeaningWalk.h"

namespace stark {

/// Adds to \p Walk all that the text of \p D names, patterns of templates
/// included.
void addNamesOf(clang::Decl *D, MeaningWalk &Walk);

} // namespace stark

#endif
