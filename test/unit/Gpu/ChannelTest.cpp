//===- ChannelTest.cpp - Questions and answers with a deadline ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace stark;
using namespace stark::gpu;

namespace {
/// Each look at it is 400 ms later than the one before.
class HastyClock : public FakeClock {
public:
  Time now() override {
    advance(std::chrono::milliseconds(400));
    return FakeClock::now();
  }
};

/// A child in a thread: answers one request with what \p Body sends.
class ChannelTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, Pair), 0);
  }
  Answer ask(Clock &Time, uint64_t TimeoutMs,
             const std::function<void(const Request &, int)> &Body) {
    Channel C(Pair[0], Time);
    std::thread Child([&] {
      Request R;
      if (recv(Pair[1], &R, sizeof(R), 0) == sizeof(R))
        Body(R, Pair[1]);
      close(Pair[1]);
    });
    C.send(Request());
    Answer A = C.receive(TimeoutMs);
    Child.join();
    return A;
  }
  static void reply(int To, uint64_t Nonce, uint64_t Count) {
    Reply R;
    R.Nonce = Nonce;
    R.Count = Count;
    (void)!send(To, &R, sizeof(R), MSG_NOSIGNAL);
  }
  int Pair[2];
};
} // namespace

// However late an answer is, it is in time when the clock says so.
TEST_F(ChannelTest, AnAnswerInTime) {
  FakeClock Still;
  Answer A = ask(Still, 1, [](const Request &R, int To) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reply(To, R.Nonce, 7);
  });
  EXPECT_EQ(A.What, Answer::Replied);
  EXPECT_EQ(A.R.Count, 7u);
  EXPECT_EQ(A.WallUs, 0);
}

// What a request took is the clock's to tell.
TEST_F(ChannelTest, TheTimeIsTheClocks) {
  HastyClock Hasty;
  Answer A = ask(Hasty, 10000,
                 [](const Request &R, int To) { reply(To, R.Nonce, 7); });
  EXPECT_EQ(A.What, Answer::Replied);
  EXPECT_EQ(A.WallUs, 800e3);
}

TEST_F(ChannelTest, NoAnswerInTime) {
  HastyClock Hasty;
  Channel C(Pair[0], Hasty);
  C.send(Request());
  EXPECT_EQ(C.receive(500).What, Answer::TimedOut);
  close(Pair[1]);
}

TEST_F(ChannelTest, AChildThatIsGone) {
  FakeClock Still;
  EXPECT_EQ(ask(Still, 1000, [](const Request &, int) {}).What, Answer::Closed);
}

// What the library sends by itself is none of the harness's answers: another
// size, another nonce.
TEST_F(ChannelTest, ForgedAnswersAreNotListenedTo) {
  FakeClock Still;
  Answer A = ask(Still, 1000, [](const Request &R, int To) {
    reply(To, R.Nonce + 1, 1);
    (void)!send(To, &R, sizeof(R.Nonce), MSG_NOSIGNAL);
    char Long[sizeof(Reply) + 8] = {};
    std::memcpy(Long, &R.Nonce, sizeof(R.Nonce));
    (void)!send(To, Long, sizeof(Long), MSG_NOSIGNAL);
    reply(To, R.Nonce, 7);
  });
  EXPECT_EQ(A.What, Answer::Replied);
  EXPECT_EQ(A.R.Count, 7u);
}
