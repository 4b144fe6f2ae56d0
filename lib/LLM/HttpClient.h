//===- HttpClient.h - A client over one model's API -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ChatRequest -> a try -> wait, strike out, try again -> ChatReply
/// HttpTry.cpp makes one try, HttpClient.cpp decides what follows from it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_HTTPCLIENT_H
#define STARK_LIB_LLM_HTTPCLIENT_H

#include "Dialect.h"
#include "stark/LLM/Provider.h"
#include "stark/Posix/Clock.h"
#include <map>
#include <mutex>

namespace stark {

/// One account's clock: after a "come back later" every worker waits.
class Account {
public:
  Clock::Time notBefore() const {
    std::lock_guard<std::mutex> Guard(Lock);
    return Earliest;
  }
  void postpone(Clock::Time To) {
    std::lock_guard<std::mutex> Guard(Lock);
    Earliest = std::max(Earliest, To);
  }

private:
  mutable std::mutex Lock;
  Clock::Time Earliest;
};

class ProviderHub {
public:
  explicit ProviderHub(Clock &Time) : Time(Time), Engine(Time) {}

  Clock &Time;
  HttpEngine Engine;

  /// The one of an address and the name of a key.
  Account &account(const std::string &BaseUrl, const std::string &KeyVariable) {
    std::lock_guard<std::mutex> Guard(Lock);
    return Accounts[BaseUrl + "|" + KeyVariable];
  }

private:
  std::mutex Lock;
  std::map<std::string, Account> Accounts;
};

/// Who is asked, and how; all of it known.
struct Endpoint {
  ProviderSettings Settings;
  ModelFacts Facts;
  const Dialect &Wire;
  Secret Key;
  std::shared_ptr<ProviderHub> Hub;
};

/// What one try came to: an answer, or why not.
struct Try {
  std::optional<Fault> Problem;
  Answer Got;
  WireRequest Sent;
  bool Charged = false; ///< whatever became of the answer
};

/// Asks once; blocks for \p LeftMs at most.
Try tryOnce(const Endpoint &At, const ChatRequest &Request,
            const CallShape &Shape, const CallControl &Control,
            uint64_t LeftMs);

std::unique_ptr<ChatClient> makeHttpClient(Endpoint At, CallShape Shape);

} // namespace stark

#endif
