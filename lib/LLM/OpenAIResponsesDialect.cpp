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
  void event(const StreamEvent &E, JsonView Data) override {
    std::string Type = Data.text("type");
    if (Type.empty())
      Type = E.Type;
    if (Type == "response.output_text.delta") {
      addText(Data.text("delta"));
    } else if (Type == "response.completed" || Type == "response.incomplete" ||
               Type == "response.failed") {
      whole(Data.at("response"));
    } else if (Type == "error") {
      Now.Problem = faultOfBody(Data, Key);
    }
  }

  void whole(JsonView Body) override {
    Now.Model = Body.text("model");
    std::string Status = Body.text("status");
    if (Status == "failed" || Status == "cancelled") {
      Now.Problem = faultOfBody(Body, Key);
      if (Now.Problem->Kind == FaultKind::Protocol)
        Now.Problem->Kind = FaultKind::Server;
      return;
    }
    std::string Text, Refusal;
    for (JsonView Item : Body.at("output").elements())
      if (Item.text("type") == "message")
        for (JsonView Part : Item.at("content").elements()) {
          Text += Part.text("text");
          Refusal += Part.text("refusal");
        }
    if (Now.Text.empty())
      addText(Text);
    else if (!Text.empty())
      Now.Text = Text;
    usage(Body);
    Now.Complete = Status == "completed" || Status == "incomplete";
    Now.StopDetail = Status;
    Now.Stop = Status == "completed" ? StopReason::End : StopReason::Other;
    if (std::string Why = Body.text("incomplete_details/reason");
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

  void usage(JsonView Body) {
    std::optional<uint64_t> Prompt = Body.count("usage/input_tokens");
    if (!Prompt)
      return;
    Usage &U = Now.Tokens;
    U.CacheRead = Body.count("usage/input_tokens_details/cached_tokens");
    U.CacheWrite = Body.count("usage/input_tokens_details/cache_write_tokens");
    uint64_t Cached = U.CacheRead.value_or(0) + U.CacheWrite.value_or(0);
    U.Input = *Prompt - std::min(Cached, *Prompt);
    U.Output = Body.count("usage/output_tokens");
    U.Reasoning = Body.count("usage/output_tokens_details/reasoning_tokens");
  }
};

class OpenAIResponses : public Dialect {
public:
  std::unique_ptr<AnswerDecoder>
  decoder(const Secret &Key,
          std::function<void(llvm::StringRef)> OnText) override {
    return std::make_unique<Decoder>(Key, std::move(OnText));
  }

  WireRequest encode(const ChatRequest &Request,
                     const CallShape &Shape) const override {
    WireRequest Wire;
    Wire.Path = "/responses";
    Wire.Headers = {"content-type: application/json",
                    "accept: text/event-stream"};
    json Body;
    Body["model"] = Shape.Model;
    Body["stream"] = true;
    Body["store"] = false; // the default would keep a user's source
    // Fewer than 16 are refused.
    Body["max_output_tokens"] =
        std::max<uint64_t>(outputLimit(Request, Shape), 16);
    if (!Request.System.empty())
      Body["instructions"] = Request.System;
    Body["input"] = json::array();
    for (const ChatMessage &M : Request.Messages)
      Body["input"].push_back(
          {{"role", M.Who == ChatMessage::Speaker::User ? "user" : "assistant"},
           {"content", M.Text}});
    if (std::optional<double> T = temperature(Request, Shape, Wire))
      Body["temperature"] = *T;
    if (std::string Schema = schema(Request, Shape, Wire); !Schema.empty())
      Body["text"] = {{"format",
                       {{"type", "json_schema"},
                        {"name", "answer"},
                        {"strict", true},
                        {"schema", json::parse(Schema)}}}};
    Wire.Body = dumpJson(Body);
    return Wire;
  }
};
} // namespace

std::unique_ptr<Dialect> stark::makeOpenAIResponsesDialect() {
  return std::make_unique<OpenAIResponses>();
}
