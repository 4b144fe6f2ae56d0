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
std::string labels(const Workload &W) {
  std::string Text;
  for (const Size &S : addedSizes(W)) {
    EXPECT_TRUE(S.CheckOnly && S.Added);
    Text += S.label() + "; ";
  }
  return Text;
}
} // namespace

TEST(AddedSizes, AreTinyAndOddAndNoLargerThanTheFiles) {
  EXPECT_EQ(labels(with({{{"n", 4096}, {"m", 100}}})),
            "m=1 n=1; m=51 n=2049; ");
  EXPECT_EQ(labels(with({{{"n", 1}}})), "");
}

// What always holds between the sizes holds between the added ones.
TEST(AddedSizes, KeepRelations) {
  EXPECT_EQ(labels(with({{{"n", 6000}, {"rows", 60}, {"cols", 100}}})),
            "cols=1 n=1 rows=1; cols=51 n=1581 rows=31; ");
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
