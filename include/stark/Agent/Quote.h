//===- Quote.h - Source text inside Markdown ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> a code fence; two texts -> a unified diff
/// For prompts and for people.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_QUOTE_H
#define STARK_AGENT_QUOTE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace stark {

/// A unified diff (three lines of context) from \p Old to \p New; unset when
/// the texts differ too much for one to be of use.
std::optional<std::string> unifiedDiff(llvm::StringRef Old,
                                       llvm::StringRef New);

/// \p Text in a code fence that is longer than any fence inside it.
std::string fenced(llvm::StringRef Language, llvm::StringRef Text);

} // namespace stark

#endif
