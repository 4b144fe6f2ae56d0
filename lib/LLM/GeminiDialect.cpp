//===- GeminiDialect.cpp - Gemini's generateContent ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   POST /v1beta/models/MODEL:streamGenerateContent?alt=sse. Each event is a
/// whole response object with a part of the text; the one with a finishReason
/// is the last. Source: the Gemini API reference, v1beta.
///
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "JsonView.h"
#include "llvm/ADT/StringExtras.h"
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
  void event(const StreamEvent &E, JsonView Data) override {
    if (Data.at("error"))
      Now.Problem = faultOfBody(Data, Key);
    else
      whole(Data);
  }

  void whole(JsonView Body) override {
    if (std::string Model = Body.text("modelVersion"); !Model.empty())
      Now.Model = Model;
    for (JsonView Part : Body.at("candidates/0/content/parts").elements())
      if (Part.at("thought").isTrue())
        Now.ThoughtBytes += Part.text("text").size();
      else
        addText(Part.text("text"));
    usage(Body);
    if (std::string Why = Body.text("promptFeedback/blockReason"); !Why.empty())
      end(StopReason::Refusal, "blocked: " + Why);
    std::string Word = Body.text("candidates/0/finishReason");
    if (Word.empty() || Word == "FINISH_REASON_UNSPECIFIED")
      return;
    end(llvm::StringSwitch<StopReason>(Word)
            .Case("STOP", StopReason::End)
            .Case("MAX_TOKENS", StopReason::Length)
            .Cases("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                   "SPII", StopReason::Refusal)
            .Default(StopReason::Other),
        Word);
  }

  void end(StopReason Stop, std::string Detail) {
    Now.Stop = Stop;
    Now.StopDetail = std::move(Detail);
    Now.Complete = true;
  }

  /// Prompt tokens include the cache's, candidate tokens exclude thoughts.
  void usage(JsonView Body) {
    std::optional<uint64_t> Prompt =
        Body.count("usageMetadata/promptTokenCount");
    if (!Prompt)
      return;
    Usage &U = Now.Tokens;
    U.CacheRead = Body.count("usageMetadata/cachedContentTokenCount");
    U.Input = *Prompt - std::min(U.CacheRead.value_or(0), *Prompt);
    U.Reasoning = Body.count("usageMetadata/thoughtsTokenCount");
    if (auto Out = Body.count("usageMetadata/candidatesTokenCount"))
      U.Output = *Out + U.Reasoning.value_or(0);
  }
};

class Gemini : public Dialect {
public:
  std::string keyHeader() const override { return "x-goog-api-key: "; }

  std::unique_ptr<AnswerDecoder>
  decoder(const Secret &Key,
          std::function<void(llvm::StringRef)> OnText) override {
    return std::make_unique<Decoder>(Key, std::move(OnText));
  }

  WireRequest encode(const ChatRequest &Request,
                     const CallShape &Shape) const override {
    WireRequest Wire;
    Wire.Path =
        "/v1beta/models/" + Shape.Model + ":streamGenerateContent?alt=sse";
    Wire.Headers = {"content-type: application/json",
                    "accept: text/event-stream"};
    json Body;
    if (!Request.System.empty())
      Body["systemInstruction"] = {
          {"parts", json::array({{{"text", Request.System}}})}};
    Body["contents"] = json::array();
    for (const ChatMessage &M : Request.Messages)
      Body["contents"].push_back(
          {{"role", M.Who == ChatMessage::Speaker::User ? "user" : "model"},
           {"parts", json::array({{{"text", M.Text}}})}});
    json Config;
    Config["maxOutputTokens"] = outputLimit(Request, Shape);
    if (std::optional<double> T = temperature(Request, Shape, Wire))
      Config["temperature"] = *T;
    if (std::string Schema = schema(Request, Shape, Wire); !Schema.empty()) {
      Config["responseMimeType"] = "application/json";
      Config["responseJsonSchema"] = json::parse(Schema);
    }
    Body["generationConfig"] = Config;
    Wire.Body = dumpJson(Body);
    return Wire;
  }
};
} // namespace

std::unique_ptr<Dialect> stark::makeGeminiDialect() {
  return std::make_unique<Gemini>();
}
