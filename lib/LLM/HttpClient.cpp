//===- HttpClient.cpp - When a try fails ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpClient.h"
#include "stark/Posix/Interrupt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <random>

using namespace stark;
using std::chrono::milliseconds;

/// How long an interrupt may go unseen in a pause.
static constexpr milliseconds LookEvery(50);

namespace {
class HttpClient : public ChatClient {
public:
  HttpClient(Endpoint Asked, CallShape Shape)
      : At(std::move(Asked)), Shape(std::move(Shape)),
        Payer(At.Hub->account(At.Settings.BaseUrl, At.Settings.KeyVariable)) {}

  std::string identity() const override {
    return At.Settings.Provider + ":" + At.Facts.Id;
  }

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override;

  std::optional<WorstCase>
  worstCase(const ChatRequest &Request) const override {
    std::optional<WorstCase> W = ChatClient::worstCase(Request);
    if (At.Facts.OutputTokens)
      W->OutputTokens = std::min(W->OutputTokens, *At.Facts.OutputTokens);
    // All of the prompt new to the cache is the dearest that it can be.
    Usage Dearest;
    Dearest.Input = 0;
    Dearest.CacheWrite = W->InputTokens;
    Dearest.Output = W->OutputTokens;
    W->MicroUsd = costOf(At.Facts, Dearest);
    return W;
  }

private:
  bool strikeOut(const Fault &F, const CallShape &Used);
  bool renameLimit(llvm::StringRef Refused, const CallShape &Used);
  ChatReply reply(Try &&T) const;
  llvm::Error giveUp(const Fault &F, unsigned Tries,
                     const DiscardedAnswers &Lost) const;
  void discard(const Try &T, DiscardedAnswers &Lost) const;
  Clock::Time afterFailure(const Fault &F, unsigned Failures);
  bool pause(Clock::Time Until, Clock::Time Started,
             const CallControl &Control);

  CallShape shape() {
    std::lock_guard<std::mutex> Guard(Lock);
    return Shape;
  }

  const Endpoint At;
  Clock &Watch = At.Hub->Time;
  std::mutex Lock; ///< of Shape, FieldRenamed and Random
  CallShape Shape; ///< parameters that were refused are struck out
  bool FieldRenamed = false;
  std::mt19937_64 Random{std::random_device{}()};
  Account &Payer; ///< of At.Hub
};
} // namespace

static bool isCancelled(const CallControl &Control) {
  return interruptFlag() || (Control.Cancelled && *Control.Cancelled);
}

/// Once: a server that refuses both names is not to be had. Other workers may
/// have done so since \p Used was taken.
bool HttpClient::renameLimit(llvm::StringRef Refused, const CallShape &Used) {
  llvm::ArrayRef<llvm::StringLiteral> Names = At.Wire.facts().LimitFields;
  if (Used.MaxTokensField != Refused || !llvm::is_contained(Names, Refused))
    return false;
  bool Renamed = Shape.MaxTokensField != Used.MaxTokensField || !FieldRenamed;
  if (!FieldRenamed && Shape.MaxTokensField == Used.MaxTokensField)
    Shape.MaxTokensField = llvm::find_if(Names, [&](llvm::StringRef N) {
                             return N != Refused;
                           })->str();
  FieldRenamed = true;
  return Renamed;
}

/// What \p Of is switched by; the limit of an answer's length always goes out.
static bool CallShape::*partOf(Feature Of) {
  static constexpr std::pair<Feature, bool CallShape::*> Parts[] = {
      {Feature::Temperature, &CallShape::Temperature},
      {Feature::StreamOptions, &CallShape::StreamOptions},
      {Feature::Schema, &CallShape::Schema},
      {Feature::CacheMarks, &CallShape::CacheMarks},
  };
  for (const auto &[Each, Part] : Parts)
    if (Each == Of)
      return Part;
  llvm_unreachable("nothing else can be struck out");
}

/// Strikes out what a server refused, once a parameter: whether another try is
/// another request.
bool HttpClient::strikeOut(const Fault &F, const CallShape &Used) {
  if (F.Kind != FaultKind::BadRequest || !F.Refused)
    return false;
  std::lock_guard<std::mutex> Guard(Lock);
  if (F.Refused == Feature::OutputLimit)
    return renameLimit(F.Parameter, Used);
  bool CallShape::*Part = partOf(*F.Refused);
  if (!(Used.*Part))
    return false;
  Shape.*Part = false;
  return true;
}

/// When the next try may begin: with full jitter, but not before the server
/// said, which holds for all of the account's calls.
Clock::Time HttpClient::afterFailure(const Fault &F, unsigned Failures) {
  const RetryPolicy &Retry = At.Settings.Retry;
  double Ceiling =
      std::min(double(Retry.LongestMs),
               double(Retry.FirstMs) * double(1ull << std::min(Failures, 20u)));
  std::lock_guard<std::mutex> Guard(Lock);
  uint64_t Pause =
      uint64_t(std::uniform_real_distribution<double>(0, Ceiling)(Random));
  Clock::Time Now = Watch.now();
  if (!F.RetryAfterMs)
    return Now + milliseconds(Pause);
  Payer.postpone(Now + milliseconds(*F.RetryAfterMs));
  return Now + milliseconds(*F.RetryAfterMs + Pause / 4);
}

/// Until the next try may begin; false when there is no time left for it or
/// the user stopped the run.
bool HttpClient::pause(Clock::Time Until, Clock::Time Started,
                       const CallControl &Control) {
  Until = std::max(Until, Payer.notBefore());
  if (Until - Started > milliseconds(At.Settings.Retry.TotalMs))
    return false;
  while (Watch.now() < Until) {
    if (isCancelled(Control))
      return false;
    Watch.sleep(std::min<Clock::Duration>(Until - Watch.now(), LookEvery));
  }
  return true;
}

/// What the vendor said of \p T where its last word had come, else at least
/// what its text and the request are long: source code has about 3.5 bytes a
/// token.
void HttpClient::discard(const Try &T, DiscardedAnswers &Lost) const {
  if (!T.Charged)
    return;
  auto Estimate = [](uint64_t Bytes) { return (Bytes * 2 + 6) / 7; };
  Usage U = T.Got.Tokens;
  bool Final = U.Input && U.Output && !T.Got.StopDetail.empty();
  if (!U.Input)
    U.Input = Estimate(T.Sent.Body.size());
  if (!Final)
    U.Output = std::max(U.Output.value_or(0),
                        Estimate(T.Got.Text.size() + T.Got.ThoughtBytes));
  Lost += {1, *U.Input + U.CacheRead.value_or(0) + U.CacheWrite.value_or(0),
           *U.Output, !Final, costOf(At.Facts, U)};
}

/// What a person is told of a failure of that kind, before the server's words.
static std::string headline(FaultKind Kind, unsigned Tries,
                            const std::string &KeyVariable) {
  switch (Kind) {
  case FaultKind::Authentication:
    return "the key in " + KeyVariable + " was not accepted";
  case FaultKind::SpendLimit:
    return "the account has no money left or may spend no more";
  case FaultKind::NotFound:
    return "no such model or address";
  case FaultKind::TooLarge:
    return "the answer was given up";
  case FaultKind::BadRequest:
    return "the server refused the request";
  default:
    return "no answer after " + std::to_string(Tries) +
           (Tries == 1 ? " try" : " tries");
  }
}

llvm::Error HttpClient::giveUp(const Fault &F, unsigned Tries,
                               const DiscardedAnswers &Lost) const {
  bool Cancelled = F.Kind == FaultKind::Cancelled;
  std::string What =
      Cancelled ? "interrupted while waiting for " + identity()
                : identity() + ": " +
                      headline(F.Kind, Tries, At.Settings.KeyVariable) + ": " +
                      F.describe();
  if (Lost.Answers)
    What += "; answers that were thrown away took " +
            std::string(Lost.Estimated ? "about " : "") +
            std::to_string(Lost.Input) + " tokens in, " +
            std::to_string(Lost.Output) + " out";
  return llvm::make_error<CallLost>(
      Cancelled ? ErrorKind::Interrupted : ErrorKind::Failed, What, Lost);
}

ChatReply HttpClient::reply(Try &&T) const {
  ChatReply R;
  R.Text = std::move(T.Got.Text);
  R.Stop = T.Got.Stop;
  R.StopDetail = redact(T.Got.StopDetail, At.Key);
  R.Provider = At.Settings.Provider;
  R.Model = T.Got.Model.empty() ? At.Facts.Id : redact(T.Got.Model, At.Key);
  R.Tokens = T.Got.Tokens;
  R.Applied = std::move(T.Sent.Applied);
  R.CostMicroUsd = costOf(At.Facts, R.Tokens);
  return R;
}

llvm::Expected<ChatReply> HttpClient::complete(const ChatRequest &Request,
                                               const CallControl &Control) {
  const RetryPolicy &Retry = At.Settings.Retry;
  const Clock::Time Started = Watch.now();
  std::vector<std::string> Notes;
  unsigned Failures = 0;
  DiscardedAnswers Lost;
  Fault Cancelled;
  Cancelled.Kind = FaultKind::Cancelled;
  auto Done = [&](Try &&T) {
    ChatReply R = reply(std::move(T));
    R.Applied.insert(R.Applied.end(), Notes.begin(), Notes.end());
    R.WallMs = Watch.millisecondsSince(Started);
    R.Discarded = Lost;
    return R;
  };
  if (!pause(Started, Started, Control))
    return giveUp(Cancelled, 0, Lost);
  for (;;) {
    CallShape Used = shape();
    uint64_t Spent = Watch.millisecondsSince(Started);
    uint64_t Left = Retry.TotalMs > Spent ? Retry.TotalMs - Spent : 1;
    Try T = tryOnce(At, Request, Used, Control, Left);
    if (!T.Problem)
      return Done(std::move(T));
    discard(T, Lost);
    const Fault F = *T.Problem;
    if (F.Kind == FaultKind::Cancelled || isCancelled(Control))
      return giveUp(Cancelled, Failures, Lost);
    // Too long a conversation is the answer's business, as a refusal is.
    if (F.Kind == FaultKind::ContextOverflow) {
      T.Got.Stop = StopReason::ContextOverflow;
      T.Got.StopDetail = F.describe();
      T.Got.Text.clear();
      return Done(std::move(T));
    }
    if (strikeOut(F, Used)) {
      Notes.push_back("refused=" + F.Parameter);
      continue;
    }
    ++Failures;
    if (!F.mayRetry() || Failures >= Retry.Tries ||
        !pause(afterFailure(F, Failures - 1), Started, Control))
      return giveUp(isCancelled(Control) ? Cancelled : F, Failures, Lost);
    Notes.push_back("retried=" + (F.Code.empty() ? "failed" : F.Code));
  }
}

std::unique_ptr<ChatClient> stark::makeHttpClient(Endpoint At,
                                                  CallShape Shape) {
  return std::make_unique<HttpClient>(std::move(At), std::move(Shape));
}
