//===- RandomTest.cpp -----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Random.h"
#include "gtest/gtest.h"
#include <map>

using namespace stark;

namespace {
// The sequence is the standard's: its 10000th number for the default seed is
// given in [rand.predef].
TEST(Random, SequenceIsTheStandards) {
  Random R(5489);
  uint64_t Last = 0;
  for (int I = 0; I < 10000; ++I)
    Last = R.next();
  EXPECT_EQ(Last, 9981545732273789042u);
}

TEST(Random, UniformLiesInTheHalfOpenInterval) {
  Random R(1);
  double Sum = 0;
  for (int I = 0; I < 10000; ++I) {
    double U = R.uniform();
    ASSERT_GE(U, 0.0);
    ASSERT_LT(U, 1.0);
    Sum += U;
  }
  EXPECT_NEAR(Sum / 10000, 0.5, 0.02);
}

// Each of the ten subsets of two out of five is drawn about as often.
TEST(Random, SamplesAreUniform) {
  Random R(7);
  std::map<std::vector<size_t>, int> Seen;
  for (int I = 0; I < 10000; ++I)
    ++Seen[R.sample(5, 2)];
  EXPECT_EQ(Seen.size(), 10u);
  for (const auto &[Subset, Count] : Seen)
    EXPECT_NEAR(Count, 1000, 150);
}
} // namespace
