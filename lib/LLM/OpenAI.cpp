//===- OpenAI.cpp - What both of OpenAI's wire formats have --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenAI.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

std::string stark::openAIBaseUrl(llvm::StringRef Given) {
  Given = Given.rtrim('/');
  bool HostAlone = !Given.substr(Given.find("://") + 3).contains('/');
  return Given.str() + (HostAlone ? "/v1" : "");
}

UsageNames stark::openAIUsage(const std::string &Input,
                              const std::string &Output) {
  std::string Read = "/usage/" + Input + "_tokens",
              Written = "/usage/" + Output + "_tokens";
  return {Read,
          Read + "_details/cached_tokens",
          Read + "_details/cache_write_tokens",
          Written,
          Written + "_details/reasoning_tokens",
          /*InputHasCache=*/true,
          /*OutputHasReasoning=*/true};
}

void stark::addOpenAIMessages(const ChatRequest &Request, json &To) {
  for (const ChatMessage &M : Request.Messages)
    To.push_back({{"role", nameOf(M.Who)}, {"content", M.Text}});
}

json stark::openAISchema(const json &Schema) {
  return {{"name", "answer"}, {"strict", true}, {"schema", Schema}};
}
