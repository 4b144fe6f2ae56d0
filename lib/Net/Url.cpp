//===- Url.cpp - Addresses that a key may be sent to ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Net/Url.h"
#include "stark/Net/Secret.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <curl/curl.h>
#include <memory>

using namespace stark;

namespace {
struct UrlDeleter {
  void operator()(CURLU *U) const { curl_url_cleanup(U); }
};
} // namespace

std::optional<UrlParts> stark::parseUrl(llvm::StringRef Url) {
  std::unique_ptr<CURLU, UrlDeleter> Parsed(curl_url());
  if (curl_url_set(Parsed.get(), CURLUPART_URL, Url.str().c_str(),
                   CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return std::nullopt;
  auto Part = [&](CURLUPart Which) {
    char *Text = nullptr;
    curl_url_get(Parsed.get(), Which, &Text, 0);
    std::string Result = Text ? Text : "";
    curl_free(Text);
    return Result;
  };
  UrlParts Parts;
  Parts.Scheme = Part(CURLUPART_SCHEME);
  Parts.Host = Part(CURLUPART_HOST);
  Parts.Path = Part(CURLUPART_PATH);
  (void)llvm::StringRef(Part(CURLUPART_PORT)).getAsInteger(10, Parts.Port);
  return Parts;
}

bool stark::isLoopback(llvm::StringRef Host) {
  return Host == "localhost" || Host == "[::1]" ||
         (Host.starts_with("127.") && Host.count('.') == 3 &&
          llvm::all_of(Host,
                       [](char C) { return llvm::isDigit(C) || C == '.'; }));
}

llvm::Error stark::checkUrl(llvm::StringRef Url) {
  std::optional<UrlParts> Parts = parseUrl(Url);
  if (!Parts || Parts->Host.empty())
    return usageError("base URL: got '" + redact(Url, Secret()) +
                      "', wanted https://HOST/...");
  if (Parts->Scheme == "https" ||
      (Parts->Scheme == "http" && isLoopback(Parts->Host)))
    return llvm::Error::success();
  return usageError("base URL: got '" + redact(Url, Secret()) +
                    "', wanted https (http is for this machine's own " +
                    "addresses only: a key would travel in the clear)");
}
