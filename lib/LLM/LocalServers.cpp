//===- LocalServers.cpp - Model servers of this machine ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "stark/Json/Find.h"
#include "stark/LLM/Provider.h"
#include "stark/Net/Url.h"
#include "llvm/ADT/STLExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

/// Names are a stranger's text: those that could be typed, and a few of them.
static std::vector<std::string> readModels(const json &Root) {
  std::vector<std::string> Names;
  for (const json &Model : elementsAt(Root, "/data")) {
    std::string Name = textAt(Model, "/id");
    if (!Name.empty() && Name.size() <= 200 && Names.size() < 5 &&
        llvm::all_of(Name, [](char C) { return C > ' ' && C < 127; }))
      Names.push_back(redact(Name, Secret()));
  }
  return Names;
}

static LocalServer ask(HttpEngine &Engine, const ProviderFacts &P,
                       uint64_t TimeoutMs) {
  LocalServer S;
  S.Provider = P.Name;
  S.Url = P.BaseUrl;
  HttpRequest Request;
  Request.How = HttpRequest::Method::Get;
  Request.Url = P.Wire->baseUrl(P.BaseUrl) + P.Wire->facts().ModelsPath.str();
  Request.Timeouts = {TimeoutMs, TimeoutMs, TimeoutMs, TimeoutMs};
  Request.MaxBytes = size_t(1) << 20;
  std::string Body;
  HttpResult Result = Engine.perform(
      Request,
      [&](const HttpAnswer &, llvm::StringRef Bytes) {
        Body += Bytes;
        return llvm::Error::success();
      },
      nullptr);
  long Status = Result.Answer.Status;
  const json Parsed = json::parse(Body, nullptr, false);
  if (Status == 200 && Result.End == HttpEnd::Done &&
      valueAt(Parsed, "/data")) {
    S.State = LocalServer::Answer::Models;
    S.Models = readModels(Parsed);
  } else if (Status == 401 || Status == 403) {
    S.State = LocalServer::Answer::WantsKey;
  } else if (Status == 503) {
    S.State = LocalServer::Answer::Loading;
  } else if (Status || Result.Asked) {
    S.State = LocalServer::Answer::Other;
  }
  return S;
}

std::vector<LocalServer> stark::findLocalServers(const ModelTable &Models,
                                                 uint64_t TimeoutMs,
                                                 Clock &Time) {
  std::vector<LocalServer> Found;
  HttpEngine Engine(Time);
  for (const ProviderFacts *P : Models.providers()) {
    // http is allowed for this machine's own addresses alone.
    if (!llvm::StringRef(P->BaseUrl).starts_with("http://"))
      continue;
    if (llvm::Error E = checkUrl(P->BaseUrl)) {
      llvm::consumeError(std::move(E));
      continue;
    }
    Found.push_back(ask(Engine, *P, TimeoutMs));
  }
  return Found;
}
