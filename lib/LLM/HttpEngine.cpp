//===- HttpEngine.cpp - Many transfers, one I/O thread -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpEngine.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <curl/curl.h>
#include <deque>
#include <mutex>
#include <thread>

using namespace stark;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {
struct EasyDeleter {
  void operator()(CURL *E) const { curl_easy_cleanup(E); }
};
struct ListDeleter {
  void operator()(curl_slist *L) const { curl_slist_free_all(L); }
};
struct UrlDeleter {
  void operator()(CURLU *U) const { curl_url_cleanup(U); }
};

/// One transfer. The I/O thread fills it, the caller empties it.
struct Transfer {
  std::unique_ptr<CURL, EasyDeleter> Easy{curl_easy_init()};
  std::unique_ptr<curl_slist, ListDeleter> Headers;
  char CurlMessage[CURL_ERROR_SIZE] = "";
  HttpTimeouts Limits;
  size_t MaxBytes = 0;

  // Of the I/O thread alone.
  Clock::time_point Started, LastByte;
  bool Answered = false; ///< a byte has come
  size_t Received = 0;

  std::mutex Lock;
  std::condition_variable Changed;
  HttpAnswer Answer;
  std::string Bytes; ///< arrived, not yet taken
  bool Ended = false, Asked = false;
  HttpEnd End = HttpEnd::Done;
  std::string Message;

  void finish(HttpEnd How, std::string Why) {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Ended)
      return;
    Ended = true;
    End = How;
    Message = std::move(Why);
    Changed.notify_all();
  }
};
} // namespace

static size_t takeHeader(char *Data, size_t Size, size_t Count, void *User) {
  auto &T = *static_cast<Transfer *>(User);
  llvm::StringRef Line(Data, Size * Count);
  T.LastByte = Clock::now();
  T.Answered = true;
  T.Received += Line.size();
  if (T.Received > T.MaxBytes)
    return 0;
  std::lock_guard<std::mutex> Guard(T.Lock);
  Line = Line.trim();
  if (Line.starts_with("HTTP/")) {
    // An interim answer (100) may come before the answer.
    T.Answer = HttpAnswer();
    llvm::StringRef Code = Line.split(' ').second.take_front(3);
    Code.getAsInteger(10, T.Answer.Status);
  } else if (auto [Name, Value] = Line.split(':'); !Name.empty()) {
    T.Answer.Headers.emplace_back(Name.lower(), Value.trim().str());
  }
  return Size * Count;
}

static size_t takeBody(char *Data, size_t Size, size_t Count, void *User) {
  auto &T = *static_cast<Transfer *>(User);
  T.LastByte = Clock::now();
  T.Received += Size * Count;
  if (T.Received > T.MaxBytes)
    return 0;
  std::lock_guard<std::mutex> Guard(T.Lock);
  T.Bytes.append(Data, Size * Count);
  T.Changed.notify_all();
  return Size * Count;
}

llvm::StringRef HttpAnswer::header(llvm::StringRef Name) const {
  for (const auto &[Key, Value] : Headers)
    if (Key == Name)
      return Value;
  return "";
}

/// The I/O thread, and what it is asked to do.
class HttpEngine::Loop {
public:
  Loop() {
    static const CURLcode Global = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)Global;
    Multi = curl_multi_init();
    curl_multi_setopt(Multi, CURLMOPT_MAX_HOST_CONNECTIONS, 64L);
    Thread = std::thread([this] { run(); });
  }
  ~Loop() {
    Stopping = true;
    curl_multi_wakeup(Multi);
    Thread.join();
    curl_multi_cleanup(Multi);
  }

  void add(std::shared_ptr<Transfer> T) { post(Added, std::move(T)); }
  void cancel(std::shared_ptr<Transfer> T) { post(Dropped, std::move(T)); }

private:
  using Queue = std::deque<std::shared_ptr<Transfer>>;

  void post(Queue &Into, std::shared_ptr<Transfer> T) {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Into.push_back(std::move(T));
    }
    curl_multi_wakeup(Multi);
  }

  void run() {
    // Signals are the main thread's; a closed connection is an error code.
    sigset_t All;
    sigfillset(&All);
    pthread_sigmask(SIG_BLOCK, &All, nullptr);
    while (!Stopping) {
      takePosted();
      int Running = 0;
      curl_multi_perform(Multi, &Running);
      takeFinished();
      expire();
      curl_multi_poll(Multi, nullptr, 0, Active.empty() ? 60'000 : 100,
                      nullptr);
    }
    while (!Active.empty())
      drop(Active.front(), HttpEnd::Cancelled, "the program ends");
  }

  void takePosted() {
    Queue New, Gone;
    {
      std::lock_guard<std::mutex> Guard(Lock);
      New.swap(Added);
      Gone.swap(Dropped);
    }
    for (std::shared_ptr<Transfer> &T : New) {
      T->Started = T->LastByte = Clock::now();
      curl_multi_add_handle(Multi, T->Easy.get());
      Active.push_back(std::move(T));
    }
    for (std::shared_ptr<Transfer> &T : Gone)
      drop(T, HttpEnd::Cancelled, "cancelled");
  }

  void takeFinished() {
    int Left = 0;
    while (CURLMsg *M = curl_multi_info_read(Multi, &Left)) {
      if (M->msg != CURLMSG_DONE)
        continue;
      CURLcode Code = M->data.result;
      for (const std::shared_ptr<Transfer> &T : Active)
        if (T->Easy.get() == M->easy_handle) {
          auto [How, Why] = describe(*T, Code);
          drop(T, How, std::move(Why));
          break;
        }
    }
  }

  static std::pair<HttpEnd, std::string> describe(const Transfer &T,
                                                  CURLcode Code) {
    if (Code == CURLE_OK)
      return {HttpEnd::Done, ""};
    if (Code == CURLE_WRITE_ERROR && T.Received > T.MaxBytes)
      return {HttpEnd::TooLarge, "the answer is longer than " +
                                     std::to_string(T.MaxBytes) + " bytes"};
    std::string Why = *T.CurlMessage ? T.CurlMessage : curl_easy_strerror(Code);
    if (Code == CURLE_OPERATION_TIMEDOUT)
      return {HttpEnd::Timeout, "no connection: " + Why};
    if (Code == CURLE_PEER_FAILED_VERIFICATION ||
        Code == CURLE_SSL_CACERT_BADFILE || Code == CURLE_SSL_CERTPROBLEM)
      return {HttpEnd::Security, Why};
    return {HttpEnd::Network, Why};
  }

  /// The engine's own clocks.
  void expire() {
    Clock::time_point Now = Clock::now();
    auto Since = [&](Clock::time_point Then) {
      return uint64_t(
          std::chrono::duration_cast<milliseconds>(Now - Then).count());
    };
    std::string Why;
    for (const std::shared_ptr<Transfer> &T : Active) {
      if (Since(T->Started) > T->Limits.TotalMs)
        Why = "the answer took longer than " + seconds(T->Limits.TotalMs);
      else if (!T->Answered && Since(T->Started) > T->Limits.FirstByteMs)
        Why = "no answer began within " + seconds(T->Limits.FirstByteMs);
      else if (T->Answered && Since(T->LastByte) > T->Limits.IdleMs)
        Why = "the answer stopped for more than " + seconds(T->Limits.IdleMs);
      else
        continue;
      drop(std::shared_ptr<Transfer>(T), HttpEnd::Timeout, Why);
      return; // Active has changed; the next turn sees the rest
    }
  }

  static std::string seconds(uint64_t Ms) {
    return Ms % 1000 ? std::to_string(Ms) + " ms"
                     : std::to_string(Ms / 1000) + " s";
  }

  void drop(std::shared_ptr<Transfer> T, HttpEnd How, std::string Why) {
    auto At = llvm::find(Active, T);
    if (At != Active.end()) {
      long RequestBytes = 0;
      curl_easy_getinfo(T->Easy.get(), CURLINFO_REQUEST_SIZE, &RequestBytes);
      {
        std::lock_guard<std::mutex> Guard(T->Lock);
        T->Asked = RequestBytes > 0;
      }
      curl_multi_remove_handle(Multi, T->Easy.get());
      Active.erase(At);
    }
    T->finish(How, std::move(Why));
  }

  CURLM *Multi = nullptr;
  std::atomic<bool> Stopping{false};
  std::mutex Lock;
  Queue Added, Dropped;
  Queue Active; ///< of the I/O thread alone
  std::thread Thread;
};

HttpEngine::HttpEngine() : TheLoop(std::make_unique<Loop>()) {}
HttpEngine::~HttpEngine() = default;

static void append(std::unique_ptr<curl_slist, ListDeleter> &List,
                   const std::string &Line) {
  // curl copies the line; a failure leaves the list as it was.
  if (curl_slist *Longer = curl_slist_append(List.get(), Line.c_str())) {
    (void)List.release();
    List.reset(Longer);
  }
}

static std::string hostOf(llvm::StringRef Url, std::string &Scheme) {
  std::unique_ptr<CURLU, UrlDeleter> Parsed(curl_url());
  if (curl_url_set(Parsed.get(), CURLUPART_URL, Url.str().c_str(), 0) !=
      CURLUE_OK)
    return "";
  auto Part = [&](CURLUPart Which) {
    char *Text = nullptr;
    curl_url_get(Parsed.get(), Which, &Text, 0);
    std::string Result = Text ? Text : "";
    curl_free(Text);
    return Result;
  };
  Scheme = Part(CURLUPART_SCHEME);
  return Part(CURLUPART_HOST);
}

llvm::Error stark::checkUrl(llvm::StringRef Url) {
  std::string Scheme, Host = hostOf(Url, Scheme);
  if (Host.empty())
    return usageError("base URL: got '" + redact(Url, Secret()) +
                      "', wanted https://HOST/...");
  bool Loopback =
      Host == "localhost" || Host == "[::1]" ||
      (llvm::StringRef(Host).starts_with("127.") &&
       llvm::StringRef(Host).count('.') == 3 &&
       llvm::all_of(Host, [](char C) { return llvm::isDigit(C) || C == '.'; }));
  if (Scheme == "https" || (Scheme == "http" && Loopback))
    return llvm::Error::success();
  return usageError("base URL: got '" + redact(Url, Secret()) +
                    "', wanted https (http is for this machine's own " +
                    "addresses only: a key would travel in the clear)");
}

static std::shared_ptr<Transfer> prepare(const HttpRequest &Request) {
  auto T = std::make_shared<Transfer>();
  T->Limits = Request.Timeouts;
  T->MaxBytes = Request.MaxBytes;
  CURL *E = T->Easy.get();
  append(T->Headers, "Expect:"); // no pause before a long body
  for (const std::string &Line : Request.Headers)
    append(T->Headers, Line);
  if (Request.Key && !Request.Key->empty()) {
    std::string Line = Request.KeyHeader + Request.Key->reveal();
    append(T->Headers, Line);
    explicit_bzero(Line.data(), Line.size());
  }
  curl_easy_setopt(E, CURLOPT_URL, Request.Url.c_str());
  curl_easy_setopt(E, CURLOPT_HTTPHEADER, T->Headers.get());
  if (!Request.Get) {
    curl_easy_setopt(E, CURLOPT_POSTFIELDSIZE_LARGE,
                     curl_off_t(Request.Body.size()));
    curl_easy_setopt(E, CURLOPT_COPYPOSTFIELDS, Request.Body.c_str());
  }
  curl_easy_setopt(E, CURLOPT_ERRORBUFFER, T->CurlMessage);
  curl_easy_setopt(E, CURLOPT_HEADERFUNCTION, takeHeader);
  curl_easy_setopt(E, CURLOPT_HEADERDATA, T.get());
  curl_easy_setopt(E, CURLOPT_WRITEFUNCTION, takeBody);
  curl_easy_setopt(E, CURLOPT_WRITEDATA, T.get());
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
  return T;
}

HttpResult HttpEngine::perform(const HttpRequest &Request, Receiver Receive,
                               const std::atomic<bool> *Cancelled) {
  HttpResult Result;
  Secret None;
  const Secret &Key = Request.Key ? *Request.Key : None;
  std::shared_ptr<Transfer> T = prepare(Request);
  TheLoop->add(T);
  std::unique_lock<std::mutex> Guard(T->Lock);
  for (;;) {
    T->Changed.wait_for(Guard, milliseconds(50), [&] {
      return T->Ended || !T->Bytes.empty() || (Cancelled && *Cancelled);
    });
    bool Stop = Cancelled && *Cancelled && !T->Ended;
    std::string Bytes;
    Bytes.swap(T->Bytes);
    bool Ended = T->Ended;
    Result.Answer = T->Answer;
    if (!Stop && !Bytes.empty()) {
      Guard.unlock();
      if (llvm::Error E = Receive(Result.Answer, Bytes)) {
        TheLoop->cancel(T);
        Result.End = HttpEnd::Stopped;
        Result.Asked = true;
        Result.Message = redact(llvm::toString(std::move(E)), Key);
        return Result;
      }
      Guard.lock();
      continue;
    }
    if (Stop) {
      Guard.unlock();
      TheLoop->cancel(T);
      Result.End = HttpEnd::Cancelled;
      Result.Message = "cancelled";
      return Result;
    }
    if (Ended && T->Bytes.empty()) {
      Result.End = T->End;
      Result.Asked = T->Asked;
      Result.Message = redact(T->Message, Key);
      return Result;
    }
  }
}
