//===- EntryFunction.h - The function of an entry's name ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_ENTRYFUNCTION_H
#define STARK_LIB_AST_ENTRYFUNCTION_H

#include "stark/AST/EntryUsed.h"
#include "llvm/ADT/StringRef.h"

namespace clang {
class FunctionDecl;
} // namespace clang

namespace stark {

class ParsedSource;

/// As findEntry() finds it; of a template the template's. Null where that is an
/// error.
const clang::FunctionDecl *findEntryFunction(const ParsedSource &Source,
                                             llvm::StringRef Entry,
                                             EntryUsed As);

} // namespace stark

#endif
