//===- FaultTest.cpp - What a failure means -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <map>

using namespace stark;

static Fault
fault(long Status, const char *Body,
      std::vector<std::pair<std::string, std::string>> Headers = {}) {
  HttpAnswer A;
  A.Status = Status;
  A.Headers = std::move(Headers);
  static const Secret Key("marked-key");
  return faultOfAnswer(A, Body, Key);
}

namespace {
struct Case {
  long Status;
  const char *Body;
  FaultKind Kind;
  bool Retry;
  const char *Parameter;
};
} // namespace

TEST(FaultTest, TheBodyDecidesAndTheStatusWhereItIsSilent) {
  const Case Cases[] = {
      {429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"m"}})",
       FaultKind::RateLimit, true, ""},
      {429,
       R"({"error":{"type":"rate_limit_error","message":"m","details":{"error_code":"contract_spend_limit_reached"}}})",
       FaultKind::SpendLimit, false, ""},
      {429,
       R"({"error":{"type":"insufficient_quota","code":"credit_balance_exhausted","message":"m"}})",
       FaultKind::SpendLimit, false, ""},
      {429,
       R"({"error":{"type":"requests","code":"rate_limit_exceeded","message":"m"}})",
       FaultKind::RateLimit, true, ""},
      {400,
       R"({"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}})",
       FaultKind::SpendLimit, false, ""},
      {400,
       R"({"error":{"type":"invalid_request_error","message":"temperature: Extra inputs are not permitted"}})",
       FaultKind::BadRequest, false, "temperature"},
      {400,
       R"({"error":{"message":"Unsupported parameter: 'max_tokens'","code":"unsupported_parameter","param":"max_tokens"}})",
       FaultKind::BadRequest, false, "max_tokens"},
      {400,
       R"({"error":{"message":"m","code":"context_length_exceeded","param":"messages"}})",
       FaultKind::ContextOverflow, false, "messages"},
      {400,
       R"({"object":"error","message":"This model's maximum context length is 4096 tokens","code":400})",
       FaultKind::ContextOverflow, false, ""},
      {529, R"({"error":{"type":"overloaded_error","message":"m"}})",
       FaultKind::Overloaded, true, ""},
      {503,
       R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
       FaultKind::Server, true, ""},
      {503, "upstream connect error", FaultKind::Server, true, ""},
      {502, "<html><body>Bad Gateway</body></html>", FaultKind::Server, true,
       ""},
      {500, R"({"error":"text"})", FaultKind::Server, true, ""},
      {422, R"({"detail":[{"loc":["body"],"msg":"m"}]})", FaultKind::BadRequest,
       false, ""},
      {401, R"({"error":{"type":"authentication_error","message":"m"}})",
       FaultKind::Authentication, false, ""},
      {403, "", FaultKind::Authentication, false, ""},
      {404, R"({"error":{"type":"not_found_error","message":"model: x"}})",
       FaultKind::NotFound, false, ""},
      {302, "", FaultKind::NotFound, false, ""},
      {402, "", FaultKind::SpendLimit, false, ""},
      {408, "", FaultKind::Server, true, ""},
      {429,
       R"({"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"46s"}]}})",
       FaultKind::RateLimit, true, ""},
      {418, "{}", FaultKind::BadRequest, false, ""},
  };
  for (const Case &C : Cases) {
    Fault F = fault(C.Status, C.Body);
    EXPECT_EQ(int(F.Kind), int(C.Kind)) << C.Status << " " << C.Body;
    EXPECT_EQ(F.mayRetry(), C.Retry) << C.Status << " " << C.Body;
    EXPECT_EQ(F.Parameter, C.Parameter) << C.Status << " " << C.Body;
  }
}

TEST(FaultTest, WhenToComeAgain) {
  EXPECT_EQ(parseRetryAfter("7", 0), 7000u);
  EXPECT_EQ(parseRetryAfter("1.5", 0), 1500u);
  EXPECT_EQ(parseRetryAfter("Thu, 01 Jan 1970 00:01:40 GMT", 70), 30000u);
  EXPECT_EQ(parseRetryAfter("Thu, 01 Jan 1970 00:01:40 GMT", 200),
            std::nullopt);
  for (const char *Bad : {"", "-3", "0", "nan", "inf", "soon", "1e999"})
    EXPECT_EQ(parseRetryAfter(Bad, 0), std::nullopt) << Bad;
  EXPECT_EQ(parseRetryAfter("1e12", 0), 86400000u);
  EXPECT_EQ(fault(429, "", {{"retry-after-ms", "250"}, {"retry-after", "9"}})
                .RetryAfterMs,
            250u);
  EXPECT_EQ(fault(429, R"({"error":{"details":[{"retryDelay":"46s"}]}})")
                .RetryAfterMs,
            46000u);
}

TEST(FaultTest, TheServersWordOnRetrying) {
  EXPECT_FALSE(fault(503, "", {{"x-should-retry", "false"}}).mayRetry());
}

TEST(FaultTest, MessagesAreOneLineWithoutKeysAndShort) {
  Fault F = fault(401, R"({"error":{"message":"bad\nkey marked-key\u0000!"}})",
                  {{"request-id", "req_1"}});
  EXPECT_EQ(F.describe(), "HTTP 401: bad key [redacted] ! (request req_1)");
  std::string Long(5000, 'x');
  EXPECT_LE(fault(500, Long.c_str()).Message.size(), 500u);
  EXPECT_EQ(fault(502, "<html><b>Bad</b> <i>Gateway</i>").Message,
            "Bad Gateway");
}

// Which part of a request was refused, by the name that the server gives or by
// what its message says.
TEST(FaultTest, WhatWasRefused) {
  auto ByName = [](std::string Parameter) {
    return fault(400,
                 (R"({"error":{"message":"m","param":")" + Parameter + R"("}})")
                     .c_str())
        .Refused;
  };
  EXPECT_EQ(ByName("temperature"), Feature::Temperature);
  EXPECT_EQ(ByName("max_tokens"), Feature::OutputLimit);
  EXPECT_EQ(ByName("stream_options.include_usage"), Feature::StreamOptions);
  EXPECT_EQ(ByName("response_format.json_schema"), Feature::Schema);
  EXPECT_EQ(ByName("text"), Feature::Schema);
  EXPECT_EQ(ByName("text.format.schema"), Feature::Schema);
  EXPECT_EQ(ByName("messages[0].content.1.cache_control"), Feature::CacheMarks);
  for (const char *Other : {"messages", "top_k", "temperatures", "context"})
    EXPECT_FALSE(ByName(Other)) << Other;

  auto ByMessage = [](std::string Message) {
    Fault F =
        fault(400, (R"({"error":{"message":")" + Message + R"("}})").c_str());
    EXPECT_EQ(F.Refused.has_value(), !F.Parameter.empty());
    return std::pair(F.Refused, F.Parameter);
  };
  using Said = std::pair<std::optional<Feature>, std::string>;
  // The first that is named: the second one is advice.
  EXPECT_EQ(ByMessage("'max_tokens' is not supported, use "
                      "'max_completion_tokens'"),
            Said(Feature::OutputLimit, "max_tokens"));
  EXPECT_EQ(ByMessage("cache_control: Extra inputs are not permitted"),
            Said(Feature::CacheMarks, "cache_control"));
  EXPECT_EQ(ByMessage("Failed to parse Grammar"),
            Said(Feature::Schema, "response_format"));
  EXPECT_EQ(ByMessage("the text is wrong"), Said(std::nullopt, ""));
}

// A word means the same whichever of the vendors says it, and only one thing.
TEST(FaultTest, NoWordMeansTwoThings) {
  std::map<std::string, FaultKind> Codes;
  std::map<std::string, Feature> Fields;
  for (const Dialect *D : dialects()) {
    for (const FaultWords::Code &C : D->facts().Errors.Codes)
      for (llvm::StringRef Word : llvm::split(C.Words, ' '))
        EXPECT_EQ(Codes.try_emplace(Word.str(), C.Means).first->second, C.Means)
            << Word.str();
    for (const FaultWords::Field &F : D->facts().Errors.Fields)
      for (llvm::StringRef Name : llvm::split(F.Names, ' '))
        EXPECT_EQ(Fields.try_emplace(Name.str(), F.Of).first->second, F.Of)
            << Name.str();
  }
  EXPECT_FALSE(Codes.empty());
  EXPECT_FALSE(Fields.empty());
  // Two blanks would make an empty word, which every message has.
  EXPECT_FALSE(Codes.count(""));
  EXPECT_FALSE(Fields.count(""));
}
