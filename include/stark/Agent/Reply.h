//===- Reply.h - What a model sent, checked ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Fenced code or JSON, parsed leniently and validated strictly. What cannot
/// be used is one precise sentence for the re-ask.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_REPLY_H
#define STARK_AGENT_REPLY_H

#include "stark/AST/Anchor.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark {

struct PlanReply {
  std::string Title; ///< one line
  std::string Advice;
  std::vector<std::string> SiteIds; ///< when the plan named sites
  std::string Marked;               ///< when it echoed the source with marks
};

struct CodeReply {
  std::string Explanation;
  std::string WholeFile;                ///< or:
  std::vector<std::string> AnchorTexts; ///< one an anchor
  std::string Declarations;             ///< supporting ones, may be empty
};

/// The error's text is the re-ask: what was got and what is wanted.
llvm::Expected<PlanReply> parsePlanReply(llvm::StringRef Text);
/// \p Entry, the plain name of a function, tells a file from what only calls
/// it.
llvm::Expected<CodeReply> parseCodeReply(llvm::StringRef Text,
                                         size_t AnchorCount,
                                         llvm::StringRef Entry = "");

} // namespace stark

#endif
