//===- ContractNames.h - What a candidate may not use --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The names with which a candidate could fool the judge or harm the host,
/// and why each is refused. docs/grounding.md lists them for people.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_CONTRACTNAMES_H
#define STARK_LIB_AST_CONTRACTNAMES_H

#include "stark/AST/Contract.h"

namespace stark {

/// Why the word \p Name may not occur at all, wherever it stands; nothing when
/// it may. Only names that nobody gives to a variable.
std::optional<Harm> forbiddenWord(llvm::StringRef Name);

/// Why the C library's function \p Name may not be called. These are words that
/// people also use for other things: ask only about functions.
std::optional<Harm> forbiddenFunction(llvm::StringRef Name);

/// Whether the C library's function \p Name is known to keep nothing between
/// calls and to tell nothing but of its arguments.
bool keepsNothing(llvm::StringRef Name);

/// Begins as the functions of CUDA's runtime, driver and libraries do.
bool ofCuda(llvm::StringRef Name);

/// The names, parted by blanks, of what gives back what \p Taker takes: memory,
/// a handle. Empty: it takes nothing.
llvm::StringRef givesBack(llvm::StringRef Taker);

/// Why \p Name, qualified, inline namespaces left out ("std::thread"), may not
/// be used.
std::optional<Harm> forbiddenQualified(llvm::StringRef Name);

/// Why the header \p Name may not be included.
std::optional<Harm> forbiddenHeader(llvm::StringRef Name);

/// An attribute, without its underscores, that changes linking or loading.
bool forbiddenAttribute(llvm::StringRef Name);

/// Whether \p Name is a macro that a compiler predefines and that another
/// compiler, or the same one with the flags of another build, may not, or have
/// another value for.
bool predefinedWord(llvm::StringRef Name);

/// A keyword or a name of CUDA's language, which no macro may take.
bool languageWord(llvm::StringRef Name);

} // namespace stark

#endif
