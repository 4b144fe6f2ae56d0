//===- HttpTry.cpp - A request, asked once --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpClient.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"

using namespace stark;

/// With words in place of a temperature that is not sent.
static ChatRequest inWords(const ChatRequest &Request, const CallShape &Used) {
  ChatRequest R = Request;
  if (R.Temperature && !Used.Temperature && !R.InsteadOfTemperature.empty() &&
      !R.Messages.empty())
    R.Messages.front().Text += "\n\n" + R.InsteadOfTemperature;
  return R;
}

static bool isStream(const HttpAnswer &A) {
  return A.Status == 200 &&
         A.header("content-type").starts_with_insensitive("text/event-stream");
}

/// Why there is no answer to be had of \p Got, if so.
static std::optional<Fault> problemOf(const Answer &Got,
                                      const HttpResult &Result,
                                      llvm::StringRef Body, const Secret &Key) {
  // The stream's own error says more than the transfer's.
  if (Got.Problem)
    return Got.Problem;
  // Whole by the protocol, whatever became of the connection then.
  if (Got.Complete)
    return std::nullopt;
  if (Result.Answer.Status != 200 && Result.Answer.Status != 0)
    return faultOfAnswer(Result.Answer, Body, Key);
  if (Result.End != HttpEnd::Done)
    return faultOfTransfer(Result);
  Fault F;
  F.Kind = FaultKind::Protocol;
  F.Message = "the answer ended before the protocol says that it is whole (" +
              std::to_string(Got.Text.size()) + " bytes of text came)";
  return F;
}

Try stark::tryOnce(const Endpoint &At, const ChatRequest &Request,
                   const CallShape &Shape, const CallControl &Control,
                   uint64_t LeftMs) {
  const ProviderSettings &Settings = At.Settings;
  Try T;
  T.Sent = At.Wire.encode(inWords(Request, Shape), Shape);
  HttpRequest Http;
  Http.Url = Settings.BaseUrl + T.Sent.Path;
  Http.Headers = T.Sent.Headers;
  Http.Body = T.Sent.Body;
  Http.KeyHeader = At.Wire.facts().KeyHeader.str();
  Http.Key = &At.Key;
  Http.Timeouts = {Settings.ConnectMs, Settings.FirstByteMs, Settings.IdleMs,
                   std::min(Settings.TotalMs, LeftMs)};

  std::unique_ptr<AnswerDecoder> Decoder =
      At.Wire.decoder(At.Key, Control.OnText);
  EventStream Stream([&](const StreamEvent &E) {
    Decoder->take(E);
    return Decoder->answer().Problem ? failed("the stream has an error")
                                     : llvm::Error::success();
  });
  std::string Body; // of an answer that is no stream
  HttpResult Result = At.Hub->Engine.perform(
      Http,
      [&](const HttpAnswer &A, llvm::StringRef Bytes) -> llvm::Error {
        if (isStream(A))
          return Stream.feed(Bytes);
        // Of an error a page is enough.
        if (A.Status == 200 || Body.size() < (size_t(1) << 20))
          Body += Bytes;
        return llvm::Error::success();
      },
      Control.Cancelled ? Control.Cancelled : &interruptFlag());
  bool Whole = Result.End == HttpEnd::Done;
  if (Whole && isStream(Result.Answer))
    if (llvm::Error E = Stream.finish())
      llvm::consumeError(std::move(E)); // is the decoder's problem
  if (Whole && Result.Answer.Status == 200 && !isStream(Result.Answer))
    Decoder->takeWhole(Body);
  T.Got = Decoder->answer();
  // An error's status is charged nothing; an answer that had begun, or that
  // might have when we stopped waiting, is.
  T.Charged = Result.Answer.Status == 200 ||
              (Result.Answer.Status == 0 && Result.Asked &&
               Result.End == HttpEnd::Timeout);
  T.Problem = problemOf(T.Got, Result, Body, At.Key);
  if (T.Problem && T.Problem->RequestId.empty())
    T.Problem->RequestId = requestIdOf(Result.Answer, At.Key);
  return T;
}
