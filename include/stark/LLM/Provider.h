//===- Provider.h - Models behind HTTP -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A ChatClient over a vendor's or a local server's API: streams, retries
/// with full jitter, drops once what a server refuses, and says in each reply
/// what was applied. Keys come from the environment, or from a file of mode
/// 0600 that NAME_FILE holds; they are never written anywhere.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_PROVIDER_H
#define STARK_LLM_PROVIDER_H

#include "stark/LLM/ChatClient.h"
#include "stark/LLM/Models.h"
#include "stark/Posix/Clock.h"
#include <memory>
#include <string>
#include <vector>

namespace stark {

struct RetryPolicy {
  unsigned Tries = 6;          ///< of one call, the first included
  uint64_t TotalMs = 900'000;  ///< no new try after that
  uint64_t FirstMs = 1'000;    ///< upper end of the first pause
  uint64_t LongestMs = 60'000; ///< of a pause; a server may ask for more
};

struct ProviderSettings {
  std::string Provider; ///< "anthropic", "llama.cpp": a name of the table
  std::string Model;    ///< empty: the provider's default
  std::string BaseUrl;  ///< empty: the provider's
  std::string KeyVariable;
  uint64_t ConnectMs = 10'000, FirstByteMs = 120'000, IdleMs = 90'000,
           TotalMs = 900'000;
  RetryPolicy Retry;
  /// False where nothing will be sent: then there need be no key.
  bool NeedsKey = true;
};

/// Transfers and not-before times that several clients share. Time-outs and
/// pauses are by \p Time.
class ProviderHub;
std::shared_ptr<ProviderHub> makeProviderHub(Clock &Time);

/// Success when a configuration, which may have come with somebody's sources,
/// may have the key of \p Settings sent where it says: to this machine, to a
/// host that the built-in table has for that key, or to one that the user's
/// environment names (STARK_KEY_HOSTS="KEY=host,KEY=host").
llvm::Error checkKeyHost(const ProviderSettings &Settings,
                         const ModelTable &Models);

/// Errors: no such provider, no model, no key, an address that a key may not
/// be sent to.
llvm::Expected<std::unique_ptr<ChatClient>>
makeProvider(const ProviderSettings &Settings, const ModelTable &Models,
             std::shared_ptr<ProviderHub> Hub);

/// What answers at the address of a provider that is this machine's own.
struct LocalServer {
  std::string Provider, Url;
  enum class Answer { Nobody, Models, WantsKey, Loading, Other };
  Answer State = Answer::Nobody;
  std::vector<std::string> Models; ///< names, at most five
};

/// Asks each of them for its models, and waits at most \p TimeoutMs for each.
/// No key is sent, and nothing leaves this machine.
std::vector<LocalServer> findLocalServers(const ModelTable &Models,
                                          uint64_t TimeoutMs, Clock &Time);

/// The client that a configuration file describes: docs/providers.md has the
/// format; \p NeedsKey is ProviderSettings'. Errors name file, field, what was
/// given and what was wanted.
llvm::Expected<std::unique_ptr<ChatClient>>
makeConfiguredClient(llvm::StringRef File, Clock &Time, bool NeedsKey = true);

} // namespace stark

#endif
