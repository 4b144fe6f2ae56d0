//===- ExtractNames.h - What a text names ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_AST_EXTRACTNAMES_H
#define STARK_LIB_AST_EXTRACTNAMES_H

#include "MeaningWalk.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace stark {

/// Adds to \p Walk all that the text of \p D names, patterns of templates
/// included, but for what it holds that \p Enters refuses.
void addNamesOf(clang::Decl *D, MeaningWalk &Walk,
                llvm::function_ref<bool(const clang::Decl *)> Enters);

} // namespace stark

#endif
