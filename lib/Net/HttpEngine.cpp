//===- HttpEngine.cpp - One transfer a call -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Net/HttpEngine.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <curl/curl.h>
#include <mutex>
#include <optional>

using namespace stark;

/// How long the flag of a cancelled call may go unseen.
static constexpr int LookEveryMs = 50;

namespace {
struct EasyDeleter {
  void operator()(CURL *E) const { curl_easy_cleanup(E); }
};
struct MultiDeleter {
  void operator()(CURLM *M) const { curl_multi_cleanup(M); }
};
struct ListDeleter {
  void operator()(curl_slist *L) const { curl_slist_free_all(L); }
};
using MultiHandle = std::unique_ptr<CURLM, MultiDeleter>;

/// A connection that the other end has closed is an error code here, not the
/// end of the process, whatever its other threads do with SIGPIPE.
class NoBrokenPipe {
public:
  NoBrokenPipe() {
    sigemptyset(&Pipe);
    sigaddset(&Pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &Pipe, &Before);
  }
  ~NoBrokenPipe() {
    if (sigismember(&Before, SIGPIPE))
      return;
    const struct timespec AtOnce = {0, 0};
    while (sigtimedwait(&Pipe, nullptr, &AtOnce) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe &) = delete;
  NoBrokenPipe &operator=(const NoBrokenPipe &) = delete;

private:
  sigset_t Pipe, Before;
};

/// One call's transfer, of its thread alone.
class Transfer {
public:
  Transfer(const HttpRequest &Request, CURLM *Multi, Clock &Watch);
  ~Transfer() { curl_multi_remove_handle(Multi, Easy.get()); }

  /// Until it has ended.
  HttpResult run(HttpEngine::Receiver &Receive,
                 const std::atomic<bool> *Cancelled);

private:
  static size_t takeHeader(char *Data, size_t Size, size_t Count, void *User);
  static size_t takeBody(char *Data, size_t Size, size_t Count, void *User);
  void configure(const HttpRequest &Request);
  bool tooLarge(size_t More);
  std::optional<CURLcode> finished();
  void end(HttpEnd How, std::string Why);
  void end(CURLcode Code);
  /// The engine's own clocks; whether one of them has ended it.
  bool expire();

  const HttpTimeouts Limits;
  const size_t MaxBytes;
  CURLM *const Multi;
  const std::unique_ptr<CURL, EasyDeleter> Easy{curl_easy_init()};
  std::unique_ptr<curl_slist, ListDeleter> Headers;
  char CurlMessage[CURL_ERROR_SIZE] = "";

  Clock &Watch;
  const Clock::Time Started = Watch.now();
  Clock::Time LastByte = Started;
  bool Answered = false; ///< a byte has come
  size_t Received = 0;
  std::string Bytes; ///< arrived, not yet taken
  HttpResult Result;
};
} // namespace

bool Transfer::tooLarge(size_t More) {
  LastByte = Watch.now();
  Received += More;
  return Received > MaxBytes;
}

size_t Transfer::takeHeader(char *Data, size_t Size, size_t Count, void *User) {
  auto &T = *static_cast<Transfer *>(User);
  llvm::StringRef Line(Data, Size * Count);
  T.Answered = true;
  if (T.tooLarge(Line.size()))
    return 0;
  HttpAnswer &Answer = T.Result.Answer;
  Line = Line.trim();
  if (Line.starts_with("HTTP/")) {
    // An interim answer (100) may come before the answer.
    Answer = HttpAnswer();
    llvm::StringRef Code = Line.split(' ').second.take_front(3);
    Code.getAsInteger(10, Answer.Status);
  } else if (auto [Name, Value] = Line.split(':'); !Name.empty()) {
    Answer.Headers.emplace_back(Name.lower(), Value.trim().str());
  }
  return Size * Count;
}

size_t Transfer::takeBody(char *Data, size_t Size, size_t Count, void *User) {
  auto &T = *static_cast<Transfer *>(User);
  if (T.tooLarge(Size * Count))
    return 0;
  T.Bytes.append(Data, Size * Count);
  return Size * Count;
}

llvm::StringRef HttpAnswer::header(llvm::StringRef Name) const {
  for (const auto &[Key, Value] : Headers)
    if (Key == Name)
      return Value;
  return "";
}

static void append(std::unique_ptr<curl_slist, ListDeleter> &List,
                   const std::string &Line) {
  // curl copies the line; a failure leaves the list as it was.
  if (curl_slist *Longer = curl_slist_append(List.get(), Line.c_str())) {
    (void)List.release();
    List.reset(Longer);
  }
}

Transfer::Transfer(const HttpRequest &Request, CURLM *Multi, Clock &Watch)
    : Limits(Request.Timeouts), MaxBytes(Request.MaxBytes), Multi(Multi),
      Watch(Watch) {
  configure(Request);
  curl_multi_add_handle(Multi, Easy.get());
}

void Transfer::configure(const HttpRequest &Request) {
  CURL *E = Easy.get();
  append(Headers, "Expect:"); // no pause before a long body
  for (const std::string &Line : Request.Headers)
    append(Headers, Line);
  if (Request.Key && !Request.Key->empty()) {
    std::string Line = Request.KeyHeader + Request.Key->reveal();
    append(Headers, Line);
    explicit_bzero(Line.data(), Line.size());
  }
  curl_easy_setopt(E, CURLOPT_URL, Request.Url.c_str());
  curl_easy_setopt(E, CURLOPT_HTTPHEADER, Headers.get());
  using Method = HttpRequest::Method;
  if (Request.How == Method::Head)
    curl_easy_setopt(E, CURLOPT_NOBODY, 1L);
  if (Request.How == Method::Put)
    curl_easy_setopt(E, CURLOPT_CUSTOMREQUEST, "PUT");
  if (Request.How == Method::Post || Request.How == Method::Put) {
    curl_easy_setopt(E, CURLOPT_POSTFIELDSIZE_LARGE,
                     curl_off_t(Request.Body.size()));
    curl_easy_setopt(E, CURLOPT_COPYPOSTFIELDS, Request.Body.c_str());
  }
  curl_easy_setopt(E, CURLOPT_ERRORBUFFER, CurlMessage);
  curl_easy_setopt(E, CURLOPT_HEADERFUNCTION, takeHeader);
  curl_easy_setopt(E, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(E, CURLOPT_WRITEFUNCTION, takeBody);
  curl_easy_setopt(E, CURLOPT_WRITEDATA, this);
  // What is for this machine is for no proxy: it would see it in the clear.
  if (llvm::StringRef(Request.Url).starts_with_insensitive("http://"))
    curl_easy_setopt(E, CURLOPT_PROXY, "");
  curl_easy_setopt(E, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(E, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(E, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(E, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(E, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(E, CURLOPT_SSLVERSION, long(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(E, CURLOPT_CONNECTTIMEOUT_MS,
                   long(Request.Timeouts.ConnectMs));
  curl_easy_setopt(E, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(E, CURLOPT_HTTP_VERSION, long(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(E, CURLOPT_USERAGENT, "stark/" STARK_VERSION);
  // What the machine's administrator set for every program.
  if (const char *File = std::getenv("SSL_CERT_FILE"))
    curl_easy_setopt(E, CURLOPT_CAINFO, File);
}

static std::string seconds(uint64_t Ms) {
  return Ms % 1000 ? std::to_string(Ms) + " ms"
                   : std::to_string(Ms / 1000) + " s";
}

void Transfer::end(HttpEnd How, std::string Why) {
  long RequestBytes = 0;
  curl_easy_getinfo(Easy.get(), CURLINFO_REQUEST_SIZE, &RequestBytes);
  Result.End = How;
  Result.Message = std::move(Why);
  Result.Asked = RequestBytes > 0;
}

void Transfer::end(CURLcode Code) {
  if (Code == CURLE_OK)
    return end(HttpEnd::Done, "");
  if (Code == CURLE_WRITE_ERROR && Received > MaxBytes)
    return end(HttpEnd::TooLarge, "the answer is longer than " +
                                      std::to_string(MaxBytes) + " bytes");
  std::string Why = *CurlMessage ? CurlMessage : curl_easy_strerror(Code);
  if (Code == CURLE_OPERATION_TIMEDOUT)
    return end(HttpEnd::Timeout, "no connection: " + Why);
  if (Code == CURLE_PEER_FAILED_VERIFICATION ||
      Code == CURLE_SSL_CACERT_BADFILE || Code == CURLE_SSL_CERTPROBLEM)
    return end(HttpEnd::Security, Why);
  end(HttpEnd::Network, Why);
}

bool Transfer::expire() {
  uint64_t Total = Watch.millisecondsSince(Started);
  std::string Why;
  if (Total > Limits.TotalMs)
    Why = "the answer took longer than " + seconds(Limits.TotalMs);
  else if (!Answered && Total > Limits.FirstByteMs)
    Why = "no answer began within " + seconds(Limits.FirstByteMs);
  else if (Answered && Watch.millisecondsSince(LastByte) > Limits.IdleMs)
    Why = "the answer stopped for more than " + seconds(Limits.IdleMs);
  else
    return false;
  end(HttpEnd::Timeout, std::move(Why));
  return true;
}

std::optional<CURLcode> Transfer::finished() {
  int Left = 0;
  while (CURLMsg *M = curl_multi_info_read(Multi, &Left))
    if (M->msg == CURLMSG_DONE)
      return M->data.result;
  return std::nullopt;
}

HttpResult Transfer::run(HttpEngine::Receiver &Receive,
                         const std::atomic<bool> *Cancelled) {
  for (;;) {
    int Running = 0;
    curl_multi_perform(Multi, &Running);
    std::optional<CURLcode> Code = finished();
    if (!Code && Cancelled && *Cancelled) {
      end(HttpEnd::Cancelled, "cancelled");
      break;
    }
    if (!Bytes.empty())
      if (llvm::Error E = Receive(Result.Answer, std::exchange(Bytes, ""))) {
        end(HttpEnd::Stopped, llvm::toString(std::move(E)));
        break;
      }
    if (Code) {
      end(*Code);
      break;
    }
    if (expire())
      break;
    curl_multi_poll(Multi, nullptr, 0, LookEveryMs, nullptr);
  }
  return std::move(Result);
}

class HttpEngine::Connections {
public:
  Connections() {
    static const CURLcode Global = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)Global;
  }

  MultiHandle take() {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Free.empty())
      return MultiHandle(curl_multi_init());
    MultiHandle M = std::move(Free.back());
    Free.pop_back();
    return M;
  }

  void giveBack(MultiHandle M) {
    std::lock_guard<std::mutex> Guard(Lock);
    Free.push_back(std::move(M));
  }

private:
  std::mutex Lock;
  std::vector<MultiHandle> Free;
};

HttpEngine::HttpEngine(Clock &Time)
    : Idle(std::make_unique<Connections>()), Time(Time) {}

HttpEngine::~HttpEngine() {
  NoBrokenPipe Guard; // closing a connection says goodbye
  Idle.reset();
}

HttpResult HttpEngine::perform(const HttpRequest &Request, Receiver Receive,
                               const std::atomic<bool> *Cancelled) {
  NoBrokenPipe Guard;
  MultiHandle Multi = Idle->take();
  HttpResult Result =
      Transfer(Request, Multi.get(), Time).run(Receive, Cancelled);
  Idle->giveBack(std::move(Multi));
  const Secret None;
  Result.Message = redact(Result.Message, Request.Key ? *Request.Key : None);
  return Result;
}
