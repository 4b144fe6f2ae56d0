//===- Fault.cpp - Why a provider did not answer -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "stark/Json/Find.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <ctime>
#include <curl/curl.h>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

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

static std::optional<FaultKind> kindOfCode(llvm::StringRef Word) {
  for (const Dialect *D : dialects())
    for (const FaultWords::Code &C : D->facts().Errors.Codes)
      if (llvm::is_contained(llvm::split(C.Words, ' '), Word))
        return C.Means;
  return std::nullopt;
}

static std::optional<FaultKind> kindOfMessage(llvm::StringRef Message) {
  for (const Dialect *D : dialects())
    for (const FaultWords::Phrase &P : D->facts().Errors.Phrases)
      if (Message.contains_insensitive(P.Text))
        return P.Means;
  return std::nullopt;
}

/// The code decides where there is one: vendors use one status for several.
static FaultKind kindOf(long Status, llvm::StringRef Code, llvm::StringRef Type,
                        llvm::StringRef Message) {
  for (llvm::StringRef Word : {Code, Type})
    if (std::optional<FaultKind> Known = kindOfCode(Word))
      return *Known;
  switch (Status) {
  case 400:
  case 413:
  case 422:
    return kindOfMessage(Message).value_or(FaultKind::BadRequest);
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
  default:
    if (std::optional<FaultKind> Known = kindOfCode(std::to_string(Status)))
      return *Known;
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

/// "messages.0.cache_control.ttl" is in the field "cache_control".
static bool isIn(llvm::StringRef Parameter, llvm::StringRef Field) {
  for (size_t At = Parameter.find(Field); At != llvm::StringRef::npos;
       At = Parameter.find(Field, At + 1)) {
    llvm::StringRef After = Parameter.substr(At + Field.size());
    if ((At == 0 || Parameter[At - 1] == '.') &&
        (After.empty() || After[0] == '.' || After[0] == '['))
      return true;
  }
  return false;
}

static std::optional<Feature> featureOf(llvm::StringRef Parameter) {
  for (const Dialect *D : dialects())
    for (const FaultWords::Field &F : D->facts().Errors.Fields)
      for (llvm::StringRef Name : llvm::split(F.Names, ' '))
        if (isIn(Parameter, Name))
          return F.Of;
  return std::nullopt;
}

/// "temperature: Extra inputs are not permitted", "`temperature` is deprecated
/// for this model.", "Unsupported parameter: 'max_tokens' ...": the first
/// parameter that is named.
static void findRefused(llvm::StringRef Message, Fault &F) {
  size_t First = llvm::StringRef::npos;
  for (const Dialect *D : dialects())
    for (const FaultWords::Field &Known : D->facts().Errors.Fields)
      for (llvm::StringRef Name : llvm::split(Known.Names, ' '))
        if (size_t At = Message.find(Name); Known.InMessages && At < First) {
          First = At;
          F.Parameter = Name.str();
          F.Refused = Known.Of;
        }
  if (F.Refused)
    return;
  for (const Dialect *D : dialects())
    for (const FaultWords::Hint &H : D->facts().Errors.Hints)
      if (Message.contains_insensitive(H.Text)) {
        F.Parameter = H.Field.str();
        F.Refused = H.Of;
        return;
      }
}

static ErrorObject readError(const json &Body) {
  ErrorObject E;
  const json *Error = valueAt(Body, "/error");
  // Gemini sends an array of one error now and then.
  if (!Error)
    Error = valueAt(Body, "/0/error");
  if (Error && Error->is_object()) {
    E.Type = wordAt(*Error, "/type");
    E.Code = wordAt(*Error, "/code");
    E.Message = wordAt(*Error, "/message");
    E.Parameter = wordAt(*Error, "/param");
    for (const Dialect *D : dialects())
      D->readError(*Error, E);
  } else if (Error && Error->is_string()) {
    E.Message = textAt(*Error, "");
  } else {
    // {"detail": ...}, {"object": "error", "message": ...}, a flat event.
    E.Message = wordAt(Body, "/message");
    E.Code = wordAt(Body, "/code");
    E.Parameter = wordAt(Body, "/param");
    const json *Detail = valueAt(Body, "/detail");
    if (E.Message.empty() && Detail)
      E.Message = Detail->is_string() ? textAt(*Detail, "") : dumpJson(*Detail);
  }
  return E;
}

Fault stark::faultOfBody(const json &Body, const Secret &Key) {
  ErrorObject E = readError(Body);
  Fault F;
  F.Kind = kindOf(0, E.Code, E.Type, E.Message);
  F.RetryAfterMs = E.RetryAfterMs;
  F.Parameter = E.Parameter;
  if (F.Parameter.empty())
    findRefused(E.Message, F);
  else
    F.Refused = featureOf(F.Parameter);
  F.Message = tidy(E.Message, Key);
  // A number says less than a type.
  bool Number = llvm::all_of(E.Code, llvm::isDigit);
  F.Code = tidy(Number && !E.Type.empty() ? E.Type : E.Code, Key);
  F.RequestId = tidy(wordAt(Body, "/request_id"), Key);
  return F;
}

std::string stark::requestIdOf(const HttpAnswer &Answer, const Secret &Key) {
  for (const Dialect *D : dialects())
    if (llvm::StringRef Name = D->facts().Errors.RequestId; !Name.empty())
      if (llvm::StringRef Id = Answer.header(Name); !Id.empty())
        return tidy(Id, Key);
  return "";
}

Fault stark::faultOfAnswer(const HttpAnswer &Answer, llvm::StringRef Body,
                           const Secret &Key) {
  const json Parsed = json::parse(Body.begin(), Body.end(), nullptr, false);
  Fault F;
  if (Parsed.is_structured()) {
    F = faultOfBody(Parsed, Key);
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
  if (F.RequestId.empty())
    F.RequestId = requestIdOf(Answer, Key);
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
  static constexpr std::pair<HttpEnd, FaultKind> Kinds[] = {
      {HttpEnd::Cancelled, FaultKind::Cancelled},
      {HttpEnd::Timeout, FaultKind::Timeout},
      {HttpEnd::Network, FaultKind::Network},
      {HttpEnd::Security, FaultKind::Authentication},
      {HttpEnd::TooLarge, FaultKind::TooLarge},
  };
  Fault F;
  F.Message = Result.Message;
  for (const auto &[End, Kind] : Kinds)
    if (End == Result.End)
      F.Kind = Kind;
  return F;
}
