//===- ProviderSpec.cpp - Who is asked, as a user says it ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/ProviderSpec.h"
#include "stark/LLM/Provider.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"

using namespace stark;
using Kind = ProviderSpec::Kind;

namespace {
/// A kind whose argument stands behind a colon.
struct Prefixed {
  Kind Of;
  llvm::StringLiteral Prefix;
};
} // namespace

static constexpr llvm::StringLiteral Rules = "rules";
static constexpr Prefixed PrefixedKinds[] = {
    {Kind::Exchange, "exchange:"},
    {Kind::Replay, "replay:"},
    {Kind::Config, "config:"},
};

llvm::Expected<ProviderSpec>
stark::parseProviderSpec(llvm::StringRef Text, llvm::StringRef ModelsFile) {
  if (Text == Rules)
    return ProviderSpec();
  for (const Prefixed &P : PrefixedKinds)
    if (llvm::StringRef Where = Text;
        Where.consume_front(P.Prefix) && !Where.empty())
      return ProviderSpec{P.Of, Where.str()};
  llvm::Expected<ModelTable> Models = ModelTable::load(ModelsFile);
  if (!Models)
    return Models.takeError();
  if (!Models->provider(Text))
    return usageError("provider: got '" + Text +
                      "', wanted rules, exchange:DIR, replay:RUN, config:FILE "
                      "or one of " +
                      Models->providerNames());
  return ProviderSpec{Kind::Http, Text.str()};
}

std::string stark::printProviderSpec(const ProviderSpec &Spec) {
  for (const Prefixed &P : PrefixedKinds)
    if (P.Of == Spec.Of)
      return (P.Prefix + Spec.Where).str();
  return Spec.Of == Kind::Rules ? Rules.str() : Spec.Where;
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeChatClient(const ProviderSpec &Spec,
                      const ChatClientOptions &Options, Clock &Time) {
  switch (Spec.Of) {
  case Kind::Rules:
    return makeRulesClient();
  case Kind::Exchange:
    return makeExchangeClient(Spec.Where, Options.Exchange, Time);
  case Kind::Replay:
    return makeReplayClient(Spec.Where, Options.ReplayedAs);
  case Kind::Config:
    return makeConfiguredClient(Spec.Where, Time, Options.NeedsKey);
  case Kind::Http:
    break;
  }
  llvm::Expected<ModelTable> Models = ModelTable::load(Options.ModelsFile);
  if (!Models)
    return Models.takeError();
  ProviderSettings Settings;
  Settings.Provider = Spec.Where;
  Settings.Model = Options.Model;
  Settings.BaseUrl = Options.BaseUrl;
  Settings.NeedsKey = Options.NeedsKey;
  return makeProvider(Settings, *Models, makeProviderHub(Time));
}
