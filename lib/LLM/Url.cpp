//===- Url.cpp - Addresses that a key may be sent to ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Url.h"
#include "Secret.h"
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
