//===- Conversation.h - Asking once more ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request + reply + what is wrong with it -> the next request
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_CONVERSATION_H
#define STARK_AGENT_CONVERSATION_H

#include "stark/LLM/ChatClient.h"

namespace stark {

/// Why a reply is no answer, before its text is looked at.
struct StopProblem {
  std::string Text; ///< empty: it is one
  bool AskAgain = true;
};
StopProblem problemOfStop(const ChatReply &Reply, const ChatRequest &Asked);

/// "This answer cannot be used: ...".
std::string reaskFor(const std::string &Problem);

/// What was said, and what is said to that. One that was cut off gets twice the
/// room.
void goOn(ChatRequest &Request, const ChatReply &Said, std::string Message);

} // namespace stark

#endif
