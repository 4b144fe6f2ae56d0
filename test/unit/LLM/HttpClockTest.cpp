//===- HttpClockTest.cpp - When a call waits and when it gives up ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpClient.h"
#include <arpa/inet.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace stark;
using std::chrono::milliseconds;
using std::chrono::minutes;

namespace {
constexpr uint64_t LongMs = 10 * 60 * 1000;

/// A port of this machine: whoever connects to it is refused, or, where it
/// listens, gets no answer.
class Port {
public:
  explicit Port(bool Listens) {
    Socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in Address = {};
    Address.sin_family = AF_INET;
    Address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto *A = reinterpret_cast<sockaddr *>(&Address);
    socklen_t Size = sizeof(Address);
    EXPECT_EQ(::bind(Socket, A, Size), 0);
    EXPECT_EQ(::getsockname(Socket, A, &Size), 0);
    if (Listens) {
      EXPECT_EQ(::listen(Socket, 1), 0);
    }
    Url = "http://127.0.0.1:" + std::to_string(ntohs(Address.sin_port));
  }
  ~Port() { ::close(Socket); }
  Port(const Port &) = delete;
  Port &operator=(const Port &) = delete;

  std::string Url;

private:
  int Socket;
};

/// Each look at it is a minute later than the one before.
class HastyClock : public FakeClock {
public:
  Time now() override {
    advance(minutes(1));
    return FakeClock::now();
  }
};

/// Does something in the third sleep.
class ThirdSleep : public FakeClock {
public:
  explicit ThirdSleep(std::function<void()> Do) : Do(std::move(Do)) {}
  void sleep(Duration For) override {
    FakeClock::sleep(For);
    if (++Sleeps == 3)
      Do();
  }
  unsigned Sleeps = 0;

private:
  std::function<void()> Do;
};

std::unique_ptr<ChatClient> client(const Port &At, const RetryPolicy &Retry,
                                   Clock &Time) {
  ProviderSettings Settings;
  Settings.Provider = "local";
  Settings.BaseUrl = At.Url;
  Settings.Retry = Retry;
  ModelFacts Facts;
  Facts.Id = "m";
  CallShape Shape;
  Shape.Model = "m";
  return makeHttpClient({std::move(Settings), std::move(Facts),
                         anthropicDialect(), Secret(), makeProviderHub(Time)},
                        std::move(Shape));
}

ChatRequest request() {
  ChatRequest R;
  R.Id = "0001-plan-1";
  R.Role = "plan";
  R.Messages = {{Speaker::User, "user"}};
  return R;
}

std::pair<ErrorKind, std::string> failure(ChatClient &C,
                                          const CallControl &Control = {}) {
  llvm::Expected<ChatReply> Reply = C.complete(request(), Control);
  if (Reply) {
    ADD_FAILURE() << "a reply";
    return {};
  }
  llvm::Error E = Reply.takeError();
  ErrorKind Kind = errorKind(E);
  return {Kind, llvm::toString(std::move(E))};
}
} // namespace

// Pauses of up to ten minutes pass by the clock that was handed in.
TEST(HttpClock, TriesPauseByTheClock) {
  Port Closed(/*Listens=*/false);
  FakeClock Time;
  auto Client = client(Closed, {4, 100 * LongMs, LongMs, LongMs}, Time);
  auto [Kind, Text] = failure(*Client);
  EXPECT_EQ(Kind, ErrorKind::Failed);
  EXPECT_NE(Text.find("no answer after 4 tries"), std::string::npos) << Text;
  EXPECT_GT(Time.now(), Clock::Time());
  EXPECT_LE(Time.now() - Clock::Time(), minutes(3 * 10));
}

// A try that would come after the time for all of them is not waited for.
TEST(HttpClock, NoTryComesTooLate) {
  Port Closed(/*Listens=*/false);
  FakeClock Time;
  auto Client = client(Closed, {1000, 3 * LongMs, LongMs, LongMs}, Time);
  auto [Kind, Text] = failure(*Client);
  EXPECT_EQ(Kind, ErrorKind::Failed);
  EXPECT_EQ(Text.find("no answer after 1000 tries"), std::string::npos) << Text;
  EXPECT_LE(Time.now() - Clock::Time(), minutes(3 * 10));
}

// An interrupt ends a pause at the next look, which comes soon.
TEST(HttpClock, AnInterruptEndsAPause) {
  Port Closed(/*Listens=*/false);
  std::atomic<bool> Cancelled = false;
  ThirdSleep Time([&] { Cancelled = true; });
  auto Client = client(Closed, {1000, 1000 * LongMs, LongMs, LongMs}, Time);
  CallControl Control;
  Control.Cancelled = &Cancelled;
  auto [Kind, Text] = failure(*Client, Control);
  EXPECT_EQ(Kind, ErrorKind::Interrupted);
  EXPECT_EQ(Text, "interrupted while waiting for local:m");
  EXPECT_EQ(Time.Sleeps, 3u);
  EXPECT_LE(Time.now() - Clock::Time(), milliseconds(3 * 50));
}

// A server that does not answer is given up by the clock, and by the first of
// its limits that has passed.
TEST(HttpClock, ASilentServerIsGivenUp) {
  Port Silent(/*Listens=*/true);
  HttpRequest Request;
  Request.Url = Silent.Url;
  auto Ignore = [](const HttpAnswer &, llvm::StringRef) {
    return llvm::Error::success();
  };
  HastyClock Time;
  HttpEngine Engine(Time);
  HttpResult Result = Engine.perform(Request, Ignore, nullptr);
  EXPECT_EQ(Result.End, HttpEnd::Timeout);
  EXPECT_EQ(Result.Message, "no answer began within 120 s");

  Request.Timeouts.TotalMs = 90'000;
  Result = Engine.perform(Request, Ignore, nullptr);
  EXPECT_EQ(Result.End, HttpEnd::Timeout);
  EXPECT_EQ(Result.Message, "the answer took longer than 90 s");
}

// What is in flight is ended by an interrupt alone where time stands still.
TEST(HttpClock, AnInterruptEndsWhatIsInFlight) {
  Port Silent(/*Listens=*/true);
  FakeClock Still;
  std::atomic<bool> Cancelled = false;
  auto Client = client(Silent, {}, Still);
  CallControl Control;
  Control.Cancelled = &Cancelled;
  std::thread Interrupts([&] {
    machineClock().sleep(milliseconds(20));
    Cancelled = true;
  });
  auto [Kind, Text] = failure(*Client, Control);
  Interrupts.join();
  EXPECT_EQ(Kind, ErrorKind::Interrupted);
  EXPECT_EQ(Text, "interrupted while waiting for local:m");
}
