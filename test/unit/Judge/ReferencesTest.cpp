//===- ReferencesTest.cpp - How far off a candidate may be ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/References.h"
#include <gtest/gtest.h>

using namespace stark::job;
using namespace stark::judge;

namespace {
/// Two sizes of an input and an output of four.
Job exampleJob() {
  Job J;
  Leaf X, Y;
  X.Name = "x";
  Y.Name = "result";
  Y.Use = Role::Output;
  Y.Tolerance = 1e-3;
  J.Leaves = {X, Y};
  for (const char *Label : {"small", "large"}) {
    Case C;
    C.Label = Label;
    C.Values.resize(2);
    C.Values[0].Shape = C.Values[1].Shape = {4};
    J.Cases.push_back(C);
  }
  return J;
}

/// The source computes \p Own where the reference says 1 in every place. Inputs
/// are not asked for.
void compare(References &R, const Job &J, unsigned Case, float Own) {
  std::vector<float> Got = {1, 1, Own, 1}, Wanted(4, 1);
  auto Of = [](std::vector<float> &Data) {
    return [&](unsigned Leaf) {
      EXPECT_EQ(Leaf, 1u);
      return Data.data();
    };
  };
  R.compare(J, {0, Case, 7, 0, {}}, Of(Got), Of(Wanted));
}
} // namespace

TEST(References, ASourceThatIsRightLeavesTheTolerance) {
  Job J = exampleJob();
  References R;
  EXPECT_TRUE(R.empty());
  EXPECT_EQ(R.notes(J), "");
  R.add(0, "in f64");
  compare(R, J, 0, 1.0005f);
  EXPECT_FALSE(R.empty());
  EXPECT_EQ(R.slack(0, 1), 1);
  EXPECT_EQ(R.notes(J), "compared with the source computed in f64\n");
}

// The worst inputs count, of each size for itself, and twice.
TEST(References, ASourceThatIsOffWidensIt) {
  Job J = exampleJob();
  References R;
  R.add(0, "in f64");
  R.add(1, "in f64");
  compare(R, J, 1, 1.02f);
  compare(R, J, 1, 1.01f);
  // |1.02 - 1| of 1e-3 * (1 + 1) is ten times what is allowed.
  EXPECT_NEAR(R.slack(1, 1), 20, 0.01);
  EXPECT_EQ(R.slack(0, 1), 1);
  EXPECT_EQ(R.notes(J), "compared with the source computed in f64\n"
                        "the tolerance of output 'result' is widened to 0.02 "
                        "for 'large': twice what the source is off itself\n");
}

// An output has one line, whatever the number of sizes.
TEST(References, NamesTheWorstSize) {
  Job J = exampleJob();
  References R;
  R.add(0, 1, 2);
  R.add(1, 1, 4);
  EXPECT_EQ(R.notes(J),
            "the tolerance of output 'result' is widened to 0.008 for 'large', "
            "and to less for 1 more: twice what the source moves by when its "
            "inputs move in their last place\n");
}

TEST(References, NamesTheSizesThatDiffer) {
  Job J = exampleJob();
  References R;
  R.add(0, "in f64");
  R.add(1, "in its own types");
  EXPECT_EQ(R.notes(J),
            "compared with the source computed in f64 ('small')\n"
            "compared with the source computed in its own types ('large')\n");
}
