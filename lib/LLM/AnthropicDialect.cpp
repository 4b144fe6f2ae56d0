//===- AnthropicDialect.cpp - The Messages API ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   POST /v1/messages. Source: the Messages API of versions 2023-06-01 and
/// 2026-10-21 (the latter knows no sampling parameters); its page "Errors", as
/// of 2026-08.
///
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "stark/Json/Find.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

/// Of a model that the table does not know.
static constexpr llvm::StringLiteral DefaultVersion = "2023-06-01";

static const UsageNames Counts = {"/input_tokens",
                                  "/cache_read_input_tokens",
                                  "/cache_creation_input_tokens",
                                  "/output_tokens",
                                  "/output_tokens_details/thinking_tokens",
                                  /*InputHasCache=*/false,
                                  /*OutputHasReasoning=*/true};

static constexpr FaultWords::Code Codes[] = {
    {FaultKind::SpendLimit,
     "organization_spend_limit_exceeded organization_usage_limit_exceeded "
     "enforced_spend_limit_reached contract_spend_limit_reached "
     "organization_on_hold billing_error"},
    {FaultKind::Overloaded, "overloaded_error 529"},
    {FaultKind::RateLimit, "rate_limit_error"},
    {FaultKind::Server, "api_error timeout_error"},
    {FaultKind::Authentication, "authentication_error permission_error"},
    {FaultKind::NotFound, "not_found_error"},
};
static constexpr FaultWords::Phrase Phrases[] = {
    {"prompt is too long", FaultKind::ContextOverflow},
    {"credit balance", FaultKind::SpendLimit},
    {"usage limit", FaultKind::SpendLimit},
};
static constexpr FaultWords::Field Fields[] = {
    {Feature::OutputLimit, "max_tokens"},
    {Feature::Temperature, "temperature"},
    {Feature::Schema, "output_config"},
    {Feature::CacheMarks, "cache_control"},
};

static constexpr DialectFacts Facts = {
    .Name = "anthropic",
    .Version = "/v1",
    .ModelsPath = "/v1/models",
    .KeyHeader = "x-api-key: ",
    .Errors = {.Codes = Codes,
               .Phrases = Phrases,
               .Fields = Fields,
               .RequestId = "request-id"},
};

namespace {
class Decoder : public AnswerDecoder {
public:
  using AnswerDecoder::AnswerDecoder;

private:
  void event(llvm::StringRef, const json &Data) override {
    std::string Type = textAt(Data, "/type");
    if (Type == "message_start") {
      Now.Model = textAt(Data, "/message/model");
      usage(Data, "/message/usage");
    } else if (Type == "content_block_start") {
      if (textAt(Data, "/content_block/type") == "text")
        addText(textAt(Data, "/content_block/text"));
    } else if (Type == "content_block_delta") {
      // Thinking, signatures and tools are no part of the answer.
      if (textAt(Data, "/delta/type") == "text_delta")
        addText(textAt(Data, "/delta/text"));
      Now.ThoughtBytes += textAt(Data, "/delta/thinking").size();
    } else if (Type == "message_delta") {
      stop(Data, "/delta");
      usage(Data, "/usage");
    } else if (Type == "message_stop") {
      Now.Complete = true;
    } else if (Type == "error") {
      fail(Data);
    }
  }

  void whole(const json &Body) override {
    Now.Model = textAt(Body, "/model");
    for (const json &Block : elementsAt(Body, "/content"))
      if (textAt(Block, "/type") == "text")
        addText(textAt(Block, "/text"));
    stop(Body, "");
    usage(Body, "/usage");
    Now.Complete = !textAt(Body, "/stop_reason").empty();
  }

  void stop(const json &Data, const std::string &Of) {
    std::string Word = textAt(Data, Of + "/stop_reason");
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
         {"/stop_details/category", "/stop_details/explanation"})
      if (std::string Text = textAt(Data, Of + More); !Text.empty())
        Now.StopDetail += ": " + Text;
  }

  void usage(const json &Data, const char *Of) {
    if (const json *Said = valueAt(Data, Of))
      readUsage(*Said, Counts, Now.Tokens);
  }
};

class Anthropic : public DialectWith<Decoder> {
public:
  Anthropic() : DialectWith(Facts) {}

  void readError(const json &Error, ErrorObject &Into) const override {
    if (std::string Code = wordAt(Error, "/details/error_code"); !Code.empty())
      Into.Code = Code;
  }

private:
  void write(const ChatRequest &Request, const CallShape &Shape,
             const Granted &G, WireRequest &Wire, json &Body) const override {
    Wire.Path = "/v1/messages";
    Wire.Headers.push_back("anthropic-version: " + (Shape.ApiVersion.empty()
                                                        ? DefaultVersion.str()
                                                        : Shape.ApiVersion));
    Body["model"] = Shape.Model;
    Body["max_tokens"] = G.OutputTokens;
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
    if (G.Temperature)
      Body["temperature"] = *G.Temperature;
    if (G.Schema)
      Body["output_config"] = {
          {"format", {{"type", "json_schema"}, {"schema", *G.Schema}}}};
  }

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
    return {{"role", nameOf(M.Who)}, {"content", Content}};
  }
};
} // namespace

const Dialect &stark::anthropicDialect() {
  static const Anthropic It;
  return It;
}
