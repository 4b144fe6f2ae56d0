//===- Provider.cpp - What a provider's name stands for ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Provider.h"
#include "HttpClient.h"
#include "stark/Net/Url.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"

using namespace stark;

std::shared_ptr<ProviderHub> stark::makeProviderHub(Clock &Time) {
  return std::make_shared<ProviderHub>(Time);
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
  Settings.BaseUrl = P->Wire->baseUrl(Settings.BaseUrl);
  if (Settings.KeyVariable.empty())
    Settings.KeyVariable = P->KeyVariable;
  llvm::Expected<Secret> Key = findSecret(Settings.KeyVariable);
  if (!Key)
    return Key.takeError();
  if (Key->empty() && !P->KeyOptional && Settings.NeedsKey)
    return usageError("provider '" + Settings.Provider + "': no key; set " +
                      Settings.KeyVariable + ", or " + Settings.KeyVariable +
                      "_FILE to a file that only you may read");

  ModelFacts Facts = Models.model(*P, Settings.Model);
  CallShape Shape;
  Shape.Model = Settings.Model;
  // Not known: try; what is refused is struck out.
  Shape.Temperature = Facts.Temperature.value_or(true);
  Shape.ApiVersion = Facts.ApiVersion;
  Shape.MaxTokensField = P->MaxTokensField;
  Shape.Schema = Facts.Schema.value_or(false);
  Shape.CacheMarks = P->CacheMarks;
  Shape.MaxOutputTokens = Facts.OutputTokens.value_or(0);
  return makeHttpClient({std::move(Settings), std::move(Facts), *P->Wire,
                         std::move(*Key), std::move(Hub)},
                        std::move(Shape));
}
