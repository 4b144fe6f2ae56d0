//===- AddedSizesTest.cpp - Sizes that nobody thought of -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
Workload with(std::vector<Bindings> Sizes) {
  Workload W;
  for (Bindings &Names : Sizes)
    W.Sizes.push_back({std::move(Names), false, false});
  return W;
}
std::string labels(const Workload &W, bool Drawn = false,
                   std::vector<int64_t> Constants = {}) {
  std::string Text;
  for (const Size &S : addedSizes(W, Constants)) {
    EXPECT_TRUE(S.CheckOnly && S.Added);
    if (S.Drawn == Drawn)
      Text += S.label() + "; ";
  }
  return Text;
}
} // namespace

// And each name as it is timed, the others being odd.
TEST(AddedSizes, AreTinyAndOddAndNoLargerThanTheFiles) {
  EXPECT_EQ(labels(with({{{"n", 4096}, {"m", 100}}})),
            "m=1 n=1; m=51 n=2049; m=100 n=2049; m=51 n=4096; ");
  EXPECT_EQ(labels(with({{{"n", 1}}})), "");
}

// What always holds between the sizes holds between the added ones.
TEST(AddedSizes, KeepRelations) {
  EXPECT_EQ(labels(with({{{"n", 6000}, {"rows", 60}, {"cols", 100}}})),
            "cols=1 n=1 rows=1; cols=51 n=1581 rows=31; "
            "cols=100 n=3100 rows=31; cols=51 n=3060 rows=60; ");
  EXPECT_EQ(labels(with({{{"a", 64}, {"b", 64}}})), "a=1 b=1; a=33 b=33; ");
}

TEST(AddedSizes, KeepMultiples) {
  Workload W = with({{{"cols", 4096}}});
  W.MultipleOf["cols"] = 8;
  EXPECT_EQ(labels(W), "cols=8; cols=2056; ");
}

TEST(AddedSizes, CanBeSwitchedOff) {
  Workload W = with({{{"n", 4096}}});
  W.AddSizes = false;
  EXPECT_EQ(labels(W), "");
  W.AddSizes = true;
  Argument FromFile;
  FromFile.IsBuffer = true;
  FromFile.Fill.Kind = job::InitKind::File;
  W.Arguments.push_back(FromFile);
  EXPECT_EQ(labels(W), "");
}

// A candidate with a path for d = 128 meets an odd number of rows there: each
// name of a timed size moves alone, by one and to a prime.
TEST(AddedSizes, EachNameMovesAlone) {
  Workload W = with({{{"rows", 64}, {"d", 128}}});
  EXPECT_EQ(labels(W, true), "d=127 rows=64; d=129 rows=64; d=113 rows=64; "
                             "d=128 rows=63; d=128 rows=65; d=128 rows=61; ");
  W.MultipleOf["d"] = 8;
  EXPECT_EQ(labels(W, true), "d=120 rows=64; d=136 rows=64; d=104 rows=64; "
                             "d=128 rows=63; d=128 rows=65; d=128 rows=61; ");
  // One that is only compared is not moved from.
  W = with({{{"n", 40}}, {{"n", 7}}});
  W.Sizes[1].CheckOnly = true;
  EXPECT_EQ(labels(W, true), "n=39; n=41; n=37; ");
}

// What follows from others follows from them here, too.
TEST(AddedSizes, WhatFollowsIsNotMovedAlone) {
  EXPECT_EQ(labels(with({{{"a", 64}, {"b", 64}}}), true),
            "a=63 b=63; a=65 b=65; a=61 b=61; ");
}

// At and beside each constant that a candidate may compare with, the other
// names being odd; none larger than the file's largest, and a bounded number.
TEST(AddedSizes, AroundConstants) {
  Workload W = with({{{"n", 4096}}});
  std::string Of = labels(W, true, {128, 5000});
  EXPECT_EQ(Of, "n=4095; n=4097; n=4093; n=128; n=127; n=129; ");
  W = with({{{"m", 300}, {"n", 100}}});
  Of = labels(W, true, {128});
  EXPECT_NE(Of.find("m=128 n=51; m=127 n=51; m=129 n=51; "), std::string::npos)
      << Of;
  EXPECT_EQ(Of.find("n=128"), std::string::npos) << Of;
  std::vector<int64_t> Many;
  for (int64_t I = 2; I < 300; ++I)
    Many.push_back(I);
  EXPECT_EQ(addedSizes(W, Many).size(), 96u + 4u);
}

namespace {
std::string constants(llvm::StringRef Text) {
  std::string Found;
  for (int64_t V : integerConstants(Text))
    Found += std::to_string(V) + " ";
  return Found;
}
} // namespace

// Literals in every spelling, arithmetic of these that begins anywhere, and
// names of it; whatever side or preprocessor branch they are for.
TEST(Constants, OfAText) {
  EXPECT_EQ(constants("if (n == 1'024u) f<0x80>(n % 7);"), "7 128 1024 ");
  EXPECT_EQ(constants("constexpr int kWarp = 32, kTile = 4 * kWarp;\n"
                      "#define LIMIT (1 << 10)\n"
                      "#if 0\nif (n > 3 * kTile - 1 && n < LIMIT + 5) g();\n"
                      "#endif\n"),
            "3 4 5 10 32 127 128 383 384 1024 1029 ");
  EXPECT_EQ(constants("x = 1.5f + 3e4; y = 99999999999999999999; \"77\""), "");
  EXPECT_EQ(constants("case 96: i += 2; z = 6 / 0;"), "2 6 96 ");
}
