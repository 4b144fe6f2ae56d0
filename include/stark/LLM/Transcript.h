//===- Transcript.h - Replies as they are kept in a run ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The text form of ChatRequest and ChatReply in journals and exchange
/// folders. The fields are in LLM/Formats.h.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_TRANSCRIPT_H
#define STARK_LLM_TRANSCRIPT_H

#include "stark/LLM/ChatClient.h"

namespace stark {

/// One JSON object, keys sorted, without the text (kept beside it in replies/);
/// what the provider did not say is left out.
std::string printReply(const ChatReply &R);

/// A reply in the journal of a run (Support/Journal.h).
struct ReplyEvent {
  static constexpr const char Type[] = "reply";
  std::string Id, Digest; ///< of the request
  std::string File;       ///< "replies/ID.md"
  std::string TextDigest; ///< of that file
  ChatReply Reply;        ///< whose text is in that file, and not in the event
};

/// Whether \p File is "replies/ID.md": a journal is data and may not name a
/// file outside its run.
bool isReplyFile(llvm::StringRef File);

/// The text of \p R in the run; an error when the file is not there or not the
/// one that was recorded.
llvm::Expected<std::string> readReplyText(llvm::StringRef RunFolder,
                                          const ReplyEvent &R);

/// One JSON object; parseDiscarded(printDiscarded(D), ...) gives D.
std::string printDiscarded(const DiscardedAnswers &D);
llvm::Expected<DiscardedAnswers> parseDiscarded(llvm::StringRef Json,
                                                llvm::StringRef File);

/// "0007-code-1-0123456789ab": id and the first 12 digits of the digest.
std::string requestFileStem(const ChatRequest &R);

/// The request as a person reads it: how to answer, then the conversation.
std::string printRequestMarkdown(const ChatRequest &R);
std::string printRequestJson(const ChatRequest &R);

} // namespace stark

#endif
