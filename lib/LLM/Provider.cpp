//===- Provider.cpp - Models behind HTTP ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Provider.h"
#include "Dialect.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <thread>

using namespace stark;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {
/// One account's clock: after a "come back later" every worker waits.
struct Gate {
  std::mutex Lock;
  Clock::time_point NotBefore;
};
} // namespace

class stark::ProviderHub {
public:
  HttpEngine Engine;

  std::shared_ptr<Gate> gate(const std::string &Account) {
    std::lock_guard<std::mutex> Guard(Lock);
    std::shared_ptr<Gate> &G = Gates[Account];
    if (!G)
      G = std::make_shared<Gate>();
    return G;
  }

private:
  std::mutex Lock;
  std::map<std::string, std::shared_ptr<Gate>> Gates;
};

std::shared_ptr<ProviderHub> stark::makeProviderHub() {
  return std::make_shared<ProviderHub>();
}

static uint64_t sinceMs(Clock::time_point Then) {
  return uint64_t(
      std::chrono::duration_cast<milliseconds>(Clock::now() - Then).count());
}

namespace {
class HttpClient : public ChatClient {
public:
  HttpClient(ProviderSettings Settings, ModelFacts Facts,
             std::unique_ptr<Dialect> Wire, CallShape Shape, Secret Key,
             std::shared_ptr<ProviderHub> Hub)
      : Settings(std::move(Settings)), Facts(std::move(Facts)),
        Wire(std::move(Wire)), Shape(std::move(Shape)), Key(std::move(Key)),
        Hub(std::move(Hub)) {
    Account = this->Hub->gate(this->Settings.BaseUrl + "|" +
                              this->Settings.KeyVariable);
  }

  std::string identity() const override {
    return Settings.Provider + ":" + Facts.Id;
  }

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override;

  std::optional<WorstCase>
  worstCase(const ChatRequest &Request) const override {
    std::optional<WorstCase> W = ChatClient::worstCase(Request);
    if (Facts.OutputTokens)
      W->OutputTokens = std::min(W->OutputTokens, *Facts.OutputTokens);
    // All of the prompt new to the cache is the dearest that it can be.
    Usage Dearest;
    Dearest.Input = 0;
    Dearest.CacheWrite = W->InputTokens;
    Dearest.Output = W->OutputTokens;
    W->MicroUsd = costOf(Facts, Dearest);
    return W;
  }

private:
  /// What one try came to: a reply, or why not.
  struct Try {
    std::optional<Fault> Problem;
    Answer Got;
    WireRequest Sent;
    bool Charged = false; ///< whatever became of the answer
  };
  Try once(const ChatRequest &Request, const CallShape &Shape,
           const CallControl &Control, uint64_t LeftMs);
  bool heal(const Fault &F, const CallShape &Used, std::string &What);
  ChatReply reply(Try &&T, std::vector<std::string> Notes, uint64_t WallMs);
  llvm::Error giveUp(const Fault &F, unsigned Tries,
                     const DiscardedAnswers &Lost) const;
  void discard(const Try &T, DiscardedAnswers &Lost) const;
  bool pause(const Fault *Last, unsigned Failures, Clock::time_point Started,
             const CallControl &Control);

  CallShape shape() {
    std::lock_guard<std::mutex> Guard(Lock);
    return Shape;
  }

  const ProviderSettings Settings;
  const ModelFacts Facts;
  const std::unique_ptr<Dialect> Wire;
  std::mutex Lock; ///< of Shape and Random
  CallShape Shape; ///< parameters that were refused are struck out
  bool FieldRenamed = false;
  std::mt19937_64 Random{std::random_device{}()};
  const Secret Key;
  std::shared_ptr<ProviderHub> Hub;
  std::shared_ptr<Gate> Account;
};
} // namespace

static bool isCancelled(const CallControl &Control) {
  return interruptFlag() || (Control.Cancelled && *Control.Cancelled);
}

/// With words in place of a temperature that is not sent.
static ChatRequest inWords(const ChatRequest &Request, const CallShape &Used) {
  ChatRequest R = Request;
  if (R.Temperature && !Used.Temperature && !R.InsteadOfTemperature.empty() &&
      !R.Messages.empty())
    R.Messages.front().Text += "\n\n" + R.InsteadOfTemperature;
  return R;
}

HttpClient::Try HttpClient::once(const ChatRequest &Request,
                                 const CallShape &Used,
                                 const CallControl &Control, uint64_t LeftMs) {
  Try T;
  T.Sent = Wire->encode(inWords(Request, Used), Used);
  HttpRequest Http;
  Http.Url = Settings.BaseUrl + T.Sent.Path;
  Http.Headers = T.Sent.Headers;
  Http.Body = T.Sent.Body;
  Http.KeyHeader = Wire->keyHeader();
  Http.Key = &Key;
  Http.Timeouts = {Settings.ConnectMs, Settings.FirstByteMs, Settings.IdleMs,
                   std::min(Settings.TotalMs, LeftMs)};

  std::unique_ptr<AnswerDecoder> Decoder = Wire->decoder(Key, Control.OnText);
  EventStream Stream([&](const StreamEvent &E) {
    Decoder->take(E);
    return Decoder->answer().Problem ? failed("the stream has an error")
                                     : llvm::Error::success();
  });
  std::string Body; // of an answer that is no stream
  auto IsStream = [](const HttpAnswer &A) {
    return A.Status == 200 && A.header("content-type")
                                  .starts_with_insensitive("text/event-stream");
  };
  const std::atomic<bool> *Flag =
      Control.Cancelled ? Control.Cancelled : &interruptFlag();
  HttpResult Result = Hub->Engine.perform(
      Http,
      [&](const HttpAnswer &A, llvm::StringRef Bytes) -> llvm::Error {
        if (IsStream(A))
          return Stream.feed(Bytes);
        // Of an error a page is enough.
        if (A.Status == 200 || Body.size() < (size_t(1) << 20))
          Body += Bytes;
        return llvm::Error::success();
      },
      Flag);
  bool Whole = Result.End == HttpEnd::Done;
  if (Whole && IsStream(Result.Answer))
    if (llvm::Error E = Stream.finish())
      llvm::consumeError(std::move(E)); // is the decoder's problem
  if (Whole && Result.Answer.Status == 200 && !IsStream(Result.Answer))
    Decoder->takeWhole(Body);
  T.Got = Decoder->answer();
  // An error's status is charged nothing; an answer that had begun, or that
  // might have when we stopped waiting, is.
  T.Charged = Result.Answer.Status == 200 ||
              (Result.Answer.Status == 0 && Result.Asked &&
               Result.End == HttpEnd::Timeout);

  // The stream's own error says more than the transfer's.
  if (T.Got.Problem) {
    T.Problem = T.Got.Problem;
  } else if (T.Got.Complete) {
    // Whole by the protocol, whatever became of the connection then.
  } else if (Result.Answer.Status != 200 && Result.Answer.Status != 0) {
    T.Problem = faultOfAnswer(Result.Answer, Body, Key);
  } else if (!Whole) {
    T.Problem = faultOfTransfer(Result);
  } else {
    Fault F;
    F.Kind = FaultKind::Protocol;
    F.Message = "the answer ended before the protocol says that it is whole (" +
                std::to_string(T.Got.Text.size()) + " bytes of text came)";
    T.Problem = F;
  }
  if (T.Problem && T.Problem->RequestId.empty())
    for (llvm::StringRef Name : {"request-id", "x-request-id"})
      if (T.Problem->RequestId.empty())
        T.Problem->RequestId = redact(Result.Answer.header(Name), Key);
  return T;
}

/// Strikes out what a server refused, once a parameter. Other workers may have
/// done so since \p Used was taken.
bool HttpClient::heal(const Fault &F, const CallShape &Used,
                      std::string &What) {
  if (F.Kind != FaultKind::BadRequest)
    return false;
  std::lock_guard<std::mutex> Guard(Lock);
  llvm::StringRef P = F.Parameter;
  What = P.str();
  if (P == "temperature" && Used.Temperature) {
    Shape.Temperature = false;
    return true;
  }
  if ((P == "max_tokens" || P == "max_completion_tokens") &&
      Used.MaxTokensField == P) {
    // Renamed once: a server that refuses both is not to be had.
    bool Renamed = Shape.MaxTokensField != Used.MaxTokensField;
    if (!Renamed && !FieldRenamed)
      Shape.MaxTokensField =
          P == "max_tokens" ? "max_completion_tokens" : "max_tokens";
    Renamed |= !FieldRenamed;
    FieldRenamed = true;
    return Renamed;
  }
  if (P.starts_with("stream_options") && Used.StreamOptions) {
    Shape.StreamOptions = false;
    return true;
  }
  if ((P.starts_with("response_format") || P.starts_with("output_config") ||
       P == "text" || P.starts_with("text.format") ||
       P.starts_with("generation_config.response") ||
       P == "responseJsonSchema") &&
      Used.Schema) {
    Shape.Schema = false;
    return true;
  }
  if (P.contains("cache_control") && Used.CacheMarks) {
    Shape.CacheMarks = false;
    return true;
  }
  return false;
}

/// Until the next try may begin; false when there is no time left for it or
/// the user stopped the run.
bool HttpClient::pause(const Fault *Last, unsigned Failures,
                       Clock::time_point Started, const CallControl &Control) {
  Clock::time_point Until;
  {
    std::scoped_lock Guard(Lock, Account->Lock);
    if (Last) {
      double Ceiling = std::min(double(Settings.Retry.LongestMs),
                                double(Settings.Retry.FirstMs) *
                                    double(1ull << std::min(Failures, 20u)));
      uint64_t Pause =
          uint64_t(std::uniform_real_distribution<double>(0, Ceiling)(Random));
      // What the server asked for is the least.
      Until =
          Clock::now() + milliseconds(Last->RetryAfterMs.value_or(0) +
                                      (Last->RetryAfterMs ? Pause / 4 : Pause));
      if (Last->RetryAfterMs)
        Account->NotBefore =
            std::max(Account->NotBefore,
                     Clock::now() + milliseconds(*Last->RetryAfterMs));
    }
    Until = std::max(Until, Account->NotBefore);
  }
  if (Until - Started > milliseconds(Settings.Retry.TotalMs))
    return false;
  while (Clock::now() < Until) {
    if (isCancelled(Control))
      return false;
    std::this_thread::sleep_for(
        std::min<Clock::duration>(Until - Clock::now(), milliseconds(50)));
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
           *U.Output, !Final, costOf(Facts, U)};
}

llvm::Error HttpClient::giveUp(const Fault &F, unsigned Tries,
                               const DiscardedAnswers &Lost) const {
  std::string What = identity() + ": ";
  ErrorKind Kind = ErrorKind::Failed;
  switch (F.Kind) {
  case FaultKind::Cancelled:
    Kind = ErrorKind::Interrupted;
    What = "interrupted while waiting for " + identity();
    break;
  case FaultKind::Authentication:
    What += "the key in " + Settings.KeyVariable + " was not accepted: ";
    break;
  case FaultKind::SpendLimit:
    What += "the account has no money left or may spend no more: ";
    break;
  case FaultKind::NotFound:
    What += "no such model or address: ";
    break;
  case FaultKind::TooLarge:
    What += "the answer was given up: ";
    break;
  case FaultKind::BadRequest:
    What += "the server refused the request: ";
    break;
  default:
    What += "no answer after " + std::to_string(Tries) +
            (Tries == 1 ? " try: " : " tries: ");
  }
  if (F.Kind != FaultKind::Cancelled)
    What += F.describe();
  if (Lost.Answers)
    What += "; answers that were thrown away took " +
            std::string(Lost.Estimated ? "about " : "") +
            std::to_string(Lost.Input) + " tokens in, " +
            std::to_string(Lost.Output) + " out";
  return llvm::make_error<CallLost>(Kind, What, Lost);
}

ChatReply HttpClient::reply(Try &&T, std::vector<std::string> Notes,
                            uint64_t WallMs) {
  ChatReply R;
  R.Text = std::move(T.Got.Text);
  R.Stop = T.Got.Stop;
  R.StopDetail = redact(T.Got.StopDetail, Key);
  R.Provider = Settings.Provider;
  R.Model = T.Got.Model.empty() ? Facts.Id : redact(T.Got.Model, Key);
  R.Tokens = T.Got.Tokens;
  R.Applied = std::move(T.Sent.Applied);
  R.Applied.insert(R.Applied.end(), Notes.begin(), Notes.end());
  R.CostMicroUsd = costOf(Facts, R.Tokens);
  R.WallMs = WallMs;
  return R;
}

llvm::Expected<ChatReply> HttpClient::complete(const ChatRequest &Request,
                                               const CallControl &Control) {
  const Clock::time_point Started = Clock::now();
  std::vector<std::string> Notes;
  unsigned Failures = 0;
  DiscardedAnswers Lost;
  const Fault Cancelled{FaultKind::Cancelled, "", "", "", 0, {}, ""};
  auto Done = [&](Try &&T) {
    ChatReply R = reply(std::move(T), std::move(Notes), sinceMs(Started));
    R.Discarded = Lost;
    return R;
  };
  if (!pause(nullptr, 0, Started, Control))
    return giveUp(Cancelled, 0, Lost);
  for (;;) {
    CallShape Used = shape();
    uint64_t Spent = sinceMs(Started);
    uint64_t Left =
        Settings.Retry.TotalMs > Spent ? Settings.Retry.TotalMs - Spent : 1;
    Try T = once(Request, Used, Control, Left);
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
    std::string Struck;
    if (heal(F, Used, Struck)) {
      Notes.push_back("refused=" + Struck);
      continue;
    }
    ++Failures;
    if (!F.mayRetry() || Failures >= Settings.Retry.Tries ||
        !pause(&F, Failures - 1, Started, Control)) {
      return giveUp(isCancelled(Control) ? Cancelled : F, Failures, Lost);
    }
    Notes.push_back("retried=" + (F.Code.empty() ? "failed" : F.Code));
  }
}

static std::unique_ptr<Dialect> makeDialect(llvm::StringRef Name) {
  if (Name == "anthropic")
    return makeAnthropicDialect();
  if (Name == "openai-responses")
    return makeOpenAIResponsesDialect();
  if (Name == "gemini")
    return makeGeminiDialect();
  return makeOpenAIChatDialect();
}

/// Without the slash at the end; with or without the version, as the dialect
/// wants it.
static std::string normalizeUrl(llvm::StringRef Url, llvm::StringRef Dialect) {
  Url = Url.rtrim('/');
  if (Dialect == "anthropic")
    Url.consume_back("/v1");
  else if (Dialect == "gemini")
    Url.consume_back("/v1beta");
  else if (!Url.substr(Url.find("://") + 3).contains('/'))
    return (Url + "/v1").str();
  return Url.str();
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeProvider(const ProviderSettings &Given, const ModelTable &Models,
                    std::shared_ptr<ProviderHub> Hub) {
  ProviderSettings Settings = Given;
  const ProviderFacts *P = Models.provider(Settings.Provider);
  if (!P)
    return usageError("provider: got '" + Settings.Provider +
                      "', wanted one of " + Models.providerNames());
  if (Settings.Model.empty())
    Settings.Model = P->DefaultModel;
  if (Settings.Model.empty())
    return usageError("provider '" + Settings.Provider +
                      "': no model was given; --model names one");
  if (Settings.BaseUrl.empty())
    Settings.BaseUrl = P->BaseUrl;
  if (Settings.BaseUrl.empty())
    return usageError("provider '" + Settings.Provider +
                      "': no address was given; --base-url names one");
  if (llvm::Error E = checkUrl(Settings.BaseUrl))
    return E;
  Settings.BaseUrl = normalizeUrl(Settings.BaseUrl, P->Dialect);
  if (Settings.KeyVariable.empty())
    Settings.KeyVariable = P->KeyVariable;
  llvm::Expected<Secret> Key = findSecret(Settings.KeyVariable);
  if (!Key)
    return Key.takeError();
  if (Key->empty() && !P->KeyOptional)
    return usageError("provider '" + Settings.Provider + "': no key; set " +
                      Settings.KeyVariable + ", or " + Settings.KeyVariable +
                      "_FILE to a file that only you may read");

  ModelFacts Facts = Models.model(*P, Settings.Model);
  CallShape Shape;
  Shape.Model = Settings.Model;
  // Not known: try; what is refused is struck out.
  Shape.Temperature = Facts.Temperature.value_or(true);
  Shape.ApiVersion = Facts.ApiVersion.empty() ? "2023-06-01" : Facts.ApiVersion;
  Shape.MaxTokensField = P->MaxTokensField;
  Shape.Schema = Facts.Schema.value_or(false);
  Shape.CacheMarks = P->CacheMarks;
  Shape.MaxOutputTokens = Facts.OutputTokens.value_or(0);
  return std::make_unique<HttpClient>(std::move(Settings), std::move(Facts),
                                      makeDialect(P->Dialect), std::move(Shape),
                                      std::move(*Key), std::move(Hub));
}
