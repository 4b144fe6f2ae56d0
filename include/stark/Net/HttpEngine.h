//===- HttpEngine.h - One transfer a call ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   HttpRequest -> libcurl, polled by the caller's thread -> Receiver
/// Redirects are never followed (a key must not travel to another host), TLS is
/// verified, and what is compressed is handed on as it came. Time-outs are the
/// engine's own: libcurl's are too coarse for a stream.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_NET_HTTPENGINE_H
#define STARK_NET_HTTPENGINE_H

#include "stark/Net/Secret.h"
#include "stark/Posix/Clock.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stark {

struct HttpTimeouts {
  uint64_t ConnectMs = 10'000;
  uint64_t FirstByteMs = 120'000; ///< from the start to the first of the answer
  uint64_t IdleMs = 90'000;       ///< between two parts of it
  uint64_t TotalMs = 900'000;
};

struct HttpRequest {
  std::string Url;
  enum class Method { Post, Get, Head, Put };
  Method How = Method::Post;
  std::string Body; ///< of Post and Put
  /// "name: value", none of them secret.
  std::vector<std::string> Headers;
  /// The header that carries the key, up to the key: "x-api-key: ".
  std::string KeyHeader;
  const Secret *Key = nullptr;
  HttpTimeouts Timeouts;
  size_t MaxBytes = size_t(64) << 20; ///< of the answer
};

struct HttpAnswer {
  long Status = 0;
  /// Names in lower case, in the order of their arrival.
  std::vector<std::pair<std::string, std::string>> Headers;
  /// The first of that name, empty when there is none.
  llvm::StringRef header(llvm::StringRef Name) const;
};

/// How a transfer ended.
enum class HttpEnd {
  Done,
  Cancelled,
  Stopped,  ///< by the receiver; its error is the message
  Timeout,  ///< the message says which
  Network,  ///< not found, refused, cut, ...
  Security, ///< TLS could not be verified
  TooLarge,
};

struct HttpResult {
  HttpEnd End = HttpEnd::Done;
  std::string Message; ///< redacted
  bool Asked = false;  ///< the request went out: it may be charged for
  HttpAnswer Answer;
};

class HttpEngine {
public:
  /// Time-outs are by \p Time.
  explicit HttpEngine(Clock &Time);
  ~HttpEngine();

  /// Takes the bytes of the body as they arrive, after status and headers are
  /// known.
  using Receiver =
      llvm::unique_function<llvm::Error(const HttpAnswer &, llvm::StringRef)>;

  /// Blocks until the transfer has ended. May be called from many threads.
  HttpResult perform(const HttpRequest &Request, Receiver Receive,
                     const std::atomic<bool> *Cancelled);

private:
  /// Open connections of calls that have ended, for those that come.
  class Connections;
  std::unique_ptr<Connections> Idle;
  Clock &Time;
};

} // namespace stark

#endif
