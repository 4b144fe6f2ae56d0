//===- FaultTest.cpp - What a failure means -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fault.h"
#include <gtest/gtest.h>

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
