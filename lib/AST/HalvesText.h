//===- HalvesText.h - What of a text stays in a half ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_HALVESTEXT_H
#define STARK_LIB_AST_HALVESTEXT_H

#include "Edits.h"
#include "HalvesItems.h"
#include "SourceTokens.h"

namespace stark {

/// The line breaks of \p Text, spliced ones as they are.
std::string lineBreaks(llvm::StringRef Text);

/// Edits that take \p R away and keep its lines, and the directives that what
/// follows may depend on.
std::vector<Edit> blank(const SourceTokens &Tokens, Range R);

/// Edits that give what stands in an unnamed namespace, and kernels that are
/// static or inline, a name that both halves know.
std::vector<Edit> externalNames(const SourceTokens &Tokens,
                                const std::vector<Item> &Items,
                                const ParsedSource &Source);

/// Why a conditional may mean one thing to nvcc and another to g++, or in a
/// half without headers; empty if there is none.
std::string differingConditional(const SourceTokens &Tokens,
                                 const std::vector<Item> &Items,
                                 const ParsedSource &Source);

/// For each item, whether the host's half keeps it: what is the host's, and
/// what is named there.
std::vector<bool> keptByHost(const SourceTokens &Tokens,
                             const std::vector<Item> &Items,
                             const Headers &From);

} // namespace stark

#endif
