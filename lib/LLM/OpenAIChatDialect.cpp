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

static const UsageNames Counts = openAIUsage("prompt", "completion");

static constexpr FaultWords::Code Codes[] = {
    {FaultKind::SpendLimit,
     "insufficient_quota credit_balance_exhausted project_spend_limit_exceeded "
     "billing_hard_limit_reached"},
    // The last one is llama.cpp's.
    {FaultKind::ContextOverflow,
     "context_length_exceeded string_above_max_length "
     "exceed_context_size_error"},
    {FaultKind::Overloaded, "server_is_overloaded"},
    {FaultKind::RateLimit, "rate_limit_exceeded slow_down"},
    {FaultKind::Server, "server_error"},
    {FaultKind::Authentication, "invalid_api_key"},
    {FaultKind::NotFound, "model_not_found"},
};
static constexpr FaultWords::Phrase Phrases[] = {
    {"context length", FaultKind::ContextOverflow},
    {"context window", FaultKind::ContextOverflow},
    {"context size", FaultKind::ContextOverflow},
};
static constexpr llvm::StringLiteral LimitFields[] = {"max_completion_tokens",
                                                      "max_tokens"};
static constexpr FaultWords::Field Fields[] = {
    {Feature::OutputLimit, "max_completion_tokens max_tokens"},
    {Feature::Temperature, "temperature"},
    {Feature::StreamOptions, "stream_options"},
    {Feature::Schema, "response_format"},
};
/// Of servers whose grammar cannot hold a schema.
static constexpr FaultWords::Hint Hints[] = {
    {"json_schema", Feature::Schema, "response_format"},
    {"json schema", Feature::Schema, "response_format"},
    {"structured output", Feature::Schema, "response_format"},
    {"grammar", Feature::Schema, "response_format"},
};

static constexpr DialectFacts Facts = {
    .Name = "openai-chat",
    .ModelsPath = "/models",
    .LimitFields = LimitFields,
    .Errors = {Codes, Phrases, Fields, Hints, "x-request-id"},
};

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
  OpenAIChat() : OpenAIDialect(Facts) {}

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
