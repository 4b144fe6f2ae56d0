//===- ExtractCheck.h - Whether an entry means what it meant --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   parsed text + entries -> each declaration that they mean -> a digest
/// Of the nodes of its body, with the types, values and operators in them, and
/// the declarations that they refer to: by name, and by the file and line that
/// Clang presumes, which #line directives keep.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTCHECK_H
#define STARK_LIB_AST_EXTRACTCHECK_H

#include "stark/AST/Parse.h"
#include "clang/AST/Decl.h"
#include <functional>
#include <map>
#include <set>

namespace stark {

/// Several declarations may have a name.
using Meanings = std::map<std::string, std::set<std::string>>;

struct MeaningOptions {
  /// Whether the body of a function that is no template's instance is looked
  /// into.
  std::function<bool(const clang::Decl *)> IsOurs;
  bool Places = true;  ///< files and lines count
  std::string Without; ///< is taken off names that end in it
};

Meanings meaningsOf(const ParsedSource &Source,
                    llvm::ArrayRef<const clang::Decl *> Entries,
                    const MeaningOptions &Options);

/// What the first difference is of, "'ns::f' (norm.cuh:12)"; empty: there is
/// none.
std::string firstDifference(const Meanings &Before, const Meanings &After);

} // namespace stark

#endif
