//===- OpenAIChatDialect.cpp - Chat completions --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   POST /chat/completions, of OpenAI and of the servers that speak like it.
/// Source: OpenAI's API specification 2.3.0; the documentation of llama.cpp,
/// vLLM and Ollama for what they leave out or add.
///
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "JsonView.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

namespace {
class Decoder : public AnswerDecoder {
public:
  using AnswerDecoder::AnswerDecoder;

private:
  bool isEnd(llvm::StringRef Data) const override {
    return Data.trim() == "[DONE]";
  }

  void event(const StreamEvent &E, JsonView Data) override {
    if (Data.at("error")) {
      Now.Problem = faultOfBody(Data, Key);
      return;
    }
    if (Now.Model.empty())
      Now.Model = Data.text("model");
    // The chunk with the usage has no choices.
    choice(Data, "choices/0/delta");
    usage(Data);
  }

  void whole(JsonView Body) override {
    Now.Model = Body.text("model");
    choice(Body, "choices/0/message");
    usage(Body);
    // Some servers leave the reason out of a whole answer.
    Now.Complete |= bool(Body.at("choices/0/message"));
  }

  void choice(JsonView Data, std::string Path) {
    addText(Data.text(Path + "/content"));
    for (const char *Thought : {"/reasoning_content", "/reasoning"})
      Now.ThoughtBytes += Data.text(Path + Thought).size();
    if (std::string No = Data.text(Path + "/refusal"); !No.empty()) {
      Refusal += No;
      Now.Stop = StopReason::Refusal;
      Now.StopDetail = "refusal: " + Refusal;
    }
    std::string Word = Data.text("choices/0/finish_reason");
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

  /// Prompt tokens include those of the cache.
  void usage(JsonView Data) {
    std::optional<uint64_t> Prompt = Data.count("usage/prompt_tokens");
    if (!Prompt)
      return;
    Usage &U = Now.Tokens;
    U.CacheRead = Data.count("usage/prompt_tokens_details/cached_tokens");
    U.CacheWrite = Data.count("usage/prompt_tokens_details/cache_write_tokens");
    uint64_t Cached = U.CacheRead.value_or(0) + U.CacheWrite.value_or(0);
    U.Input = *Prompt - std::min(Cached, *Prompt);
    U.Output = Data.count("usage/completion_tokens");
    U.Reasoning =
        Data.count("usage/completion_tokens_details/reasoning_tokens");
  }

  std::string Refusal;
};

class OpenAIChat : public Dialect {
public:
  std::unique_ptr<AnswerDecoder>
  decoder(const Secret &Key,
          std::function<void(llvm::StringRef)> OnText) override {
    return std::make_unique<Decoder>(Key, std::move(OnText));
  }

  WireRequest encode(const ChatRequest &Request,
                     const CallShape &Shape) const override {
    WireRequest Wire;
    Wire.Path = "/chat/completions";
    Wire.Headers = {"content-type: application/json",
                    "accept: text/event-stream"};
    json Body;
    Body["model"] = Shape.Model;
    Body["stream"] = true;
    if (Shape.StreamOptions)
      Body["stream_options"] = {{"include_usage", true}};
    Body[Shape.MaxTokensField] = outputLimit(Request, Shape);
    // Plain strings: templates of small servers take no arrays of parts.
    Body["messages"] = json::array();
    if (!Request.System.empty())
      Body["messages"].push_back(
          {{"role", Shape.SystemRole}, {"content", Request.System}});
    for (const ChatMessage &M : Request.Messages)
      Body["messages"].push_back(
          {{"role", M.Who == ChatMessage::Speaker::User ? "user" : "assistant"},
           {"content", M.Text}});
    if (std::optional<double> T = temperature(Request, Shape, Wire))
      Body["temperature"] = *T;
    if (std::string Schema = schema(Request, Shape, Wire); !Schema.empty())
      Body["response_format"] = {{"type", "json_schema"},
                                 {"json_schema",
                                  {{"name", "answer"},
                                   {"strict", true},
                                   {"schema", json::parse(Schema)}}}};
    Wire.Body = dumpJson(Body);
    return Wire;
  }
};
} // namespace

std::unique_ptr<Dialect> stark::makeOpenAIChatDialect() {
  return std::make_unique<OpenAIChat>();
}
