//===- OpenAI.h - What both of OpenAI's wire formats have ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Addresses and messages of chat completions and of responses.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_OPENAI_H
#define STARK_LIB_LLM_OPENAI_H

#include "Dialect.h"

namespace stark {

/// A host alone stands for its "/v1".
std::string openAIBaseUrl(llvm::StringRef Given);

/// Adds {"role", "content"} of each message. Plain strings: templates of small
/// servers take no arrays of parts.
void addOpenAIMessages(const ChatRequest &Request, nlohmann::json &To);

/// The schema as "strict" and by name.
nlohmann::json openAISchema(const nlohmann::json &Schema);

/// Both count alike, what they call "prompt" and "completion" or "input" and
/// "output".
UsageNames openAIUsage(const std::string &Input, const std::string &Output);

template <class Decoder> class OpenAIDialect : public DialectWith<Decoder> {
public:
  using DialectWith<Decoder>::DialectWith;
  std::string baseUrl(llvm::StringRef Given) const override {
    return openAIBaseUrl(Given);
  }
};

} // namespace stark

#endif
