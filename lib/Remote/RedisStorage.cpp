//===- RedisStorage.cpp - A Redis server ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   hiredis connects, writes commands and reads replies; bytes are moved here,
/// since its time-out is one for each read and not for an answer, and it keeps
/// whatever a server sends.
///
//===----------------------------------------------------------------------===//

#include "Storages.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <cstring>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

using namespace stark;
using llvm::StringRef;

static constexpr unsigned DefaultPort = 6379;
static constexpr size_t Ignored = size_t(1) << 12;

namespace {
struct Freer {
  void operator()(redisContext *C) const { redisFree(C); }
  void operator()(redisReader *R) const { redisReaderFree(R); }
  void operator()(redisReply *R) const { freeReplyObject(R); }
};
using Reply = std::unique_ptr<redisReply, Freer>;

class RedisStorage : public TimedStorage {
public:
  RedisStorage(const UrlParts &Url, unsigned Number, Secret Credentials)
      : Host(StringRef(Url.Host).trim("[]").str()),
        Port(Url.Port ? Url.Port : DefaultPort), Number(Number),
        Credentials(std::move(Credentials)) {}

  llvm::Expected<std::optional<std::string>> get(StringRef Name, size_t Limit,
                                                 uint64_t Ms) override {
    llvm::Expected<Reply> R = ask({"GET", nameOf(Name)}, Limit, Ms);
    if (!R)
      return R.takeError();
    if ((*R)->type == REDIS_REPLY_NIL)
      return std::nullopt;
    if ((*R)->type != REDIS_REPLY_STRING)
      return strange(**R);
    return std::string((*R)->str, (*R)->len);
  }

  llvm::Expected<bool> has(StringRef Name, uint64_t Ms) override {
    llvm::Expected<Reply> R = ask({"EXISTS", nameOf(Name)}, 0, Ms);
    if (!R)
      return R.takeError();
    if ((*R)->type != REDIS_REPLY_INTEGER)
      return strange(**R);
    return (*R)->integer != 0;
  }

  llvm::Error put(StringRef Name, StringRef Bytes, uint64_t Ms) override {
    llvm::Expected<Reply> R = ask({"SET", nameOf(Name), Bytes.str()}, 0, Ms);
    if (!R)
      return R.takeError();
    return (*R)->type == REDIS_REPLY_STATUS ? llvm::Error::success()
                                            : strange(**R);
  }

private:
  using Words = std::vector<std::string>;

  static std::string nameOf(StringRef Name) { return "stark:" + Name.str(); }

  /// What a server says may hold anything, so no more than the first word.
  static llvm::Error strange(const redisReply &R) {
    std::string Said = "another kind of answer";
    if (R.type == REDIS_REPLY_ERROR) {
      StringRef Word = StringRef(R.str, R.len).take_while(llvm::isAlnum);
      Said = "error " + Word.take_front(32).str();
    }
    return failed("it answered with " + Said);
  }

  llvm::Expected<Reply> ask(const Words &Command, size_t Limit, uint64_t Ms) {
    Clock &Watch = machineClock();
    Deadline = Watch.now() + std::chrono::milliseconds(Ms);
    if (!Connection)
      if (llvm::Error E = connect(Ms))
        return E;
    return exchange(Command, Limit + Ignored);
  }

  uint64_t leftMs() const {
    auto Left = Deadline - machineClock().now();
    return uint64_t(std::max<int64_t>(
        0,
        std::chrono::duration_cast<std::chrono::milliseconds>(Left).count()));
  }

  llvm::Error connect(uint64_t Ms) {
    struct timeval Limit = {time_t(Ms / 1000), suseconds_t(Ms % 1000 * 1000)};
    Connection.reset(redisConnectWithTimeout(Host.c_str(), int(Port), Limit));
    if (!Connection || Connection->err) {
      std::string Why =
          Connection ? StringRef(Connection->errstr).str() : "no memory";
      Connection.reset();
      return failed("no connection: " + Why);
    }
    Reader.reset(redisReaderCreate());
    if (!Credentials.empty()) {
      auto [User, Password] = StringRef(Credentials.reveal()).split(':');
      Words Auth = {"AUTH", User.str()};
      if (StringRef(Credentials.reveal()).contains(':'))
        Auth.push_back(Password.str());
      llvm::Error E = expectOk(Auth);
      for (std::string &Word : Auth)
        explicit_bzero(Word.data(), Word.size());
      if (E)
        return E;
    }
    return Number ? expectOk({"SELECT", std::to_string(Number)})
                  : llvm::Error::success();
  }

  llvm::Error expectOk(const Words &Command) {
    llvm::Expected<Reply> R = exchange(Command, Ignored);
    if (R && (*R)->type == REDIS_REPLY_STATUS)
      return llvm::Error::success();
    Connection.reset();
    return R ? strange(**R) : R.takeError();
  }

  /// A connection on which something went wrong is given up.
  llvm::Expected<Reply> exchange(const Words &Command, size_t Limit) {
    llvm::Expected<Reply> R = sendAndReceive(Command, Limit);
    if (!R)
      Connection.reset();
    return R;
  }

  llvm::Expected<Reply> sendAndReceive(const Words &Command, size_t Limit) {
    std::vector<const char *> Texts;
    std::vector<size_t> Sizes;
    for (const std::string &Word : Command) {
      Texts.push_back(Word.data());
      Sizes.push_back(Word.size());
    }
    char *Formatted = nullptr;
    long long Size = redisFormatCommandArgv(&Formatted, int(Command.size()),
                                            Texts.data(), Sizes.data());
    if (Size < 0)
      return failed("no memory");
    llvm::Error Sent = send(StringRef(Formatted, size_t(Size)));
    explicit_bzero(Formatted, size_t(Size));
    redisFreeCommand(Formatted);
    if (Sent)
      return Sent;
    size_t Received = 0;
    for (;;) {
      void *Whole = nullptr;
      if (redisReaderGetReply(Reader.get(), &Whole) != REDIS_OK)
        return failed("it does not speak Redis' protocol");
      if (Whole)
        return Reply(static_cast<redisReply *>(Whole));
      if (llvm::Error E = wait(POLLIN))
        return E;
      char Buffer[1 << 14];
      ssize_t Count =
          ::recv(Connection->fd, Buffer, sizeof(Buffer), MSG_DONTWAIT);
      if (Count < 0 && (errno == EAGAIN || errno == EINTR))
        continue;
      if (Count <= 0)
        return failed("the connection was closed");
      Received += size_t(Count);
      if (Received > Limit)
        return failed("the answer is longer than " + llvm::Twine(Limit) +
                      " bytes");
      if (redisReaderFeed(Reader.get(), Buffer, size_t(Count)) != REDIS_OK)
        return failed("no memory");
    }
  }

  llvm::Error send(StringRef Bytes) {
    while (!Bytes.empty()) {
      if (llvm::Error E = wait(POLLOUT))
        return E;
      ssize_t Count = ::send(Connection->fd, Bytes.data(), Bytes.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
      if (Count < 0 && (errno == EAGAIN || errno == EINTR))
        continue;
      if (Count < 0)
        return failed(llvm::Twine("the connection was cut: ") +
                      std::strerror(errno));
      Bytes = Bytes.drop_front(size_t(Count));
    }
    return llvm::Error::success();
  }

  llvm::Error wait(short For) {
    struct pollfd P = {Connection->fd, For, 0};
    uint64_t Left = leftMs();
    if (Left == 0 || ::poll(&P, 1, int(Left)) == 0)
      return failed("it took too long");
    return llvm::Error::success();
  }

  const std::string Host;
  const unsigned Port, Number;
  const Secret Credentials;
  Clock::Time Deadline;
  std::unique_ptr<redisContext, Freer> Connection;
  std::unique_ptr<redisReader, Freer> Reader;
};
} // namespace

llvm::Expected<std::unique_ptr<TimedStorage>>
stark::makeRedisStorage(const UrlParts &Url, Secret Credentials) {
  StringRef Path = StringRef(Url.Path).trim('/');
  unsigned Number = 0;
  if (!Path.empty() && Path.getAsInteger(10, Number))
    return usageError("STARK_REMOTE: got database '" + Path +
                      "', wanted a number");
  return std::make_unique<RedisStorage>(Url, Number, std::move(Credentials));
}
