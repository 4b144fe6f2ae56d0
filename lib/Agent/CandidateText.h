//===- CandidateText.h - From a reply's code to a whole source ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   base + anchors + (whole file | anchor texts, declarations) -> candidate,
/// with the base's line ends, byte order mark and last line end
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_CANDIDATETEXT_H
#define STARK_LIB_AGENT_CANDIDATETEXT_H

#include "stark/AST/Anchor.h"
#include "stark/Agent/Reply.h"

namespace stark {

/// The name alone: "ns::launch<float>" is written launch.
llvm::StringRef plainName(llvm::StringRef Entry);

/// \p Entry must be defined in a whole file. Errors, which are the re-ask: code
/// that is left out ("// ... rest unchanged") or cut off, that was typeset or
/// could show as what it is not, a file without the entry.
llvm::Expected<std::string> makeCandidate(const ParsedSource &Base,
                                          const std::vector<Anchor> &Anchors,
                                          const CodeReply &Reply,
                                          llvm::StringRef Entry);

} // namespace stark

#endif
