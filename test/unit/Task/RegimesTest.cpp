//===- RegimesTest.cpp - What else pointers are filled with ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Names.h"
#include "stark/Judge/Fill.h"
#include "stark/Task/Workload.h"
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace stark;
using job::Regime;

namespace {
Argument normal(job::DType Type = job::DType::F32) {
  Argument A;
  A.IsBuffer = true;
  A.Type = Type;
  A.Shape = {"n", "m"};
  return A;
}
std::string names(const Argument &A, const Workload &W = {}) {
  std::string Text;
  for (const job::RegimeFill &F : makeRegimes(A, W, /*IsTensor=*/false))
    Text += std::string(nameOf(F.Of)) + "; ";
  return Text;
}
double times(const Argument &A, const Workload &W, Regime R) {
  for (const job::RegimeFill &F : makeRegimes(A, W, false))
    if (F.Of == R)
      return F.Fill.Times;
  return 0;
}
} // namespace

TEST(Regimes, OfAPointer) {
  EXPECT_EQ(names(normal()), "tiny; huge; mixed; integers; zeros; one hot; "
                             "equal rows; denormals; ");
  EXPECT_EQ(times(normal(), {}, Regime::Tiny), 0x1p-20);
  EXPECT_EQ(times(normal(), {}, Regime::Huge), 0x1p20);
  // Halves do not reach as far; bf16 has no subnormals worth the name.
  EXPECT_EQ(times(normal(job::DType::F16), {}, Regime::Huge), 0x1p5);
  EXPECT_EQ(names(normal(job::DType::BF16)).find("denormals"),
            std::string::npos);
  Argument Row = normal();
  Row.Shape = {"n"};
  EXPECT_EQ(names(Row).find("equal rows"), std::string::npos);
}

// What counts, orders or selects, what comes from a file, and what is written.
TEST(Regimes, WhatStaysAsItIs) {
  EXPECT_EQ(names(normal(job::DType::I32)), "");
  Argument A = normal();
  A.Use = job::Role::Output;
  EXPECT_EQ(names(A), "");
  for (job::InitKind Kind :
       {job::InitKind::Arange, job::InitKind::Permutation, job::InitKind::Ones,
        job::InitKind::Integers, job::InitKind::File}) {
    A = normal();
    A.Fill.Kind = Kind;
    EXPECT_EQ(names(A), "") << nameOf(Kind);
  }
}

// What is all of one sign stays so, and what is never 0 does: a root, a
// logarithm or a quotient may be taken of it.
TEST(Regimes, KeepTheSign) {
  struct Range {
    double Low, High;
    bool HoldsZero;
  };
  for (Range R : {Range{0, 1, true}, Range{0.5, 2, false}, Range{-3, 0, true},
                  Range{-3, -1, false}, Range{-1, 1, true}}) {
    Argument A = normal();
    A.Fill.Kind = job::InitKind::Uniform;
    A.Fill.Low = R.Low;
    A.Fill.High = R.High;
    bool Negative = false, Positive = false, Zero = false;
    for (const job::RegimeFill &F : makeRegimes(A, {}, false)) {
      std::vector<float> Values(4096);
      judge::fillOnHost(job::DType::F32, Values.data(), {64, 64}, F.Fill, 7,
                        UINT64_MAX, 0);
      for (float V : Values) {
        Negative |= V < 0;
        Positive |= V > 0;
        Zero |= V == 0;
      }
    }
    EXPECT_EQ(Negative, R.Low < 0) << R.Low << " " << R.High;
    EXPECT_EQ(Positive, R.High > 0) << R.Low << " " << R.High;
    EXPECT_EQ(Zero, R.HoldsZero) << R.Low << " " << R.High;
  }
}

// A workload narrows what is looked at, to powers of two within.
TEST(Regimes, MagnitudeNarrows) {
  Workload W;
  W.Magnitude = {1e-3, 1e3};
  EXPECT_EQ(names(normal(), W),
            "tiny; huge; mixed; integers; zeros; one hot; equal rows; ");
  EXPECT_EQ(times(normal(), W, Regime::Tiny), 0x1p-9);
  EXPECT_EQ(times(normal(), W, Regime::Huge), 0x1p9);
  // Of the root mean square: a deviation of 0.02 is at 0.02.
  Argument A = normal();
  A.Fill.High = 0.02;
  EXPECT_NEAR(0.02 * times(A, W, Regime::Tiny), 1e-3, 1e-3);
  EXPECT_GE(0.02 * times(A, W, Regime::Tiny), 1e-3);
  W.Magnitude = {1, 1};
  EXPECT_EQ(names(normal(), W), "zeros; one hot; equal rows; ");
}
