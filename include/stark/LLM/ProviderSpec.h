//===- ProviderSpec.h - Who is asked, as a user says it ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   "exchange:talk" -> ProviderSpec -> ChatClient
/// A spec is parsed once, where it comes in; from there on it is this value.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_PROVIDERSPEC_H
#define STARK_LLM_PROVIDERSPEC_H

#include "stark/LLM/ChatClient.h"
#include <memory>
#include <string>

namespace stark {

struct ProviderSpec {
  enum class Kind {
    Rules,    ///< "rules": answers are made by rewrites, no model
    Exchange, ///< "exchange:DIR": requests and answers as files in DIR
    Replay,   ///< "replay:RUN": the replies of the run in the folder RUN
    Config,   ///< "config:FILE": a provider and a model for each role
    Http,     ///< "anthropic", ...: a name of the table of models
  };
  Kind Of = Kind::Rules;
  /// The folder, run or file, or the name of the provider; empty for rules.
  std::string Where;

  bool operator==(const ProviderSpec &) const = default;
  /// The run that is replayed, empty for every other kind.
  std::string replayedRun() const { return Of == Kind::Replay ? Where : ""; }
};

/// Errors: usage, when \p Text is neither a kind with its argument nor a
/// provider of the table of models; those of ModelTable::load(), which \p
/// ModelsFile (may be empty) extends.
llvm::Expected<ProviderSpec> parseProviderSpec(llvm::StringRef Text,
                                               llvm::StringRef ModelsFile);
/// What parseProviderSpec() reads back.
std::string printProviderSpec(const ProviderSpec &Spec);

struct ChatClientOptions {
  ExchangeOptions Exchange;
  std::string Model;      ///< of an HTTP provider; empty: its default
  std::string BaseUrl;    ///< likewise
  std::string ModelsFile; ///< extends the table of models; may be empty
  std::string ReplayedAs; ///< provider of the run that is replayed
  bool NeedsKey = true;   ///< false where nothing will be sent
};

/// Errors: those of makeExchangeClient(), makeReplayClient(),
/// makeConfiguredClient() and makeProvider().
llvm::Expected<std::unique_ptr<ChatClient>>
makeChatClient(const ProviderSpec &Spec, const ChatClientOptions &Options,
               Clock &Time);

} // namespace stark

#endif
