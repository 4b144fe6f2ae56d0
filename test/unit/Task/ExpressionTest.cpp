//===- ExpressionTest.cpp - Integer expressions over size names ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Expression.h"
#include <gtest/gtest.h>

// Precedence without parentheses is what is tested.
#pragma GCC diagnostic ignored "-Wparentheses"

using namespace stark;

namespace {
const Bindings Names = {{"n", 1000}, {"rows", 77}, {"zero", 0}};

int64_t whole(const std::string &Text) {
  llvm::Expected<int64_t> Value = evaluateExpression(Text, Names);
  if (Value)
    return *Value;
  ADD_FAILURE() << Text << ": " << llvm::toString(Value.takeError());
  return -1;
}
std::string errorOf(const std::string &Text) {
  llvm::Expected<int64_t> Value = evaluateExpression(Text, Names);
  return Value ? "none" : llvm::toString(Value.takeError());
}
} // namespace

// Each expression is also C, and the compiler is the judge of it.
TEST(Expression, PrecedenceIsThatOfC) {
  int64_t n = 1000, rows = 77, zero = 0;
#define SAME(E) EXPECT_EQ(whole(#E), int64_t(E)) << #E
  SAME((n + 255) / 256);
  SAME(n - rows - 3 * 2 % 4);
  SAME(1 << 2 + 3);
  SAME(n & 24 | 3 ^ 5);
  SAME(n / 2 * 2 == n && rows % 2 != 0);
  SAME(n < rows || rows < n == 1);
  SAME(n > rows ? n : rows > 1 ? 2 : 3);
  SAME(-n + ~rows + !zero);
  SAME(- -n >> 1 + 1);
  SAME(0x10 + 010);
  SAME(n <= 1000 == n >= 1000);
#undef SAME
  EXPECT_EQ(whole("min(n, rows) + max(1, 2)"), 79);
  EXPECT_EQ(whole("ceildiv(n, 256)"), 4);
  EXPECT_EQ(whole("ceildiv(9223372036854775807, 2)"), int64_t(1) << 62);
}

// As in C, what is not chosen has no value, and so no error.
TEST(Expression, WhatIsNotChosenIsNotEvaluated) {
  EXPECT_EQ(whole("zero == 0 ? 1 : n / zero"), 1);
  EXPECT_EQ(whole("zero && n / zero"), 0);
  EXPECT_EQ(whole("1 || n / zero"), 1);
  EXPECT_NE(errorOf("zero ? 1 : nn"), "none");
}

TEST(Expression, ErrorsNameColumnAndNames) {
  EXPECT_EQ(errorOf("row * 2"),
            "expression 'row * 2', column 1: unknown name 'row'; did you mean "
            "'rows'?; known are n, rows, zero");
  EXPECT_EQ(errorOf("n / zero"), "expression 'n / zero', column 9: division by "
                                 "zero");
  EXPECT_EQ(errorOf("n % zero"), "expression 'n % zero', column 9: division by "
                                 "zero");
  EXPECT_NE(errorOf("9223372036854775807 + 1").find("does not fit 64 bits"),
            std::string::npos);
  EXPECT_NE(errorOf("1 << 63").find("a shift needs"), std::string::npos);
  EXPECT_NE(errorOf("n n").find("unexpected 'n'"), std::string::npos);
  EXPECT_NE(errorOf("(n").find("')' is missing"), std::string::npos);
  EXPECT_NE(errorOf("n ? 1").find("':' is missing"), std::string::npos);
  EXPECT_NE(errorOf("").find("got the end"), std::string::npos);
  EXPECT_NE(errorOf("1.5").find("no number of this kind"), std::string::npos);
  EXPECT_NE(errorOf("f(1, 2)").find("unknown function 'f'"), std::string::npos);
  EXPECT_NE(errorOf("min(1)").find("takes two arguments"), std::string::npos);
}

TEST(Expression, NestingThatIsMeantToHurtIsRefused) {
  for (const char *Piece : {"(", "-", "!", "min(1,", "1?", "1?2:"}) {
    std::string Text;
    for (int I = 0; I < 100000; ++I)
      Text += Piece;
    EXPECT_NE(errorOf(Text).find("nested deeper than"), std::string::npos)
        << Piece;
  }
}

TEST(Expression, RealNumbersDivideAsRealNumbers) {
  llvm::Expected<double> Value = evaluateReal("1.0 / n + 1e-5", Names);
  ASSERT_TRUE(bool(Value));
  EXPECT_DOUBLE_EQ(*Value, 1.0 / 1000 + 1e-5);
  Value = evaluateReal("1e308 * 10", Names);
  EXPECT_EQ(llvm::toString(Value.takeError()),
            "expression '1e308 * 10', column 11: the value is not finite");
}
