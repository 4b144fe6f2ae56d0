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
#include "stark/Json/Find.h"
#include "llvm/ADT/StringSwitch.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static const UsageNames Counts = {"/usageMetadata/promptTokenCount",
                                  "/usageMetadata/cachedContentTokenCount",
                                  /*CacheWrite=*/"",
                                  "/usageMetadata/candidatesTokenCount",
                                  "/usageMetadata/thoughtsTokenCount",
                                  /*InputHasCache=*/true,
                                  /*OutputHasReasoning=*/false};

static constexpr FaultWords::Code Codes[] = {
    {FaultKind::RateLimit, "RESOURCE_EXHAUSTED"},
};
static constexpr FaultWords::Field Fields[] = {
    {Feature::Schema, "generation_config.response_json_schema "
                      "generation_config.response_mime_type "
                      "responseJsonSchema"},
};
static constexpr FaultWords::Hint Hints[] = {
    {"response_json_schema", Feature::Schema, "response_format"},
};

static constexpr DialectFacts Facts = {
    .Name = "gemini",
    .Version = "/v1beta",
    .ModelsPath = "/v1beta/models",
    .KeyHeader = "x-goog-api-key: ",
    .Errors = {.Codes = Codes, .Fields = Fields, .Hints = Hints},
};

namespace {
class Decoder : public AnswerDecoder {
public:
  using AnswerDecoder::AnswerDecoder;

private:
  void event(llvm::StringRef, const json &Data) override {
    if (valueAt(Data, "/error"))
      fail(Data);
    else
      whole(Data);
  }

  void whole(const json &Body) override {
    if (std::string Model = textAt(Body, "/modelVersion"); !Model.empty())
      Now.Model = Model;
    for (const json &Part : elementsAt(Body, "/candidates/0/content/parts"))
      if (const json *Thought = valueAt(Part, "/thought");
          Thought && *Thought == true)
        Now.ThoughtBytes += textAt(Part, "/text").size();
      else
        addText(textAt(Part, "/text"));
    readUsage(Body, Counts, Now.Tokens);
    if (std::string Why = textAt(Body, "/promptFeedback/blockReason");
        !Why.empty())
      end(StopReason::Refusal, "blocked: " + Why);
    std::string Word = textAt(Body, "/candidates/0/finishReason");
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
};

class Gemini : public DialectWith<Decoder> {
public:
  Gemini() : DialectWith(Facts) {}

  void readError(const json &Error, ErrorObject &Into) const override {
    if (Into.Type.empty())
      Into.Type = wordAt(Error, "/status");
    // google.rpc.RetryInfo: "46s".
    for (const json &Detail : elementsAt(Error, "/details")) {
      std::string Delay = textAt(Detail, "/retryDelay");
      llvm::StringRef Number = Delay;
      if (Number.consume_back("s"))
        Into.RetryAfterMs = parseRetryAfter(Number, 0);
    }
  }

private:
  static json textPart(const std::string &Text) {
    return json::array({{{"text", Text}}});
  }

  void write(const ChatRequest &Request, const CallShape &Shape,
             const Granted &G, WireRequest &Wire, json &Body) const override {
    Wire.Path =
        "/v1beta/models/" + Shape.Model + ":streamGenerateContent?alt=sse";
    if (!Request.System.empty())
      Body["systemInstruction"] = {{"parts", textPart(Request.System)}};
    Body["contents"] = json::array();
    for (const ChatMessage &M : Request.Messages)
      Body["contents"].push_back(
          {{"role", M.Who == ChatMessage::Speaker::User ? "user" : "model"},
           {"parts", textPart(M.Text)}});
    json &Config = Body["generationConfig"];
    Config["maxOutputTokens"] = G.OutputTokens;
    if (G.Temperature)
      Config["temperature"] = *G.Temperature;
    if (G.Schema) {
      Config["responseMimeType"] = "application/json";
      Config["responseJsonSchema"] = *G.Schema;
    }
  }
};
} // namespace

const Dialect &stark::geminiDialect() {
  static const Gemini It;
  return It;
}
