//===- FormulaTests.cpp - How an integer follows from named ones ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"
#include <gtest/gtest.h>

using namespace stark;
using namespace stark::draft;

namespace {
Formula N() { return named("n"); }
Formula plus(Formula L, Formula R) { return combine(Op::Add, L, R); }
Formula minus(Formula L, Formula R) { return combine(Op::Sub, L, R); }
Formula times(Formula L, Formula R) { return combine(Op::Mul, L, R); }
Formula over(Formula L, Formula R) { return combine(Op::Div, L, R); }
} // namespace

// However it is spelled, n divided by b and rounded up is ceildiv(n, b).
TEST(Formula, KnowsRoundingUp) {
  Formula B = named("b");
  for (const Formula &F : {over(minus(plus(N(), B), constant(1)), B),
                           over(plus(N(), minus(B, constant(1))), B),
                           plus(over(minus(N(), constant(1)), B), constant(1))})
    EXPECT_EQ(print(F), "ceildiv(n, b)");
  EXPECT_EQ(print(over(plus(N(), constant(255)), constant(256))),
            "ceildiv(n, 256)");
}

// Bytes are divided by what they were multiplied with.
TEST(Formula, DividesExactly) {
  Formula Bytes = times(times(N(), named("m")), constant(4));
  EXPECT_EQ(print(over(Bytes, constant(4))), "n * m");
  EXPECT_EQ(
      print(over(plus(times(N(), constant(8)), constant(16)), constant(8))),
      "n + 2");
}

TEST(Formula, BracketsWhatItHasTo) {
  EXPECT_EQ(print(times(plus(N(), constant(1)), named("m"))), "(n + 1) * m");
  EXPECT_EQ(print(minus(N(), minus(named("m"), constant(1)))), "n - m + 1");
}

// What no expression says is a number that pins the names it came from.
TEST(Formula, PinsWhatCannotBeSaid) {
  Formula F = plus(opaque(7, N()), named("m"));
  std::set<std::string> All, Pinned;
  collectNames(F, All, &Pinned);
  EXPECT_EQ(Pinned, std::set<std::string>{"n"});
  EXPECT_EQ(evaluate(F, {{"m", 3}}), 10);
}
