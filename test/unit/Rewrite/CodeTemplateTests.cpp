//===- CodeTemplateTests.cpp - Templates are filled whole or not at all ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeTemplate.h"
#include <gtest/gtest.h>

using namespace stark;

static constexpr CodeTemplate Sum("$type @sum = $value; $type* p = &@sum;");

static std::string fresh(llvm::StringRef Name) { return Name.str() + "2"; }

TEST(CodeTemplate, FillsHolesAndMakesNames) {
  CodeTemplate::Values Names = Sum.names(fresh);
  EXPECT_EQ(Names.size(), 1u);
  EXPECT_EQ(Names.lookup("sum"), "sum2");
  auto Text = Sum.fill({{"type", "float"}, {"value", "x[$i]"}}, Names);
  ASSERT_TRUE(bool(Text)) << llvm::toString(Text.takeError());
  // What is filled in is not looked into.
  EXPECT_EQ(*Text, "float sum2 = x[$i]; float* p = &sum2;");
}

TEST(CodeTemplate, UnfilledHolesAreErrors) {
  auto Text = Sum.fill({{"type", "float"}}, Sum.names(fresh));
  ASSERT_FALSE(bool(Text));
  EXPECT_EQ(llvm::toString(Text.takeError()),
            "the template's '$value' has no value");
  auto Unnamed = Sum.fill({{"type", "float"}, {"value", "0"}});
  ASSERT_FALSE(bool(Unnamed));
  EXPECT_EQ(llvm::toString(Unnamed.takeError()),
            "the template's '@sum' has no value");
}

TEST(CodeTemplate, UnknownHolesAreErrors) {
  auto Text = Sum.fill({{"type", "float"}, {"value", "0"}, {"vlaue", "1"}},
                       Sum.names(fresh));
  ASSERT_FALSE(bool(Text));
  EXPECT_EQ(llvm::toString(Text.takeError()),
            "the template has no hole '$vlaue'");
}

TEST(CodeTemplate, TypesOfSeveralWordsHaveAZeroToo) {
  EXPECT_EQ(zeroOf("float"), "float{}");
  EXPECT_EQ(zeroOf("unsigned long"), "static_cast<unsigned long>(0)");
}

TEST(CodeTemplate, NamesEndWhereWordsDo) {
  static constexpr CodeTemplate Code("$a$b[@c.x]$a_b");
  auto Text =
      Code.fill({{"a", "1"}, {"b", "2"}, {"a_b", "3"}}, Code.names(fresh));
  ASSERT_TRUE(bool(Text)) << llvm::toString(Text.takeError());
  EXPECT_EQ(*Text, "12[c2.x]3");
}
