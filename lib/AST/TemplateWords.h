//===- TemplateWords.h - `template` where nvcc does without it ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Clang's errors in headers -> the same headers with `template` before the
///   names of members that are templates: `cast<A>::to<4>(x)`
/// nvcc takes such a name for a template's where that gives a sense, Clang for
/// a comparison, of which it says so when the template is instantiated. The
/// source's own text is as it is: all that is told of it counts its bytes.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_TEMPLATEWORDS_H
#define STARK_LIB_AST_TEMPLATEWORDS_H

#include "clang/Basic/Diagnostic.h"
#include <map>
#include <set>
#include <string>

namespace stark {

/// Bytes of headers, by their absolute paths, at which the word is lacking.
using LackedWords = std::map<std::string, std::set<size_t>>;

/// Adds to \p Lacked where \p Info says that the word is lacking in a header.
void noteLackedWord(const clang::Diagnostic &Info, LackedWords &Lacked);

/// \p Text with the word at each of \p Places.
std::string withTemplateWords(llvm::StringRef Text,
                              const std::set<size_t> &Places);

} // namespace stark

#endif
