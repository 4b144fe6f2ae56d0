//===- ReplyText.h - What happened to a reply on its way ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bytes as they came -> the text that was meant
/// Servers, writers of HTML, editors and terminals leave their traces in a
/// reply; they are made good here, once, where nothing else can be meant.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_REPLYTEXT_H
#define STARK_LIB_AGENT_REPLYTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

/// \p Text with LF line ends, valid UTF-8, no NULs and byte order mark, without
/// what was thought, <think>...</think>, and the colours of terminals.
std::string normalizeReply(llvm::StringRef Text);

/// Whether \p Text is white space of any kind.
bool saysNothing(llvm::StringRef Text);

/// The \p Body of a block without numbers of lines, where every line has its
/// own, and with the characters that an HTML writer took for its own.
std::string codeAsMeant(std::string Body);

/// Whether \p Text says what to change in place of what the text is then: a
/// diff, a patch, blocks to search for and to put in their place.
bool looksLikeDiff(llvm::StringRef Text);

} // namespace stark

#endif
