//===- HttpStorage.cpp - A server of files over HTTP ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   GET, HEAD and PUT below one address, as ccache and Bazel do.
///
//===----------------------------------------------------------------------===//

#include "Storages.h"
#include "stark/Net/HttpEngine.h"
#include "stark/Support/Error.h"

using namespace stark;

/// Of an answer that is only looked at for its status.
static constexpr size_t Ignored = size_t(1) << 16;

namespace {
class HttpStorage : public TimedStorage {
public:
  HttpStorage(std::string Url, Secret Credentials)
      : Url(std::move(Url)), Credentials(std::move(Credentials)),
        Engine(machineClock()) {}

  llvm::Expected<std::optional<std::string>>
  get(llvm::StringRef Name, size_t Limit, uint64_t Ms) override {
    std::string Body;
    llvm::Expected<long> Status =
        ask(HttpRequest::Method::Get, Name, "", Limit, Ms, &Body);
    if (!Status)
      return Status.takeError();
    if (*Status == 404)
      return std::nullopt;
    if (*Status == 200)
      return Body;
    return refused(*Status);
  }

  llvm::Expected<bool> has(llvm::StringRef Name, uint64_t Ms) override {
    llvm::Expected<long> Status =
        ask(HttpRequest::Method::Head, Name, "", Ignored, Ms);
    if (!Status)
      return Status.takeError();
    if (*Status != 404 && *Status != 200 && *Status != 204)
      return refused(*Status);
    return *Status != 404;
  }

  llvm::Error put(llvm::StringRef Name, llvm::StringRef Bytes,
                  uint64_t Ms) override {
    llvm::Expected<long> Status =
        ask(HttpRequest::Method::Put, Name, Bytes, Ignored, Ms);
    if (!Status)
      return Status.takeError();
    return *Status >= 200 && *Status < 300 ? llvm::Error::success()
                                           : refused(*Status);
  }

private:
  static llvm::Error refused(long Status) {
    return failed("it answered with HTTP " + llvm::Twine(Status) +
                  (Status >= 300 && Status < 400
                       ? ", and another address is not followed"
                       : ""));
  }

  llvm::Expected<long> ask(HttpRequest::Method How, llvm::StringRef Name,
                           llvm::StringRef Bytes, size_t Limit, uint64_t Ms,
                           std::string *Body = nullptr) {
    HttpRequest Request;
    Request.How = How;
    Request.Url = Url + "/" + Name.str();
    Request.Body = Bytes.str();
    Request.Headers = {"content-type: application/octet-stream"};
    Request.KeyHeader = "authorization: ";
    Request.Key = &Credentials;
    Request.Timeouts = {Ms, Ms, Ms, Ms};
    Request.MaxBytes = Limit + Ignored; // with its headers
    HttpResult Result = Engine.perform(
        Request,
        [&](const HttpAnswer &A, llvm::StringRef Part) -> llvm::Error {
          if (!Body || A.Status != 200)
            return llvm::Error::success();
          Body->append(Part.begin(), Part.end());
          return Body->size() <= Limit ? llvm::Error::success()
                                       : failed("the answer is longer than " +
                                                llvm::Twine(Limit) + " bytes");
        },
        nullptr);
    if (Result.End != HttpEnd::Done)
      return failed(Result.Message);
    return Result.Answer.Status;
  }

  const std::string Url;
  const Secret Credentials;
  HttpEngine Engine;
};
} // namespace

std::unique_ptr<TimedStorage> stark::makeHttpStorage(std::string Url,
                                                     Secret Credentials) {
  return std::make_unique<HttpStorage>(std::move(Url), std::move(Credentials));
}
