//===- ClockTest.cpp - The clock seam -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Clock.h"
#include <gtest/gtest.h>

using namespace stark;
using namespace std::chrono_literals;

// A fake clock moves only when it is told to, however long the test takes.
TEST(Clock, AFakeOneStandsStillButForSleepAndAdvance) {
  FakeClock C;
  Clock::Time Start = C.now();
  EXPECT_EQ(C.now(), Start);
  C.sleep(1500us);
  EXPECT_EQ(C.microsecondsSince(Start), 1500);
  EXPECT_EQ(C.millisecondsSince(Start), 1u);
  C.sleep(-5s);
  C.advance(24h);
  EXPECT_EQ(C.now() - Start, 24h + 1500us);
}

// The machine's sleeps at least as long as it was asked to.
TEST(Clock, TheMachinesGoesOn) {
  Clock &C = machineClock();
  Clock::Time Start = C.now();
  C.sleep(2ms);
  EXPECT_GE(C.now() - Start, 2ms);
}
