//===- Remote.cpp - The remote of a team ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Remote/Remote.h"
#include "Storages.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/Error.h"
#include "llvm/Support/Base64.h"

using namespace stark;

namespace {
class MeteredStorage : public RemoteStorage {
public:
  MeteredStorage(std::unique_ptr<TimedStorage> Inner, const RemoteSpec &Spec,
                 const RemoteState &State)
      : Inner(std::move(Inner)), TimeoutMs(Spec.TimeoutMs), State(State) {}

  llvm::Expected<std::optional<std::string>> get(llvm::StringRef Name,
                                                 size_t Limit) override {
    return timed([&](uint64_t Ms) { return Inner->get(Name, Limit, Ms); });
  }
  llvm::Expected<bool> has(llvm::StringRef Name) override {
    return timed([&](uint64_t Ms) { return Inner->has(Name, Ms); });
  }
  llvm::Error put(llvm::StringRef Name, llvm::StringRef Bytes) override {
    return timed([&](uint64_t Ms) { return Inner->put(Name, Bytes, Ms); });
  }

private:
  template <class Function>
  auto timed(Function Ask) -> decltype(Ask(uint64_t())) {
    uint64_t Left = State.leftMs(TimeoutMs);
    if (Left == 0)
      return failed("its answers took longer than " + llvm::Twine(TimeoutMs) +
                    " ms together");
    Clock::Time Begin = machineClock().now();
    auto Answer = Ask(Left);
    State.answered(machineClock().millisecondsSince(Begin));
    return Answer;
  }

  const std::unique_ptr<TimedStorage> Inner;
  const uint64_t TimeoutMs;
  const RemoteState &State;
};
} // namespace

/// Of the file that \p Spec names; empty when it names none.
static llvm::Expected<Secret> credentialsOf(const RemoteSpec &Spec) {
  bool Bearer = !Spec.BearerFile.empty();
  const std::string &File = Bearer ? Spec.BearerFile : Spec.BasicFile;
  if (File.empty())
    return Secret();
  return readSecretFile(File, Bearer ? "STARK_REMOTE: bearer-file"
                                     : "STARK_REMOTE: basic-file");
}

llvm::Expected<std::unique_ptr<RemoteStorage>>
stark::openRemote(const RemoteSpec &Spec, const RemoteState &State) {
  llvm::Expected<Secret> Credentials = credentialsOf(Spec);
  if (!Credentials)
    return Credentials.takeError();
  std::unique_ptr<TimedStorage> Made;
  llvm::StringRef Folder = Spec.Url;
  std::optional<UrlParts> Url = parseUrl(Spec.Url);
  if (Folder.consume_front("file://")) {
    Made = makeFileStorage(Folder.str());
  } else if (!Url || Url->Host.empty()) {
    return usageError("STARK_REMOTE: '" + Spec.Url + "' is no address");
  } else if (Url->Scheme == "redis") {
    if (!Spec.BearerFile.empty())
      return usageError("STARK_REMOTE: got bearer-file, but redis:// takes "
                        "basic-file");
    llvm::Expected<std::unique_ptr<TimedStorage>> Redis =
        makeRedisStorage(*Url, std::move(*Credentials));
    if (!Redis)
      return Redis.takeError();
    Made = std::move(*Redis);
  } else {
    if (!Credentials->empty() && Url->Scheme == "http" &&
        !isLoopback(Url->Host))
      return usageError("STARK_REMOTE: got http:// and a password, wanted "
                        "https://: it would travel in the clear");
    if (!Credentials->empty())
      *Credentials =
          Spec.BearerFile.empty()
              ? Secret("Basic " + llvm::encodeBase64(Credentials->reveal()))
              : Secret("Bearer " + Credentials->reveal());
    Made = makeHttpStorage(Spec.Url, std::move(*Credentials));
  }
  return std::make_unique<MeteredStorage>(std::move(Made), Spec, State);
}
