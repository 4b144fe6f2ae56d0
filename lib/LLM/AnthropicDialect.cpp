//===- AnthropicDialect.cpp - The Messages API ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   POST /v1/messages. Source: the Messages API of versions 2023-06-01 and
/// 2026-10-21 (the latter knows no sampling parameters).
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
    if (Type == "message_start") {
      Now.Model = Data.text("message/model");
      usage(Data.at("message/usage"));
    } else if (Type == "content_block_start") {
      if (Data.text("content_block/type") == "text")
        addText(Data.text("content_block/text"));
    } else if (Type == "content_block_delta") {
      // Thinking, signatures and tools are no part of the answer.
      if (Data.text("delta/type") == "text_delta")
        addText(Data.text("delta/text"));
      Now.ThoughtBytes += Data.text("delta/thinking").size();
    } else if (Type == "message_delta") {
      stop(Data.at("delta"));
      usage(Data.at("usage"));
    } else if (Type == "message_stop") {
      Now.Complete = true;
    } else if (Type == "error") {
      Now.Problem = faultOfBody(Data, Key);
    }
  }

  void whole(JsonView Body) override {
    Now.Model = Body.text("model");
    for (JsonView Block : Body.at("content").elements())
      if (Block.text("type") == "text")
        addText(Block.text("text"));
    stop(Body);
    usage(Body.at("usage"));
    Now.Complete = !Body.text("stop_reason").empty();
  }

  void stop(JsonView Of) {
    std::string Word = Of.text("stop_reason");
    if (Word.empty())
      return;
    Now.Stop =
        llvm::StringSwitch<StopReason>(Word)
            .Cases("end_turn", "stop_sequence", StopReason::End)
            .Case("max_tokens", StopReason::Length)
            .Case("refusal", StopReason::Refusal)
            .Case("model_context_window_exceeded", StopReason::ContextOverflow)
            .Default(StopReason::Other);
    Now.StopDetail = Word;
    for (const char *More :
         {"stop_details/category", "stop_details/explanation"})
      if (std::string Text = Of.text(More); !Text.empty())
        Now.StopDetail += ": " + Text;
  }

  /// Counts of a later event replace earlier ones; null says nothing.
  void usage(JsonView Of) {
    auto Take = [&](std::optional<uint64_t> &Into, llvm::StringRef Path) {
      if (std::optional<uint64_t> Count = Of.count(Path))
        Into = Count;
    };
    Take(Now.Tokens.Input, "input_tokens");
    Take(Now.Tokens.CacheRead, "cache_read_input_tokens");
    Take(Now.Tokens.CacheWrite, "cache_creation_input_tokens");
    Take(Now.Tokens.Output, "output_tokens");
    Take(Now.Tokens.Reasoning, "output_tokens_details/thinking_tokens");
  }
};

class Anthropic : public Dialect {
public:
  std::string keyHeader() const override { return "x-api-key: "; }

  std::unique_ptr<AnswerDecoder>
  decoder(const Secret &Key,
          std::function<void(llvm::StringRef)> OnText) override {
    return std::make_unique<Decoder>(Key, std::move(OnText));
  }

  WireRequest encode(const ChatRequest &Request,
                     const CallShape &Shape) const override {
    WireRequest Wire;
    Wire.Path = "/v1/messages";
    Wire.Headers = {"content-type: application/json",
                    "accept: text/event-stream",
                    "anthropic-version: " + Shape.ApiVersion};
    json Body;
    Body["model"] = Shape.Model;
    Body["max_tokens"] = outputLimit(Request, Shape);
    Body["stream"] = true;
    bool Marked = Shape.CacheMarks && Request.StablePrefix;
    if (!Request.System.empty()) {
      json Block = textBlock(Request.System);
      if (Marked && Request.StablePrefix <= Request.System.size())
        mark(Block);
      Body["system"] = json::array({Block});
    }
    Body["messages"] = json::array();
    for (size_t I = 0; I < Request.Messages.size(); ++I)
      Body["messages"].push_back(message(Request, I, Marked));
    if (std::optional<double> T = temperature(Request, Shape, Wire))
      Body["temperature"] = *T;
    if (std::string Schema = schema(Request, Shape, Wire); !Schema.empty())
      Body["output_config"] = {
          {"format",
           {{"type", "json_schema"}, {"schema", json::parse(Schema)}}}};
    Wire.Body = dumpJson(Body);
    return Wire;
  }

private:
  static json textBlock(llvm::StringRef Text) {
    return {{"type", "text"}, {"text", Text.str()}};
  }
  static void mark(json &Block) {
    Block["cache_control"] = {{"type", "ephemeral"}};
  }

  /// The first message is two blocks when its beginning repeats over calls.
  static json message(const ChatRequest &Request, size_t I, bool Marked) {
    const ChatMessage &M = Request.Messages[I];
    json Content = json::array();
    llvm::StringRef Text = M.Text;
    if (I == 0 && Marked && Request.StablePrefix > Request.System.size()) {
      size_t Cut =
          std::min(Request.StablePrefix - Request.System.size(), Text.size());
      // Never inside of a character.
      while (Cut && Cut < Text.size() &&
             (static_cast<unsigned char>(Text[Cut]) & 0xC0) == 0x80)
        --Cut;
      if (Cut) {
        Content.push_back(textBlock(Text.take_front(Cut)));
        mark(Content.back());
      }
      Text = Text.substr(Cut);
    }
    // Empty blocks are refused.
    if (!Text.empty())
      Content.push_back(textBlock(Text));
    bool User = M.Who == ChatMessage::Speaker::User;
    return {{"role", User ? "user" : "assistant"}, {"content", Content}};
  }
};
} // namespace

std::unique_ptr<Dialect> stark::makeAnthropicDialect() {
  return std::make_unique<Anthropic>();
}
