//===- WindowTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Window.h"
#include "Trees.h"
#include "gtest/gtest.h"
#include <map>

using namespace stark;
using Numbers = std::vector<unsigned>;

namespace {
/// Nodes 1, 2, 3 below the source; 4, 5 below 1; 6, 7 below 2; 8 below 4.
/// The leaders are 8 (40 us) and 3 (60 us).
struct WindowTest : testing::Test {
  TreeBuilder B;
  WindowTest() {
    B.add(0, correctIn(90));
    B.add(0, correctIn(80));
    B.add(0, correctIn(60));
    B.add(1, correctIn(70));
    B.add(1, failing());
    B.add(2, failing());
    B.add(2, correctIn(95));
    B.add(4, correctIn(40));
  }
  Numbers window(WindowRole Role, unsigned Selected, unsigned Limit = 99,
                 uint64_t Seed = 1) {
    Random Draw(Seed);
    return makeWindow(Role, B.T, B.Leaders, Selected, Limit, Draw);
  }
};

// {i, root}, the children of i, and the leaders outside its subtree.
TEST_F(WindowTest, Plan) {
  EXPECT_EQ(window(WindowRole::Plan, 2), (Numbers{0, 2, 3, 6, 7, 8}));
  // 8 leads, but lies below 1.
  EXPECT_EQ(window(WindowRole::Plan, 1), (Numbers{0, 1, 3, 4, 5}));
  // Every leader lies below the root.
  EXPECT_EQ(window(WindowRole::Plan, 0), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(window(WindowRole::Plan, 3), (Numbers{0, 3, 8}));
}

// {i, root}, the children of i, and the children of its siblings.
TEST_F(WindowTest, Code) {
  EXPECT_EQ(window(WindowRole::Code, 1), (Numbers{0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(window(WindowRole::Code, 3), (Numbers{0, 3, 4, 5, 6, 7}));
  EXPECT_EQ(window(WindowRole::Code, 4), (Numbers{0, 4, 8}));
  EXPECT_EQ(window(WindowRole::Code, 5), (Numbers{0, 5, 8}));
  EXPECT_EQ(window(WindowRole::Code, 0), (Numbers{0, 1, 2, 3}));
}

// {i, root} and the siblings of i.
TEST_F(WindowTest, Debug) {
  EXPECT_EQ(window(WindowRole::Debug, 5), (Numbers{0, 4, 5}));
  EXPECT_EQ(window(WindowRole::Debug, 6), (Numbers{0, 6, 7}));
  EXPECT_EQ(window(WindowRole::Debug, 8), (Numbers{0, 8}));
}

// An attempt that gave no candidate was not evaluated and is not shown.
TEST_F(WindowTest, NoCandidateIsLeftOut) {
  B.add(1, failing(VerdictKind::NoCandidate)); // 9
  EXPECT_EQ(window(WindowRole::Plan, 1), (Numbers{0, 1, 3, 4, 5}));
  EXPECT_EQ(window(WindowRole::Debug, 5), (Numbers{0, 4, 5}));
}

// As many as the limit are shown whole; with more, the root and the selected
// node stay and the others are drawn.
TEST_F(WindowTest, SampledAboveTheLimit) {
  EXPECT_EQ(window(WindowRole::Plan, 1, 5), (Numbers{0, 1, 3, 4, 5}));
  std::map<unsigned, int> Count;
  for (uint64_t Seed = 0; Seed < 2000; ++Seed) {
    Numbers Shown = window(WindowRole::Code, 1, 5, Seed);
    ASSERT_EQ(Shown.size(), 5u);
    ASSERT_TRUE(std::is_sorted(Shown.begin(), Shown.end()));
    for (unsigned N : Shown)
      ++Count[N];
  }
  EXPECT_EQ(Count[0], 2000);
  EXPECT_EQ(Count[1], 2000);
  ASSERT_EQ(Count.size(), 6u);
  // Three of four others are drawn, each equally often.
  for (unsigned N : {4u, 5u, 6u, 7u})
    EXPECT_NEAR(Count[N], 1500, 90);
}

// The root selected counts once against the limit.
TEST_F(WindowTest, RootSelected) {
  B.add(0, failing()); // 9
  B.add(0, failing()); // 10
  EXPECT_EQ(window(WindowRole::Plan, 0, 5).size(), 5u);
  EXPECT_EQ(window(WindowRole::Plan, 0, 6), (Numbers{0, 1, 2, 3, 9, 10}));
}

// A limit of one or two leaves the root and the selected node.
TEST_F(WindowTest, RootAndSelectedAlwaysStay) {
  EXPECT_EQ(window(WindowRole::Code, 1, 1), (Numbers{0, 1}));
  EXPECT_EQ(window(WindowRole::Code, 1, 2), (Numbers{0, 1}));
}

// The same draws give the same window; only a window that is too large draws.
TEST_F(WindowTest, Determinism) {
  EXPECT_EQ(window(WindowRole::Code, 1, 5, 42),
            window(WindowRole::Code, 1, 5, 42));
  Random Draw(5), Untouched(5);
  makeWindow(WindowRole::Plan, B.T, B.Leaders, 1, 5, Draw);
  EXPECT_EQ(Draw.next(), Untouched.next());
}
} // namespace
