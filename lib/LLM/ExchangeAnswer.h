//===- ExchangeAnswer.h - An answer file, checked -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bytes of an answer file -> front matter + text -> ChatReply
///
///     answer = [ "---" LF { key ":" value LF } "---" LF ] text
///     key    = model | id | digest | stop | stop_detail | temperature |
///              input_tokens | cache_read_tokens | cache_write_tokens |
///              output_tokens | reasoning_tokens | cost_micro_usd | wall_ms
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_EXCHANGEANSWER_H
#define STARK_LIB_LLM_EXCHANGEANSWER_H

#include "stark/LLM/ChatClient.h"

namespace stark {

/// Errors name \p File: a digest or id of another request, a key or value that
/// is not known. Carriage returns before line ends, a byte order mark, NULs
/// and invalid UTF-8 are repaired; the last two are noted in Applied.
llvm::Expected<ChatReply> parseAnswer(llvm::StringRef Bytes,
                                      const ChatRequest &Request,
                                      llvm::StringRef File);

} // namespace stark

#endif
