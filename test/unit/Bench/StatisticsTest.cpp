//===- StatisticsTest.cpp ------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Statistics.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace stark;

// The means of known values, and none of no values.
TEST(Statistics, Means) {
  EXPECT_DOUBLE_EQ(mean({1.0, 2.0, 6.0}), 3);
  EXPECT_DOUBLE_EQ(median({6, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({6, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(geometricMean({1.0, 4.0}), 2);
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(geometricMean({})));
}

// The interval holds the geometric mean, is the same each time, narrows with
// more groups, and there is none of a single group.
TEST(Statistics, Bootstrap) {
  std::vector<std::vector<double>> Few, Many;
  for (int I = 0; I < 400; ++I) {
    std::vector<double> Group = {1 + double(I % 20) / 10};
    Many.push_back(Group);
    if (I < 20)
      Few.push_back(Group);
  }
  Interval A = bootstrapGeometricMean(Few), B = bootstrapGeometricMean(Many);
  EXPECT_LT(A.Low, 1.86);
  EXPECT_GT(A.High, 1.86);
  EXPECT_LT(B.High - B.Low, (A.High - A.Low) / 3);
  EXPECT_EQ(A.Low, bootstrapGeometricMean(Few).Low);
  EXPECT_TRUE(std::isnan(bootstrapGeometricMean({{1, 2}, {}}).Low));
}

// Values of one group stay together: ten copies of a value in a group tell no
// more than the value does.
TEST(Statistics, BootstrapOfGroups) {
  std::vector<std::vector<double>> Once, Tenfold;
  for (double V : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    Once.push_back({V});
    Tenfold.push_back(std::vector<double>(10, V));
  }
  EXPECT_NEAR(bootstrapGeometricMean(Once).Low,
              bootstrapGeometricMean(Tenfold).Low, 1e-9);
}
