//===- KeyHost.cpp - Where a key may be sent ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Models.h"
#include "stark/LLM/Provider.h"
#include "stark/Net/Url.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdlib>

using namespace stark;
using llvm::StringRef;

static constexpr const char *HostsVariable = "STARK_KEY_HOSTS";

/// Does the user's own environment say so?
static bool isNamed(StringRef Key, StringRef Host) {
  const char *Given = std::getenv(HostsVariable);
  llvm::SmallVector<StringRef> Pairs;
  StringRef(Given ? Given : "").split(Pairs, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Pair : Pairs) {
    auto [Name, Where] = Pair.trim().split('=');
    if (Name == Key && Where.equals_insensitive(Host))
      return true;
  }
  return false;
}

llvm::Error stark::checkKeyHost(const ProviderSettings &Settings,
                                const ModelTable &Models) {
  const ProviderFacts *P = Models.provider(Settings.Provider);
  if (!P)
    return llvm::Error::success(); // makeProvider() says so
  std::string Url = Settings.BaseUrl.empty() ? P->BaseUrl : Settings.BaseUrl,
              Key = Settings.KeyVariable.empty() ? P->KeyVariable
                                                 : Settings.KeyVariable;
  std::optional<UrlParts> To = parseUrl(Url);
  if (Key.empty() || !To || isLoopback(To->Host) || isNamed(Key, To->Host))
    return llvm::Error::success();
  llvm::Expected<ModelTable> Own = ModelTable::load("");
  if (!Own)
    return Own.takeError();
  for (const ProviderFacts *Known : Own->providers()) {
    std::optional<UrlParts> Home = parseUrl(Known->BaseUrl);
    if (Known->KeyVariable == Key && Home &&
        StringRef(Home->Host).equals_insensitive(To->Host))
      return llvm::Error::success();
  }
  return usageError("the configuration would send the key in " + Key + " to '" +
                    To->Host + "'; where that is meant, set " + HostsVariable +
                    "=" + Key + "=" + To->Host);
}
