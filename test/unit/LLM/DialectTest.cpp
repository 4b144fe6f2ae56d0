//===- DialectTest.cpp - Wire formats without a wire ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

namespace {
const Secret NoKey;

struct Vendor {
  const char *Name;
  const Dialect &(*Make)();
  /// A whole stream that says "tile it" and stops for its length.
  std::string Stream;
};

std::string event(const char *Type, const std::string &Data) {
  return (*Type ? std::string("event: ") + Type + "\n" : "") + "data: " + Data +
         "\n\n";
}

const Vendor Vendors[] = {
    {"anthropic", anthropicDialect,
     event(
         "message_start",
         R"({"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"cache_read_input_tokens":null}}})") +
         event(
             "content_block_delta",
             R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})") +
         event(
             "content_block_delta",
             R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"tile "}})") +
         event(
             "content_block_delta",
             R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"it"}})") +
         event(
             "message_delta",
             R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":7}})") +
         event("message_stop", R"({"type":"message_stop"})")},
    {"openai-chat", openAIChatDialect,
     event("", R"({"model":"m","choices":[{"delta":{"content":"tile "}}]})") +
         event("", R"({"choices":[{"delta":{"content":"it"}}]})") +
         event("", R"({"choices":[{"delta":{},"finish_reason":"length"}]})") +
         event(
             "",
             R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":7}})") +
         event("", "[DONE]")},
    {"openai-responses", openAIResponsesDialect,
     event("response.output_text.delta",
           R"({"type":"response.output_text.delta","delta":"tile "})") +
         event(
             "response.incomplete",
             R"({"type":"response.incomplete","response":{"model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"tile it"}]}],"usage":{"input_tokens":3,"output_tokens":7}}})")},
    {"gemini", geminiDialect,
     event(
         "",
         R"({"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"tile "}]}}]})") +
         event(
             "",
             R"({"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"it"}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5,"thoughtsTokenCount":2}})")},
};

Answer decode(const Vendor &V, llvm::StringRef Bytes, size_t Split = 0) {
  std::unique_ptr<AnswerDecoder> Decoder = V.Make().decoder(NoKey, {});
  EventStream Stream([&](const StreamEvent &E) {
    Decoder->take(E);
    return llvm::Error::success();
  });
  llvm::cantFail(Stream.feed(Bytes.take_front(Split)));
  llvm::cantFail(Stream.feed(Bytes.substr(Split)));
  llvm::cantFail(Stream.finish());
  return Decoder->answer();
}

class DialectTest : public ::testing::TestWithParam<size_t> {
protected:
  const Vendor &vendor() const { return Vendors[GetParam()]; }

  static ChatRequest request() {
    ChatRequest R;
    R.Role = "plan";
    R.System = "system \xFF";
    R.Messages = {{ChatMessage::Speaker::User, "stable user"},
                  {ChatMessage::Speaker::Assistant, "said"},
                  {ChatMessage::Speaker::User, "again"}};
    R.Temperature = 0.8;
    R.MaxOutputTokens = 5000;
    R.ResponseSchema = R"({"type":"object"})";
    return R;
  }
  static CallShape shape() {
    CallShape S;
    S.Model = "m";
    S.ApiVersion = "2023-06-01";
    return S;
  }
  json body(const ChatRequest &R, const CallShape &S,
            std::vector<std::string> *Applied = nullptr) {
    WireRequest W = vendor().Make().encode(R, S);
    if (Applied)
      *Applied = W.Applied;
    return json::parse(W.Body);
  }
};
} // namespace

TEST_P(DialectTest, AnswersAreTheSameAtEverySplit) {
  const std::string &Bytes = vendor().Stream;
  for (size_t I = 0; I <= Bytes.size(); ++I) {
    Answer A = decode(vendor(), Bytes, I);
    ASSERT_FALSE(A.Problem) << A.Problem->describe() << " split at " << I;
    EXPECT_TRUE(A.Complete);
    EXPECT_EQ(A.Text, "tile it");
    EXPECT_EQ(A.Model, "m");
    EXPECT_EQ(A.Stop, StopReason::Length);
    EXPECT_EQ(A.Tokens.Input, 3u);
    EXPECT_EQ(A.Tokens.Output, 7u);
  }
}

TEST_P(DialectTest, ACutStreamIsNeverTakenForAWholeAnswer) {
  const std::string &Bytes = vendor().Stream;
  // What says that the answer is whole; bytes behind it may be missing.
  for (size_t I = 0; I < Bytes.size(); ++I) {
    Answer A = decode(vendor(), llvm::StringRef(Bytes).take_front(I));
    if (A.Complete && !A.Problem) {
      EXPECT_EQ(A.Text, "tile it") << "cut at " << I;
      EXPECT_EQ(A.Stop, StopReason::Length) << "cut at " << I;
    }
  }
  EXPECT_FALSE(decode(vendor(), "").Complete);
}

TEST_P(DialectTest, NonsenseIsAProblemAndUnknownEventsAreNot) {
  EXPECT_TRUE(decode(vendor(), "data: <html>\n\n").Problem);
  EXPECT_TRUE(decode(vendor(), "data: 7\n\n").Problem);
  EXPECT_FALSE(
      decode(vendor(), "event: new\ndata: {\"type\":\"new\"}\n\n").Problem);
  // Every value of another type than the protocol says.
  for (const char *Data :
       {R"({"type":[],"choices":7,"candidates":{},"response":[]})",
        R"({"type":"message_delta","delta":3,"usage":[]})",
        R"({"type":"response.completed","response":null})",
        R"({"choices":[{"delta":{"content":{}},"finish_reason":{}}]})",
        R"({"candidates":[{"content":{"parts":[3,{"text":null}]}}]})"})
    EXPECT_EQ(decode(vendor(), std::string("data: ") + Data + "\n\n").Text, "");
  // As deep as a stack.
  std::string Deep =
      "{\"x\":" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_FALSE(decode(vendor(), "data: " + Deep + "\n\n").Complete);
}

TEST_P(DialectTest, ErrorsInsideOfAStream) {
  std::string Type = vendor().Name[0] == 'o' || vendor().Name[0] == 'g'
                         ? R"("code":"server_is_overloaded",)"
                         : "";
  Answer A = decode(vendor(), "data: {\"type\":\"error\"," + Type +
                                  "\"error\":{\"type\":\"overloaded_error\","
                                  "\"message\":\"busy\"}}\n\n");
  ASSERT_TRUE(A.Problem);
  EXPECT_EQ(A.Problem->Kind, FaultKind::Overloaded);
  EXPECT_EQ(A.Problem->Message, "busy");
  EXPECT_TRUE(A.Problem->mayRetry());
}

TEST_P(DialectTest, EveryRequestStreamsAndSaysWhatWasApplied) {
  std::vector<std::string> Applied;
  CallShape S = shape();
  json B = body(request(), S, &Applied);
  std::string Path = vendor().Make().encode(request(), S).Path;
  EXPECT_TRUE(B.value("stream", false) ||
              Path.find("streamGenerateContent?alt=sse") != std::string::npos);
  EXPECT_EQ(Applied, (std::vector<std::string>{"temperature=0.8",
                                               "schema=not applied"}));
  EXPECT_NE(B.dump().find("0.8"), std::string::npos);
  // Nothing of it when the model takes neither.
  S.Temperature = false;
  S.Schema = true;
  B = body(request(), S, &Applied);
  EXPECT_EQ(Applied,
            (std::vector<std::string>{"temperature=not applied", "schema"}));
  EXPECT_EQ(B.dump().find("emperature"), std::string::npos);
}

TEST_P(DialectTest, TheSchemaStandsWhereTheVendorWantsIt) {
  CallShape S = shape();
  S.Schema = true;
  json B = body(request(), S);
  json Schema = {{"type", "object"}};
  json Named = {{"name", "answer"}, {"strict", true}, {"schema", Schema}};
  json Flat = Named;
  Flat["type"] = "json_schema";
  std::string Name = vendor().Name;
  if (Name == "anthropic")
    EXPECT_EQ(B["output_config"]["format"],
              json({{"type", "json_schema"}, {"schema", Schema}}));
  else if (Name == "gemini")
    EXPECT_EQ(B["generationConfig"]["responseJsonSchema"], Schema);
  else if (B.contains("messages"))
    EXPECT_EQ(B["response_format"],
              json({{"type", "json_schema"}, {"json_schema", Named}}));
  else
    EXPECT_EQ(B["text"]["format"], Flat);
}

TEST_P(DialectTest, TheModelsOwnLimitHolds) {
  CallShape S = shape();
  S.MaxOutputTokens = 300;
  std::string Text = body(request(), S).dump();
  EXPECT_NE(Text.find("300"), std::string::npos);
  EXPECT_EQ(Text.find("5000"), std::string::npos);
}

TEST_P(DialectTest, ItsNameFindsIt) {
  EXPECT_EQ(vendor().Make().facts().Name, vendor().Name);
  EXPECT_EQ(findDialect(vendor().Name), &vendor().Make());
  EXPECT_EQ(dialects().size(), std::size(Vendors)) << "one is not tested";
  EXPECT_EQ(findDialect("soap"), nullptr);
}

// An address may be given with its version or without, and with a slash.
TEST_P(DialectTest, AddressesAreTakenAsTheyAreGiven) {
  const Dialect &D = vendor().Make();
  std::string Version =
      std::string(vendor().Name) == "gemini" ? "/v1beta" : "/v1";
  std::string Models = "https://host" + Version + "/models";
  for (const std::string &Given :
       {std::string("https://host"), std::string("https://host/"),
        "https://host" + Version, "https://host" + Version + "/"})
    EXPECT_EQ(D.baseUrl(Given) + D.facts().ModelsPath.str(), Models) << Given;
}

INSTANTIATE_TEST_SUITE_P(Vendors, DialectTest, ::testing::Range<size_t>(0, 4),
                         [](const auto &Info) {
                           std::string Name = Vendors[Info.param].Name;
                           std::replace(Name.begin(), Name.end(), '-', '_');
                           return Name;
                         });

TEST(AnthropicTest, MarksEndTheStablePrefix) {
  ChatRequest R;
  R.System = "sys";
  R.Messages = {{ChatMessage::Speaker::User, "stable\xC3\xA9moving"}};
  CallShape S;
  S.ApiVersion = "2023-06-01";
  // In the middle of a character: before it.
  R.StablePrefix = 3 + 7;
  json B = json::parse(anthropicDialect().encode(R, S).Body);
  const json &Blocks = B["messages"][0]["content"];
  ASSERT_EQ(Blocks.size(), 2u);
  EXPECT_EQ(Blocks[0]["text"], "stable");
  EXPECT_EQ(Blocks[0]["cache_control"]["type"], "ephemeral");
  EXPECT_EQ(Blocks[1]["text"], "\xC3\xA9moving");
  EXPECT_FALSE(Blocks[1].contains("cache_control"));
  EXPECT_FALSE(B["system"][0].contains("cache_control"));
  // The system prompt alone.
  R.StablePrefix = 3;
  B = json::parse(anthropicDialect().encode(R, S).Body);
  EXPECT_TRUE(B["system"][0].contains("cache_control"));
  EXPECT_EQ(B["messages"][0]["content"].size(), 1u);
  S.CacheMarks = false;
  EXPECT_EQ(anthropicDialect().encode(R, S).Body.find("cache_control"),
            std::string::npos);
}

TEST(AnthropicTest, ARefusalSaysItsCategory) {
  Answer A = decode(
      Vendors[0],
      event(
          "message_delta",
          R"({"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":"frontier_llm"}}})") +
          event("message_stop", R"({"type":"message_stop"})"));
  EXPECT_TRUE(A.Complete);
  EXPECT_EQ(A.Stop, StopReason::Refusal);
  EXPECT_EQ(A.StopDetail, "refusal: frontier_llm");
}

TEST(OpenAITest, AnEmptyAnswerThatEndedForItsLength) {
  Answer A = decode(
      Vendors[1],
      event(
          "",
          R"({"choices":[{"delta":{"content":null},"finish_reason":"length"}]})"));
  EXPECT_TRUE(A.Complete);
  EXPECT_EQ(A.Text, "");
  EXPECT_EQ(A.Stop, StopReason::Length);
  EXPECT_FALSE(A.Tokens.Input);
}
