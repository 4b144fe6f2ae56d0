//===- ReasonTests.cpp - Reasons are told apart by kind, not by text ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Rewrite/Reason.h"
#include <gtest/gtest.h>

using namespace stark;

static constexpr ReasonKind Plain("it is so");
static constexpr ReasonKind Twin("it is so");
static constexpr ReasonKind Named("'%1' comes after '%0' at line %2");
static constexpr ReasonKind Outer("line %0: %1");

TEST(Reason, KindsWithTheSameTextDiffer) {
  EXPECT_TRUE(Reason(Plain).is(Plain));
  EXPECT_FALSE(Reason(Plain).is(Twin));
  EXPECT_EQ(Reason(Plain).str(), Reason(Twin).str());
  EXPECT_FALSE(Reason(Plain) == Reason(Twin));
}

TEST(Reason, DataIsKeptAndPrinted) {
  Reason Why(Named, "a", std::string("b"), 12u);
  EXPECT_EQ(Why.str(), "'b' comes after 'a' at line 12");
  ASSERT_EQ(Why.arguments().size(), 3u);
  EXPECT_EQ(std::get<std::string>(Why.arguments()[0]), "a");
  EXPECT_EQ(std::get<uint64_t>(Why.arguments()[2]), 12u);
  EXPECT_FALSE(Why == Reason(Named, "a", "b", 13u));
}

// A name that looks like a hole is printed as it is.
TEST(Reason, ArgumentsAreNotReadAgain) {
  EXPECT_EQ(Reason(Outer, 3u, Reason(Named, "%1", "x", 4u)).str(),
            "line 3: 'x' comes after '%1' at line 4");
}

TEST(OrReason, HoldsOneOfTheTwo) {
  OrReason<int> Value = 3, None = Reason(Plain);
  ASSERT_TRUE(bool(Value));
  EXPECT_EQ(*Value, 3);
  ASSERT_FALSE(bool(None));
  EXPECT_TRUE(None.why().is(Plain));
}
