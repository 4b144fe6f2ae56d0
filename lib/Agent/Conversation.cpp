//===- Conversation.cpp - Asking once more --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Agent/Conversation.h"
#include "ReplyText.h"
#include "stark/Eval/Verdict.h"
#include <algorithm>

using namespace stark;

/// Bytes of a bad reply that the next request repeats.
static constexpr size_t BadReplyLimit = 64000;

StopProblem stark::problemOfStop(const ChatReply &R, const ChatRequest &Asked) {
  // A model's own limit may be lower than what was allowed.
  uint64_t MaxTokens = Asked.MaxOutputTokens;
  if (R.Tokens.Output && *R.Tokens.Output)
    MaxTokens = std::min(MaxTokens, *R.Tokens.Output);
  std::string Detail = R.StopDetail.empty() ? "" : " (" + R.StopDetail + ")";
  switch (R.Stop) {
  case StopReason::Refusal:
    return {"the model refused to answer" + Detail, false};
  case StopReason::ContextOverflow:
    return {"the request is longer than the model's context" + Detail, false};
  case StopReason::Length:
    return {"the answer was cut off at " + std::to_string(MaxTokens) +
            " tokens; wanted a shorter one that is whole"};
  case StopReason::End:
  case StopReason::Other:
    return {};
  }
  return {};
}

std::string stark::reaskFor(const std::string &Problem) {
  return "This answer cannot be used: " + Problem +
         ". Send the whole answer again, in the form asked for.";
}

void stark::goOn(ChatRequest &Request, const ChatReply &Said,
                 std::string Message) {
  std::string Text = normalizeReply(Said.Text);
  // Providers refuse an empty message.
  if (llvm::StringRef(Text).trim().empty())
    Text = "(no text)";
  Request.Messages.push_back(
      {ChatMessage::Speaker::Assistant, trimForWindow(Text, BadReplyLimit)});
  Request.Messages.push_back({ChatMessage::Speaker::User, std::move(Message)});
  if (Said.Stop == StopReason::Length)
    Request.MaxOutputTokens *= 2;
}
