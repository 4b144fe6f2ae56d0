//===- BlocksTest.cpp - Errors that no element tells ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Compare.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
constexpr int64_t Rows = 96, Columns = 80;

/// Normal values, of which \p Scale says how large each is.
template <class Function> std::vector<float> values(Function Scale) {
  std::mt19937_64 Engine(5);
  std::normal_distribution<float> Normal;
  std::vector<float> V;
  for (int64_t R = 0; R < Rows; ++R)
    for (int64_t C = 0; C < Columns; ++C)
      V.push_back(Normal(Engine) * Scale(R, C));
  return V;
}
std::string block(const std::vector<float> &Got,
                  const std::vector<float> &Wanted) {
  EXPECT_TRUE(compare(DType::F32, Got.data(), Wanted.data(), {Rows, Columns},
                      1e-4, poisonPattern(DType::F32, 0))
                  .ok());
  std::optional<BadBlock> Bad = compareBlocks(
      DType::F32, Got.data(), Wanted.data(), {Rows, Columns}, 1e-4);
  EXPECT_TRUE(!Bad || Bad->Error > Bad->Allowed);
  return Bad ? Bad->Where : "";
}
} // namespace

// A column that is small beside the others can be left out, and no element is
// off by more than its row allows.
TEST(Blocks, AColumnThatWasLeftOut) {
  auto Scale = [](int64_t, int64_t C) { return C == 7 ? 2e-5f : 1.0f; };
  std::vector<float> Wanted = values(Scale), Got = Wanted;
  for (int64_t R = 0; R < Rows; ++R)
    Got[size_t(R * Columns + 7)] = 0;
  EXPECT_EQ(block(Got, Wanted), "column 7");
}

// Of one dimension the pieces are as large as a tile, and what repeats every 32
// elements is a column.
TEST(Blocks, APieceOfOneDimensionThatWasLeftOut) {
  constexpr size_t N = 10007, First = 2048, End = 3072;
  auto Block = [](const std::vector<float> &Got,
                  const std::vector<float> &Wanted) {
    EXPECT_TRUE(compare(DType::F32, Got.data(), Wanted.data(), {int64_t(N)},
                        1e-4, poisonPattern(DType::F32, 0))
                    .ok());
    std::optional<BadBlock> Bad = compareBlocks(
        DType::F32, Got.data(), Wanted.data(), {int64_t(N)}, 1e-4);
    return Bad ? Bad->Where : "";
  };
  std::vector<float> Wanted(N, 1);
  std::fill(Wanted.begin() + First, Wanted.begin() + End, 2e-5f);
  std::vector<float> Got = Wanted;
  EXPECT_EQ(Block(Got, Wanted), "");
  std::fill(Got.begin() + First, Got.begin() + End, 0.0f);
  EXPECT_EQ(Block(Got, Wanted), "elements 2048 to 3071");
  std::fill(Wanted.begin(), Wanted.end(), 1.0f);
  for (size_t I = 5; I < N; I += 32)
    Wanted[I] = 2e-5f;
  Got = Wanted;
  for (size_t I = 5; I < N; I += 32)
    Got[I] = 0;
  EXPECT_EQ(Block(Got, Wanted), "elements 5, 37 and so on");
}

TEST(Blocks, ATileThatWasLeftOut) {
  auto Small = [](int64_t R, int64_t C) { return R >= 32 && R < 64 && C < 32; };
  std::vector<float> Wanted =
      values([&](int64_t R, int64_t C) { return Small(R, C) ? 1e-5f : 1.0f; });
  std::vector<float> Got = Wanted;
  for (int64_t R = 0; R < Rows; ++R)
    for (int64_t C = 0; C < Columns; ++C)
      if (Small(R, C))
        Got[size_t(R * Columns + C)] = 0;
  EXPECT_EQ(block(Got, Wanted), "rows 32 to 63, columns 0 to 31");
}

// Rounding of the usual size is none: of each element's own, and of a sum that
// is large beside it.
TEST(Blocks, RoundingPasses) {
  auto Scale = [](int64_t R, int64_t C) {
    return float(std::exp2(R % 9 - 4 - C % 20));
  };
  std::vector<float> Wanted = values(Scale), Got = Wanted;
  std::mt19937_64 Engine(6);
  std::normal_distribution<float> Normal;
  for (float &V : Got)
    V += 2e-5f * V * Normal(Engine) + 2e-7f * Normal(Engine);
  EXPECT_EQ(block(Got, Wanted), "");
}

// What has to be exact: whole numbers that every partial sum can hold.
TEST(Blocks, WhatIsExact) {
  auto Exact = [](DType T, std::vector<float> V) {
    return isExact(T, extremes(DType::F32, V.data(), V.size()));
  };
  EXPECT_TRUE(Exact(DType::F32, {1, -4096, 0}));
  EXPECT_FALSE(Exact(DType::F32, {1, 0.5f}));
  EXPECT_FALSE(Exact(DType::F32, {1, 3e7f}));
  EXPECT_FALSE(Exact(DType::F32, {1, INFINITY}));
  EXPECT_TRUE(Exact(DType::F16, {2047}));
  EXPECT_FALSE(Exact(DType::F16, {2048}));
}
