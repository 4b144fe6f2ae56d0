//===- CompareTest.cpp - Right and wrong outputs -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Compare.h"
#include "stark/Job/Names.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
template <class T>
Comparison check(DType Type, const std::vector<T> &Got,
                 const std::vector<T> &Wanted, std::vector<int64_t> Shape,
                 double Tolerance) {
  return compare(Type, Got.data(), Wanted.data(), Shape, Tolerance,
                 poisonPattern(Type, 0));
}

template <class T> T poisoned(DType Type) {
  uint32_t Pattern = poisonPattern(Type, 0), Both[2] = {Pattern, Pattern};
  T Out;
  std::memcpy(&Out, Both, sizeof(T));
  return Out;
}

std::vector<float> ramp(size_t Count) {
  std::vector<float> V(Count);
  for (size_t I = 0; I < Count; ++I)
    V[I] = float(I % 7) - 3;
  return V;
}
} // namespace

TEST(Compare, EqualOutputsAreRight) {
  std::vector<float> V = ramp(1000);
  EXPECT_TRUE(check(DType::F32, V, V, {10, 100}, 0).ok());
}

TEST(Compare, TheFirstBadElementIsNamed) {
  std::vector<float> Wanted = ramp(1000), Got = Wanted;
  Got[420] += 1;
  Got[990] += 1;
  Comparison C = check(DType::F32, Got, Wanted, {10, 100}, 1e-4);
  EXPECT_EQ(C.Mismatches, 2u);
  EXPECT_EQ(C.FirstBad, 420u);
  EXPECT_EQ(C.Got, double(Got[420]));
  EXPECT_EQ(C.Wanted, double(Wanted[420]));
  EXPECT_GT(C.WorstError, 1);
  EXPECT_EQ(C.Unwritten, 0u);
}

TEST(Compare, TheScaleIsThatOfTheRow) {
  // An error that drowns in a large row stands out in a small one.
  std::vector<float> Wanted(128, 1000.0f);
  std::fill(Wanted.begin() + 64, Wanted.end(), 0.001f);
  std::vector<float> Got = Wanted;
  Got[3] += 0.01f;
  EXPECT_TRUE(check(DType::F32, Got, Wanted, {2, 64}, 1e-4).ok());
  Got[100] += 0.01f;
  Comparison C = check(DType::F32, Got, Wanted, {2, 64}, 1e-4);
  EXPECT_EQ(C.Mismatches, 1u);
  EXPECT_EQ(C.FirstBad, 100u);
}

TEST(Compare, ShortRowsAreJudgedTogether) {
  // [64, 1]: a row of one element would allow a near-zero one no error at all.
  std::vector<float> Wanted(64, 1.0f);
  Wanted[5] = 1e-9f;
  std::vector<float> Got = Wanted;
  Got[5] = -1e-9f;
  EXPECT_TRUE(check(DType::F32, Got, Wanted, {64, 1}, 1e-4).ok());
}

TEST(Compare, SmallOutputsAreNotPassedByZeros) {
  std::vector<float> Wanted(4096, 2.5e-6f), Got(4096, 0.0f);
  EXPECT_EQ(check(DType::F32, Got, Wanted, {4096}, 1e-2).Mismatches, 4096u);
}

TEST(Compare, NanIsNoWildcard) {
  float Nan = std::nanf(""), Inf = std::numeric_limits<float>::infinity();
  std::vector<float> Wanted(64, 1.0f), Got = Wanted;
  Wanted[1] = Nan, Got[1] = -Nan; // both are NaN
  Wanted[2] = Inf, Got[2] = Inf;
  EXPECT_TRUE(check(DType::F32, Got, Wanted, {64}, 0.1).ok());
  Wanted[3] = Nan; // wanted NaN, got a number
  Got[4] = Nan;    // got NaN, wanted a number
  Wanted[5] = Inf, Got[5] = -Inf;
  Got[6] = Inf;
  Wanted[7] = Inf;
  EXPECT_EQ(check(DType::F32, Got, Wanted, {64}, 0.1).Mismatches, 5u);
}

TEST(Compare, UnwrittenElementsAreCountedInEveryType) {
  auto Try = [](DType Type, auto One) {
    using T = decltype(One);
    std::vector<T> Wanted(100, One), Got = Wanted;
    for (size_t I = 97; I < 100; ++I)
      Got[I] = poisoned<T>(Type);
    Comparison C = check(Type, Got, Wanted, {100}, 0.5);
    EXPECT_EQ(C.Unwritten, 3u) << nameOf(Type);
    EXPECT_EQ(C.Mismatches, 3u) << nameOf(Type);
    EXPECT_EQ(C.FirstBad, 97u) << nameOf(Type);
  };
  Try(DType::F32, 1.0f);
  Try(DType::F64, 1.0);
  Try(DType::F16, uint16_t(0x3C00));
  Try(DType::BF16, uint16_t(0x3F80));
  Try(DType::I32, int32_t(1));
  Try(DType::I64, int64_t(1));
  Try(DType::U8, uint8_t(1));
}

TEST(Compare, WhatTheSourceLeavesAloneMustBeLeftAlone) {
  std::vector<float> Wanted(64, 1.0f), Got = Wanted;
  Wanted[9] = Got[9] = poisoned<float>(DType::F32);
  EXPECT_TRUE(check(DType::F32, Got, Wanted, {64}, 0.1).ok());
  Got[9] = std::nanf(""); // a NaN, but not the one that was there
  EXPECT_EQ(check(DType::F32, Got, Wanted, {64}, 0.1).FirstBad, 9u);
}

TEST(Compare, IntegersMustBeEqual) {
  std::vector<int32_t> Wanted(64, 1000000), Got = Wanted;
  Got[63] = 1000001;
  EXPECT_EQ(check(DType::I32, Got, Wanted, {64}, 0.5).Mismatches, 1u);
}

TEST(Compare, PoisonPatternsOfTheTwoRoundsDiffer) {
  for (DType T : {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I32,
                  DType::I64, DType::U8})
    EXPECT_NE(poisonPattern(T, 0), poisonPattern(T, 1)) << nameOf(T);
  // A NaN in every floating type.
  EXPECT_TRUE(std::isnan(poisoned<float>(DType::F32)));
  EXPECT_TRUE(std::isnan(poisoned<double>(DType::F64)));
  EXPECT_GT(poisoned<uint16_t>(DType::F16) & 0x7FFF, 0x7C00);
  EXPECT_GT(poisoned<uint16_t>(DType::BF16) & 0x7FFF, 0x7F80);
}

// A result may be the number that outputs hold before a second call.
TEST(Compare, ANumberOfThePatternIsWritten) {
  for (DType T : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    std::vector<uint32_t> Same(64, poisonPattern(T, 1));
    Comparison C = compare(T, Same.data(), Same.data(), {8}, 1e-5,
                           unwrittenPattern(T, 1), {});
    EXPECT_TRUE(C.ok() && !C.Unwritten) << nameOf(T);
    std::vector<uint32_t> Left(64, poisonPattern(T, 0));
    EXPECT_NE(countPoison(T, Left.data(), 8, unwrittenPattern(T, 0)), 0u)
        << nameOf(T);
  }
}

TEST(Compare, HalvesHaveTheirOwnValues) {
  // 0x3C00 is 1, 0x4000 is 2, 0x0001 the least subnormal, 0xC400 is -4.
  std::vector<uint16_t> Wanted(64, 0x3C00), Got = Wanted;
  Wanted[1] = 0xC400;
  Got[1] = 0x4000;
  Comparison C = check(DType::F16, Got, Wanted, {64}, 1e-3);
  EXPECT_EQ(C.Got, 2.0);
  EXPECT_EQ(C.Wanted, -4.0);
  Wanted.assign(64, 0x0001);
  Got.assign(64, 0x0002);
  C = check(DType::F16, Got, Wanted, {64}, 1e-3);
  EXPECT_EQ(C.Wanted, std::ldexp(1.0, -24));
  EXPECT_EQ(C.Mismatches, 64u);
  std::vector<uint16_t> B(64, 0x3F80), A = B; // bf16: 1
  A[2] = 0x4000;                              // 2
  EXPECT_EQ(check(DType::BF16, A, B, {64}, 1e-3).Got, 2.0);
}

TEST(Compare, LargeOutputsGiveTheSameAnswerInParts) {
  // Larger than what one thread takes, as one row and as many.
  size_t Count = (size_t(1) << 20) + 77;
  std::vector<float> Wanted = ramp(Count), Got = Wanted;
  Got[700001] += 1;
  Got[Count - 1] = poisoned<float>(DType::F32);
  for (std::vector<int64_t> Shape :
       {std::vector<int64_t>{int64_t(Count)}, {int64_t(Count), 1}}) {
    Comparison C = check(DType::F32, Got, Wanted, Shape, 1e-4);
    EXPECT_EQ(C.Count, Count);
    EXPECT_EQ(C.Mismatches, 2u);
    EXPECT_EQ(C.FirstBad, 700001u);
    EXPECT_EQ(C.Unwritten, 1u);
  }
}
