//===- Fault.cpp - Why a provider did not answer -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fault.h"
#include "JsonView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <ctime>
#include <curl/curl.h>

using namespace stark;

/// Error codes and types of an account that has spent what it may. Sources: the
/// Anthropic API's "Errors" and OpenAI's "Error codes", as of 2026-08.
static constexpr llvm::StringLiteral SpendCodes[] = {
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "organization_on_hold",
    "billing_error",
    "billing_hard_limit_reached"};

static constexpr llvm::StringLiteral OverflowCodes[] = {
    "context_length_exceeded", "exceed_context_size_error",
    "string_above_max_length"};

bool Fault::mayRetry() const {
  switch (Kind) {
  case FaultKind::RateLimit:
  case FaultKind::Overloaded:
  case FaultKind::Server:
  case FaultKind::Timeout:
  case FaultKind::Network:
  case FaultKind::Protocol:
    return true;
  default:
    return false;
  }
}

std::string Fault::describe() const {
  std::string Text;
  auto Part = [&](const std::string &P, const char *Before) {
    if (!P.empty())
      Text += (Text.empty() ? "" : Before) + P;
  };
  if (Status)
    Part("HTTP " + std::to_string(Status), "");
  Part(Code, ", ");
  Part(Message, ": ");
  if (!RequestId.empty())
    Text += " (request " + RequestId + ")";
  return Text;
}

std::optional<uint64_t> stark::parseRetryAfter(llvm::StringRef Value,
                                               int64_t Now) {
  Value = Value.trim();
  double Seconds = 0;
  if (Value.empty())
    return std::nullopt;
  if (Value.getAsDouble(Seconds)) {
    time_t Then = curl_getdate(Value.str().c_str(), nullptr);
    if (Then == -1)
      return std::nullopt;
    Seconds = double(Then) - double(Now);
  }
  if (!std::isfinite(Seconds) || Seconds <= 0)
    return std::nullopt;
  // A day is as good as never.
  return uint64_t(std::min(Seconds, 86400.0) * 1000 + 0.5);
}

/// The code decides where there is one: vendors use one status for several.
static FaultKind kindOf(long Status, llvm::StringRef Code, llvm::StringRef Type,
                        llvm::StringRef Message) {
  for (llvm::StringRef Word : {Code, Type}) {
    if (llvm::is_contained(SpendCodes, Word))
      return FaultKind::SpendLimit;
    if (llvm::is_contained(OverflowCodes, Word))
      return FaultKind::ContextOverflow;
    if (Word == "overloaded_error" || Word == "server_is_overloaded")
      return FaultKind::Overloaded;
    if (Word == "rate_limit_error" || Word == "rate_limit_exceeded" ||
        Word == "slow_down" || Word == "RESOURCE_EXHAUSTED")
      return FaultKind::RateLimit;
    if (Word == "api_error" || Word == "server_error" ||
        Word == "timeout_error")
      return FaultKind::Server;
    if (Word == "authentication_error" || Word == "permission_error" ||
        Word == "invalid_api_key")
      return FaultKind::Authentication;
    if (Word == "not_found_error" || Word == "model_not_found")
      return FaultKind::NotFound;
  }
  std::string Said = Message.lower();
  bool TooLong = llvm::StringRef(Said).contains("prompt is too long") ||
                 llvm::StringRef(Said).contains("context length") ||
                 llvm::StringRef(Said).contains("context window") ||
                 llvm::StringRef(Said).contains("context size");
  switch (Status) {
  case 400:
  case 413:
  case 422:
    if (TooLong)
      return FaultKind::ContextOverflow;
    return llvm::StringRef(Said).contains("credit balance") ||
                   llvm::StringRef(Said).contains("usage limit")
               ? FaultKind::SpendLimit
               : FaultKind::BadRequest;
  case 401:
  case 403:
    return FaultKind::Authentication;
  case 402:
    return FaultKind::SpendLimit;
  case 404:
  case 405:
    return FaultKind::NotFound;
  case 408:
  case 409:
  case 425:
    return FaultKind::Server;
  case 429:
    return FaultKind::RateLimit;
  case 529:
    return FaultKind::Overloaded;
  default:
    if (Status >= 500)
      return FaultKind::Server;
    return Status >= 400 ? FaultKind::BadRequest : FaultKind::Protocol;
  }
}

/// One line of at most 500 bytes, as a person may read it.
static std::string tidy(llvm::StringRef Text, const Secret &Key) {
  std::string Line;
  for (char C : Text.take_front(4000)) {
    bool Blank = static_cast<unsigned char>(C) < ' ' || C == ' ' || C == 127;
    if (!Blank)
      Line += C;
    else if (!Line.empty() && Line.back() != ' ')
      Line += ' ';
  }
  Line = redact(llvm::StringRef(Line).trim(), Key);
  return Line.size() > 500 ? Line.substr(0, 497) + "..." : Line;
}

/// What a page says without its tags.
static std::string withoutTags(llvm::StringRef Html) {
  std::string Text;
  bool InTag = false;
  for (char C : Html.take_front(4000)) {
    if (C == '<')
      InTag = true;
    else if (C == '>') {
      InTag = false;
      Text += ' ';
    } else if (!InTag)
      Text += C;
  }
  return Text;
}

/// "temperature: Extra inputs are not permitted", "`temperature` is deprecated
/// for this model.", "Unsupported parameter: 'max_tokens' ...": the parameter.
static std::string refusedParameter(llvm::StringRef Message) {
  for (llvm::StringRef Name :
       {"max_completion_tokens", "max_tokens", "temperature", "stream_options",
        "response_format", "output_config", "cache_control", "text.format",
        "responseJsonSchema"})
    if (Message.contains(Name))
      return Name.str();
  // Gemini's own spelling, and what servers say whose grammar cannot hold it.
  for (llvm::StringRef Words : {"response_json_schema", "json_schema",
                                "JSON schema", "structured output", "grammar"})
    if (Message.contains_insensitive(Words))
      return "response_format";
  return "";
}

Fault stark::faultOfBody(JsonView Body, const Secret &Key) {
  Fault F;
  JsonView Error = Body.at("error");
  // Gemini sends an array of one error now and then.
  if (!Error)
    Error = Body.at("0/error");
  std::string Type, Message;
  if (Error.isObject()) {
    Type = Error.word("type");
    if (Type.empty())
      Type = Error.word("status");
    F.Code = Error.word("details/error_code");
    if (F.Code.empty())
      F.Code = Error.word("code");
    Message = Error.word("message");
    F.Parameter = Error.word("param");
    // google.rpc.RetryInfo: "46s".
    for (JsonView Detail : Error.at("details").elements()) {
      std::string Delay = Detail.text("retryDelay");
      llvm::StringRef Number = Delay;
      if (Number.consume_back("s"))
        F.RetryAfterMs = parseRetryAfter(Number, 0);
    }
  } else if (Error.isText()) {
    Message = Error.text();
  } else {
    // {"detail": ...}, {"object": "error", "message": ...}, a flat event.
    Message = Body.word("message");
    F.Code = Body.word("code");
    F.Parameter = Body.word("param");
    if (Message.empty())
      Message = Body.at("detail").isText() ? Body.text("detail")
                                           : Body.at("detail").print();
  }
  F.Kind = kindOf(0, F.Code, Type, Message);
  bool Number = llvm::all_of(F.Code, llvm::isDigit);
  if (Number && !Type.empty())
    F.Code = Type;
  if (F.Parameter.empty())
    F.Parameter = refusedParameter(Message);
  F.Message = tidy(Message, Key);
  F.Code = tidy(F.Code, Key);
  F.RequestId = tidy(Body.word("request_id"), Key);
  return F;
}

Fault stark::faultOfAnswer(const HttpAnswer &Answer, llvm::StringRef Body,
                           const Secret &Key) {
  JsonDocument Parsed(Body);
  Fault F;
  if (Parsed.root().isStructured()) {
    F = faultOfBody(Parsed.root(), Key);
    // The status says what the body's words leave open.
    if (F.Kind == FaultKind::Protocol)
      F.Kind = kindOf(Answer.Status, F.Code, "", F.Message);
  } else {
    bool Html = Body.ltrim().starts_with("<");
    F.Message = tidy(Html ? withoutTags(Body) : Body.str(), Key);
    F.Kind = kindOf(Answer.Status, "", "", F.Message);
  }
  if (Answer.Status >= 300 && Answer.Status < 400) {
    F.Kind = FaultKind::NotFound;
    F.Message = "the server redirects, which is not followed: the base URL is "
                "not the API's";
  }
  F.Status = Answer.Status;
  for (llvm::StringRef Name : {"request-id", "x-request-id"})
    if (F.RequestId.empty())
      F.RequestId = tidy(Answer.header(Name), Key);
  double Ms = 0;
  if (llvm::StringRef Value = Answer.header("retry-after-ms");
      !Value.empty() && !Value.getAsDouble(Ms) && Ms > 0 && Ms < 8.64e7)
    F.RetryAfterMs = uint64_t(Ms + 0.5);
  else if (auto After =
               parseRetryAfter(Answer.header("retry-after"), time(nullptr)))
    F.RetryAfterMs = After;
  // The server's own word on whether to come again.
  if (Answer.header("x-should-retry") == "false" && F.mayRetry())
    F.Kind = FaultKind::BadRequest;
  return F;
}

Fault stark::faultOfTransfer(const HttpResult &Result) {
  Fault F;
  F.Message = Result.Message;
  switch (Result.End) {
  case HttpEnd::Cancelled:
    F.Kind = FaultKind::Cancelled;
    break;
  case HttpEnd::Timeout:
    F.Kind = FaultKind::Timeout;
    break;
  case HttpEnd::Network:
    F.Kind = FaultKind::Network;
    break;
  case HttpEnd::Security:
    F.Kind = FaultKind::Authentication;
    break;
  case HttpEnd::TooLarge:
    F.Kind = FaultKind::TooLarge;
    break;
  default:
    F.Kind = FaultKind::Protocol;
  }
  return F;
}
