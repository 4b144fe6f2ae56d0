//===- TranscriptTest.cpp - Requests and replies as text ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Formats.h"
#include "stark/Support/Error.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace stark;

static ChatRequest request() {
  ChatRequest R;
  R.Id = "0007-code-1";
  R.Role = "code";
  R.System = "You write kernels.";
  R.Messages = {{ChatMessage::Speaker::User, "Make it faster."}};
  R.Temperature = 0.1;
  return R;
}

// The digest covers all that can change an answer, and nothing else.
TEST(Request, DigestCoversWhatIsSent) {
  ChatRequest Base = request(), Other = request();
  Other.Id = "0008-code-2";
  Other.StablePrefix = 12;
  EXPECT_EQ(Base.digest(), Other.digest());
  auto Differs = [&](auto Change) {
    ChatRequest R = request();
    Change(R);
    return R.digest() != Base.digest();
  };
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.Role = "debug"; }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.System += "."; }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.Messages[0].Text += "."; }));
  EXPECT_TRUE(Differs([](ChatRequest &R) {
    R.Messages[0].Who = ChatMessage::Speaker::Assistant;
  }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.Temperature = 0.2; }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.Temperature.reset(); }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.MaxOutputTokens = 1; }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.ResponseSchema = "{}"; }));
  EXPECT_TRUE(Differs([](ChatRequest &R) { R.InsteadOfTemperature = "x"; }));
  // Text may not move between messages unseen.
  EXPECT_TRUE(Differs([](ChatRequest &R) {
    R.Messages = {{ChatMessage::Speaker::User, "Make it"},
                  {ChatMessage::Speaker::User, " faster."}};
  }));
}

TEST(Request, FilesAreNamedByIdAndDigest) {
  ChatRequest R = request();
  EXPECT_EQ(requestFileStem(R), "0007-code-1-" + R.digest().substr(0, 12));
}

// A reader sees the whole conversation and where the answer goes.
TEST(Request, MarkdownHoldsTheConversation) {
  ChatRequest R = request();
  R.Messages.push_back({ChatMessage::Speaker::Assistant, "Here."});
  R.Messages.push_back({ChatMessage::Speaker::User, "This cannot be used."});
  std::string Text = printRequestMarkdown(R), Digest = R.digest();
  size_t At = 0;
  for (const char *Part :
       {"# Request 0007-code-1", Digest.c_str(), "temperature: 0.1",
        "../answers/0007-code-1-", "= system =", "You write kernels.",
        "= user =", "Make it faster.", "= assistant =", "Here.",
        "= user =", "This cannot be used.", "= end"}) {
    size_t Found = Text.find(Part, At);
    ASSERT_NE(Found, std::string::npos) << Part;
    At = Found;
  }
}

TEST(Request, JsonHoldsEverything) {
  nlohmann::json J =
      nlohmann::json::parse(printRequestJson(request()), nullptr, false);
  ASSERT_TRUE(J.is_object());
  EXPECT_EQ(J["digest"], request().digest());
  EXPECT_EQ(J["system"], "You write kernels.");
  EXPECT_EQ(J["messages"][0]["role"], "user");
  EXPECT_EQ(J["messages"][0]["content"], "Make it faster.");
  EXPECT_EQ(J["temperature"], 0.1);
  EXPECT_EQ(J["max_output_tokens"], 16000);
}

static std::string problemOf(const std::string &Json, ChatReply &R) {
  return readFields(nlohmann::json::parse(Json, nullptr, false), "journal:3",
                    "", R);
}

TEST(Reply, IsReadBackAsItWas) {
  ChatReply R;
  R.Text = "the text itself";
  R.Stop = StopReason::Refusal;
  R.StopDetail = "refusal: policy";
  R.Provider = "anthropic";
  R.Model = "some-model";
  R.Tokens.Input = 12;
  R.Tokens.Reasoning = 0;
  R.Applied = {"temperature=not applied"};
  R.CostMicroUsd = 1234;
  R.WallMs = 99;
  std::string Printed = printReply(R);
  EXPECT_EQ(Printed.find("the text itself"), std::string::npos);
  ChatReply Back;
  ASSERT_EQ(problemOf(Printed, Back), "");
  EXPECT_EQ(printReply(Back), Printed);
  EXPECT_EQ(Back.Text, "");
  EXPECT_EQ(Back.Stop, StopReason::Refusal);
  EXPECT_EQ(Back.Tokens.Input, 12u);
  EXPECT_EQ(Back.Tokens.Reasoning, 0u);
  EXPECT_FALSE(Back.Tokens.Output) << "unknown is not 0";
  EXPECT_EQ(Back.CostMicroUsd, 1234);
}

TEST(Reply, DamageIsNamed) {
  auto Problem = [](const std::string &Json) {
    ChatReply R;
    return problemOf(Json, R);
  };
  EXPECT_EQ(Problem("{"),
            "journal:3: field '': got <discarded>, wanted an object");
  EXPECT_EQ(Problem("[]"), "journal:3: field '': got [], wanted an object");
  std::string Good = printReply(ChatReply());
  std::string Bad = Good;
  Bad.replace(Bad.find("\"end\""), 5, "\"why\"");
  EXPECT_EQ(Problem(Bad),
            "journal:3: field 'stop': got 'why', wanted end, length, refusal, "
            "context-overflow or other");
  Bad = Good;
  Bad.replace(Bad.find("\"usage\":{}"), 10, "\"usage\":{\"input\":-1}");
  EXPECT_EQ(Problem(Bad), "journal:3: field 'usage.input': got -1, wanted an "
                          "integer of 0 or more");
}

// What was thrown away is kept beside what counts, and left out when nothing
// was.
TEST(Reply, DiscardedAnswersAreKept) {
  ChatReply R;
  R.Provider = "p";
  EXPECT_EQ(printReply(R).find("discarded"), std::string::npos);
  R.Discarded = {2, 300, 40, true, 1234};
  ChatReply Back, Bad;
  ASSERT_EQ(problemOf(printReply(R), Back), "");
  EXPECT_EQ(Back.Discarded.Answers, 2u);
  EXPECT_EQ(Back.Discarded.Input, 300u);
  EXPECT_EQ(Back.Discarded.Output, 40u);
  EXPECT_TRUE(Back.Discarded.Estimated);
  EXPECT_EQ(Back.Discarded.CostMicroUsd, 1234);
  std::string Text = printReply(R);
  Text.replace(Text.find("\"answers\":2"), 11, "\"answers\":0");
  EXPECT_EQ(problemOf(Text, Bad),
            "journal:3: field 'discarded.answers': got 0, wanted 1 to 1000");
}
