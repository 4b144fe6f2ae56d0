//===- NearZeroTest.cpp - What chance makes of an output of few elements --===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/NearZero.h"
#include <gtest/gtest.h>

using namespace stark::job;
using namespace stark::judge;

// Only what is near zero for its own inputs is allowed what is usual.
TEST(NearZero, OfItsOwnDraw) {
  UsualSizes Sizes;
  for (unsigned I = 0; I < UsualSizes::Others; ++I) {
    Sizes.add(0, 1);
    Sizes.add(1, 1);
    Sizes.add(2, 0);
  }
  Sizes.add(0, 0.01);
  Sizes.add(1, 0.5);
  Sizes.add(2, 0);
  std::map<unsigned, double> Scales = Sizes.scales();
  ASSERT_EQ(Scales.size(), 1u);
  EXPECT_NEAR(Scales[0], 89.4, 0.1);
}

// Values of the workload's own are not moved; those of the tool in several ways
// where the output is of few elements.
TEST(NearZero, WaysToShake) {
  Job J;
  J.Leaves.resize(1);
  J.Leaves[0].Kind = LeafKind::Buffer;
  J.Leaves[0].Use = Role::Output;
  J.Cases.resize(1);
  Case &C = J.Cases[0];
  C.Values.resize(1);
  C.Values[0].Shape = {31};
  C.Brief = true;
  EXPECT_EQ(waysToShake(J, 0), 0u);
  C.Filling = Regime::Tiny;
  EXPECT_EQ(waysToShake(J, 0), 4u);
  C.Values[0].Shape = {32};
  EXPECT_EQ(waysToShake(J, 0), 1u);
  C.Brief = false;
  EXPECT_EQ(waysToShake(J, 0), 0u);
}
