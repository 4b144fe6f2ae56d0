//===- OpenAIResponsesDialect.cpp - Responses ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   POST /responses. The terminal event carries the whole answer, which is
/// what counts; deltas are progress. Source: OpenAI's API specification 2.3.0.
///
//===----------------------------------------------------------------------===//

#include "OpenAI.h"
#include "stark/Json/Find.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

/// Fewer are refused.
static constexpr uint64_t LeastOutputTokens = 16;

static const UsageNames Counts = openAIUsage("input", "output");

static constexpr FaultWords::Field Fields[] = {
    {Feature::Schema, "text.format"},
    {Feature::Schema, "text", /*InMessages=*/false},
};

/// Errors are those of chat completions, but for these fields.
static constexpr DialectFacts Facts = {
    .Name = "openai-responses",
    .ModelsPath = "/models",
    .Errors = {.Fields = Fields},
};

namespace {
class Decoder : public AnswerDecoder {
public:
  using AnswerDecoder::AnswerDecoder;

private:
  void event(llvm::StringRef EventType, const json &Data) override {
    std::string Type = textAt(Data, "/type");
    if (Type.empty())
      Type = EventType.str();
    if (Type == "response.output_text.delta") {
      addText(textAt(Data, "/delta"));
    } else if (Type == "response.completed" || Type == "response.incomplete" ||
               Type == "response.failed") {
      if (const json *Response = valueAt(Data, "/response"))
        whole(*Response);
    } else if (Type == "error") {
      fail(Data);
    }
  }

  void whole(const json &Body) override {
    Now.Model = textAt(Body, "/model");
    std::string Status = textAt(Body, "/status");
    if (Status == "failed" || Status == "cancelled") {
      fail(Body);
      if (Now.Problem->Kind == FaultKind::Protocol)
        Now.Problem->Kind = FaultKind::Server;
      return;
    }
    std::string Text, Refusal;
    for (const json &Item : elementsAt(Body, "/output"))
      if (textAt(Item, "/type") == "message")
        for (const json &Part : elementsAt(Item, "/content")) {
          Text += textAt(Part, "/text");
          Refusal += textAt(Part, "/refusal");
        }
    if (Now.Text.empty())
      addText(Text);
    else if (!Text.empty())
      Now.Text = Text;
    readUsage(Body, Counts, Now.Tokens);
    Now.Complete = Status == "completed" || Status == "incomplete";
    Now.StopDetail = Status;
    Now.Stop = Status == "completed" ? StopReason::End : StopReason::Other;
    if (std::string Why = textAt(Body, "/incomplete_details/reason");
        !Why.empty()) {
      Now.StopDetail += ": " + Why;
      Now.Stop = llvm::StringSwitch<StopReason>(Why)
                     .Case("max_output_tokens", StopReason::Length)
                     .Case("content_filter", StopReason::Refusal)
                     .Default(StopReason::Other);
    }
    if (!Refusal.empty()) {
      Now.Stop = StopReason::Refusal;
      Now.StopDetail = "refusal: " + Refusal;
    }
  }
};

class OpenAIResponses : public OpenAIDialect<Decoder> {
public:
  OpenAIResponses() : OpenAIDialect(Facts) {}

private:
  void write(const ChatRequest &Request, const CallShape &Shape,
             const Granted &G, WireRequest &Wire, json &Body) const override {
    Wire.Path = "/responses";
    Body["model"] = Shape.Model;
    Body["stream"] = true;
    Body["store"] = false; // the default would keep a user's source
    Body["max_output_tokens"] = std::max(G.OutputTokens, LeastOutputTokens);
    if (!Request.System.empty())
      Body["instructions"] = Request.System;
    Body["input"] = json::array();
    addOpenAIMessages(Request, Body["input"]);
    if (G.Temperature)
      Body["temperature"] = *G.Temperature;
    if (G.Schema) {
      json Format = openAISchema(*G.Schema);
      Format["type"] = "json_schema";
      Body["text"] = {{"format", Format}};
    }
  }
};
} // namespace

const Dialect &stark::openAIResponsesDialect() {
  static const OpenAIResponses It;
  return It;
}
