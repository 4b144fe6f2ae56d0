//===- Unit.h - What Clang is run with ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source bytes + flags + headers of the toolkit or our own -> Clang's unit
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_UNIT_H
#define STARK_LIB_AST_UNIT_H

#include "stark/AST/Prelude.h"

namespace stark {

/// What a prelude is made of, by the name under which Clang sees it.
inline constexpr char PreludeSource[] = "/stark-headers/prelude.cu";

/// Null when Clang cannot make a unit at all. \p Known is null or outlives the
/// unit.
std::unique_ptr<clang::ASTUnit>
makeUnit(const std::string &Path, llvm::StringRef Text,
         const ParseOptions &Options, const Prelude *Known,
         std::vector<SourceError> &Errors, PassOf Pass = PassOf::Device);

/// Likewise, and without \p Known where a header has changed since.
std::unique_ptr<clang::ASTUnit>
makeUnitAnyway(const std::string &Path, llvm::StringRef Text,
               const ParseOptions &Options, const Prelude *Known,
               std::vector<SourceError> &Errors, PassOf Pass = PassOf::Device);

} // namespace stark

#endif
