//===- TracedTest.cpp - A time beside what the device did -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Traced.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace stark::judge;
using testing::HasSubstr;

namespace {
/// As many as a size has.
std::vector<TracedCall> calls(double EventUs, double WorkUs,
                              uint64_t Works = 1) {
  return std::vector<TracedCall>(12, {EventUs, WorkUs, Works});
}

TEST(Traced, BelievesWhatLiesBetweenTheEvents) {
  EXPECT_EQ(whyUntrue(4.0, calls(4.0, 1.6)), "");
  EXPECT_EQ(whyUntrue(128, calls(128.5, 126.1)), "");
  // A host that launches slowly leaves the device idle.
  EXPECT_EQ(whyUntrue(20, calls(22.5, 10.4, 10)), "");
}

TEST(Traced, RefusesWorkThatTheEventsDoNotSee) {
  EXPECT_THAT(whyUntrue(4.0, calls(4.0, 130.5, 2)),
              HasSubstr("works 130.50 us for a call, of which 4.00 us"));
  EXPECT_THAT(whyUntrue(1000, calls(1000, 1030)), HasSubstr("1030.00 us"));
  EXPECT_EQ(whyUntrue(1000, calls(1000, 1015)), "");
}

TEST(Traced, OneOddCallIsNotTheRule) {
  std::vector<TracedCall> Calls = calls(10, 8);
  Calls[3] = {10, 400, 1};
  EXPECT_EQ(whyUntrue(10, Calls), "");
  // One in which nothing was seen neither.
  Calls[4] = {10, 0, 0};
  EXPECT_EQ(whyUntrue(10, Calls), "");
}

TEST(Traced, RefusesATimeThatOnlyTimedCallsHave) {
  EXPECT_THAT(whyUntrue(10, calls(50, 48)),
              HasSubstr("48.00 us for a call at least while it is recorded "
                        "what it does, and 10.00 us where that is timed"));
  // Where its buffers lie may make half as much again.
  EXPECT_EQ(whyUntrue(35, calls(56, 55)), "");
}

TEST(Traced, SaysNothingOfWhatItDidNotSee) {
  EXPECT_EQ(whyUntrue(10, {}), "");
  EXPECT_EQ(whyUntrue(10, calls(10, 0, 0)), "");
}

TEST(Traced, TellsWhatEachCallKeeps) {
  std::vector<TracedCall> Calls = calls(10, 8);
  for (TracedCall &C : Calls)
    C.KeptBytes = 512;
  EXPECT_EQ(keptByEach(Calls), 512u);
  // A buffer that the first call takes, and one that a call gives back later.
  Calls[0].KeptBytes = 1 << 20;
  EXPECT_EQ(keptByEach(Calls), 512u);
  Calls[7].KeptBytes = -4096;
  EXPECT_EQ(keptByEach(Calls), 0u);
}
} // namespace
