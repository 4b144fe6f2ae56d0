//===- OpenAIChatDialect.cpp - Chat completions --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   POST /chat/completions, of OpenAI and of the servers that speak like it.
/// Source: OpenAI's API specification 2.3.0 and its page "Error codes", as of
/// 2026-08; the documentation of llama.cpp, vLLM and Ollama for what they leave
/// out or add.
///
//===----------------------------------------------------------------------===//

#include "OpenAI.h"
#include "stark/Json/Find.h"
#include "llvm/ADT/StringSwitch.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static constexpr UsageNames Counts = {
    "/usage/prompt_tokens",
    "/usage/prompt_tokens_details/cached_tokens",
    "/usage/prompt_tokens_details/cache_write_tokens",
    "/usage/completion_tokens",
    "/usage/completion_tokens_details/reasoning_tokens",
    /*InputHasCache=*/true,
    /*OutputHasReasoning=*/true};

static constexpr FaultWords::Code Codes[] = {
    {"insufficient_quota", FaultKind::SpendLimit},
    {"credit_balance_exhausted", FaultKind::SpendLimit},
    {"project_spend_limit_exceeded", FaultKind::SpendLimit},
    {"billing_hard_limit_reached", FaultKind::SpendLimit},
    {"context_length_exceeded", FaultKind::ContextOverflow},
    {"string_above_max_length", FaultKind::ContextOverflow},
    {"exceed_context_size_error", FaultKind::ContextOverflow}, // llama.cpp
    {"server_is_overloaded", FaultKind::Overloaded},
    {"rate_limit_exceeded", FaultKind::RateLimit},
    {"slow_down", FaultKind::RateLimit},
    {"server_error", FaultKind::Server},
    {"invalid_api_key", FaultKind::Authentication},
    {"model_not_found", FaultKind::NotFound},
};
static constexpr FaultWords::Phrase Phrases[] = {
    {"context length", FaultKind::ContextOverflow},
    {"context window", FaultKind::ContextOverflow},
    {"context size", FaultKind::ContextOverflow},
};
static constexpr FaultWords::Field Fields[] = {
    {"max_completion_tokens", Feature::OutputLimit},
    {"max_tokens", Feature::OutputLimit},
    {"temperature", Feature::Temperature},
    {"stream_options", Feature::StreamOptions},
    {"response_format", Feature::Schema},
};
/// Of servers whose grammar cannot hold a schema.
static constexpr FaultWords::Hint Hints[] = {
    {"json_schema", Feature::Schema, "response_format"},
    {"json schema", Feature::Schema, "response_format"},
    {"structured output", Feature::Schema, "response_format"},
    {"grammar", Feature::Schema, "response_format"},
};
static constexpr llvm::StringLiteral RequestIds[] = {"x-request-id"};

namespace {
class Decoder : public AnswerDecoder {
public:
  using AnswerDecoder::AnswerDecoder;

private:
  bool isEnd(llvm::StringRef Data) const override {
    return Data.trim() == "[DONE]";
  }

  void event(llvm::StringRef, const json &Data) override {
    if (valueAt(Data, "/error")) {
      fail(Data);
      return;
    }
    if (Now.Model.empty())
      Now.Model = textAt(Data, "/model");
    // The chunk with the usage has no choices.
    choice(Data, "/choices/0/delta");
    readUsage(Data, Counts, Now.Tokens);
  }

  void whole(const json &Body) override {
    Now.Model = textAt(Body, "/model");
    choice(Body, "/choices/0/message");
    readUsage(Body, Counts, Now.Tokens);
    // Some servers leave the reason out of a whole answer.
    Now.Complete |= valueAt(Body, "/choices/0/message") != nullptr;
  }

  void choice(const json &Data, const std::string &Of) {
    addText(textAt(Data, Of + "/content"));
    for (const char *Thought : {"/reasoning_content", "/reasoning"})
      Now.ThoughtBytes += textAt(Data, Of + Thought).size();
    if (std::string No = textAt(Data, Of + "/refusal"); !No.empty()) {
      Refusal += No;
      Now.Stop = StopReason::Refusal;
      Now.StopDetail = "refusal: " + Refusal;
    }
    std::string Word = textAt(Data, "/choices/0/finish_reason");
    if (Word.empty())
      return;
    // Servers exist that never send [DONE].
    Now.Complete = true;
    if (!Refusal.empty())
      return;
    Now.Stop = llvm::StringSwitch<StopReason>(Word)
                   .Cases("stop", "eos", "eos_token", StopReason::End)
                   .Case("length", StopReason::Length)
                   .Case("content_filter", StopReason::Refusal)
                   .Default(StopReason::Other);
    Now.StopDetail = Word;
  }

  std::string Refusal;
};

class OpenAIChat : public OpenAIDialect<Decoder> {
public:
  llvm::StringRef name() const override { return "openai-chat"; }

  llvm::ArrayRef<llvm::StringLiteral> limitFields() const override {
    static constexpr llvm::StringLiteral Names[] = {"max_completion_tokens",
                                                    "max_tokens"};
    return Names;
  }

  const FaultWords &faultWords() const override {
    static const FaultWords Words = {Codes, Phrases, Fields, Hints, RequestIds};
    return Words;
  }

private:
  void write(const ChatRequest &Request, const CallShape &Shape,
             const Granted &G, WireRequest &Wire, json &Body) const override {
    Wire.Path = "/chat/completions";
    Body["model"] = Shape.Model;
    Body["stream"] = true;
    if (Shape.StreamOptions)
      Body["stream_options"] = {{"include_usage", true}};
    Body[Shape.MaxTokensField] = G.OutputTokens;
    Body["messages"] = json::array();
    if (!Request.System.empty())
      Body["messages"].push_back(
          {{"role", "system"}, {"content", Request.System}});
    addOpenAIMessages(Request, Body["messages"]);
    if (G.Temperature)
      Body["temperature"] = *G.Temperature;
    if (G.Schema)
      Body["response_format"] = {{"type", "json_schema"},
                                 {"json_schema", openAISchema(*G.Schema)}};
  }
};
} // namespace

const Dialect &stark::openAIChatDialect() {
  static const OpenAIChat It;
  return It;
}
