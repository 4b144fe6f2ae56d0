//===- ContractPtx.h - What inline assembly says -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_CONTRACTPTX_H
#define STARK_LIB_AST_CONTRACTPTX_H

#include "SourceTokens.h"
#include <string>
#include <vector>

namespace stark {

/// What \p Ptx declares for the whole module, or "}" where it ends a block that
/// it did not begin; empty: nothing.
std::string declaredInPtx(llvm::StringRef Ptx);

/// The first special register in \p Ptx that says which call this is, or when:
/// "gridid"; empty: none.
std::string tellingRegister(llvm::StringRef Ptx);

/// Whether the pass for the host skips what stands at byte \p At of \p T, as
/// the directives around it say: #ifdef __CUDA_ARCH__ and its like.
bool hostSkips(const SourceTokens &T, size_t At);

/// The operands ("0", or the name between its brackets) whose places \p Ptx
/// writes to, other than in shared or local memory; "" for one that assembly
/// itself has computed.
std::vector<std::string> storedThrough(llvm::StringRef Ptx);

} // namespace stark

#endif
