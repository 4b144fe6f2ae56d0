//===- FillTest.cpp - What buffers are filled with -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Fill.h"
#include "stark/Job/Names.h"
#include "stark/Judge/Compare.h"
#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <set>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
Init init(InitKind Kind, double Low = 0, double High = 1) {
  Init Fill;
  Fill.Kind = Kind;
  Fill.Low = Low;
  Fill.High = High;
  return Fill;
}

template <class T>
std::vector<T> filled(DType Type, std::vector<int64_t> Shape, const Init &Fill,
                      uint64_t Key = 7, uint64_t Drawn = ~uint64_t(0)) {
  size_t Count = 1;
  for (int64_t Extent : Shape)
    Count *= size_t(Extent);
  EXPECT_EQ(sizeof(T), dtypeBytes(Type));
  std::vector<T> V(Count, T());
  fillOnHost(Type, V.data(), Shape, Fill, Key, Drawn);
  return V;
}

constexpr DType AllTypes[] = {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  DType::Enumerator,
#include "stark/Job/DTypes.def"
};
} // namespace

// Recorded runs were made with these values.
TEST(Fill, WhatWasDrawnOnceIsDrawnAgain) {
  std::vector<double> U =
      filled<double>(DType::F64, {4}, init(InitKind::Uniform));
  EXPECT_EQ(U, (std::vector<double>{0.5182448843538486, 0.24690091617475207,
                                    0.5861620677044991, 0.56486473545018}));
  EXPECT_EQ(filled<int32_t>(DType::I32, {4}, init(InitKind::Uniform, 0, 100)),
            (std::vector<int32_t>{51, 24, 58, 56}));
  EXPECT_EQ(filled<int64_t>(DType::I64, {8}, init(InitKind::Permutation)),
            (std::vector<int64_t>{0, 5, 4, 1, 7, 2, 6, 3}));
  std::vector<double> N =
      filled<double>(DType::F64, {4}, init(InitKind::Normal));
  EXPECT_NEAR(N[0], -0.8403240390710605, 1e-12);
  EXPECT_NEAR(N[1], -0.7405289385540043, 1e-12);
  EXPECT_EQ(filled<float>(DType::F32, {3}, init(InitKind::Arange)),
            (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(filled<uint16_t>(DType::F16, {2}, init(InitKind::Ones)),
            (std::vector<uint16_t>{0x3C00, 0x3C00}));
  EXPECT_EQ(filled<uint16_t>(DType::BF16, {2}, init(InitKind::Ones)),
            (std::vector<uint16_t>{0x3F80, 0x3F80}));
}

/// What mix() made \p Z of.
static uint64_t unmixed(uint64_t Z) {
  auto Unshift = [](uint64_t V, unsigned By) {
    uint64_t X = V;
    for (unsigned Known = By; Known < 64; Known += By)
      X = V ^ X >> By;
    return X;
  };
  Z = Unshift(Z, 31) * 0x319642B2D24D8EC3ull;
  Z = Unshift(Z, 27) * 0x96DE1B173F119089ull;
  return Unshift(Z, 30);
}

// 53 bits of a number are in its value; the rest can be tried.
TEST(Fill, OneValueDoesNotTellTheOthers) {
  constexpr uint64_t Step = 0x9E3779B97F4A7C15ull;
  ASSERT_EQ(unmixed(mix(123456789)), 123456789u);
  std::vector<double> U =
      filled<double>(DType::F64, {2}, init(InitKind::Uniform));
  unsigned Foretold = 0;
  for (uint64_t Rest = 0; Rest < 2048; ++Rest) {
    uint64_t Key = unmixed(uint64_t(U[0] * 0x1p53) << 11 | Rest) - Step;
    Foretold += double(mix(Key + 2 * Step) >> 11) * 0x1p-53 == U[1];
  }
  EXPECT_EQ(Foretold, 0u);
}

// From key and index alone; another key is another buffer.
TEST(Fill, EveryTypeIsDeterministic) {
  for (DType T : AllTypes)
    for (InitKind Kind :
         {InitKind::Normal, InitKind::Uniform, InitKind::Integers,
          InitKind::Mixed, InitKind::Arange, InitKind::Zeros, InitKind::Ones,
          InitKind::Constant, InitKind::Permutation}) {
      Init Fill = init(Kind, 0, 50);
      size_t Bytes = 64 * dtypeBytes(T);
      std::vector<char> A(Bytes, 1), B(Bytes, 2), C(Bytes, 3);
      fillOnHost(T, A.data(), {8, 8}, Fill, 7);
      fillOnHost(T, B.data(), {8, 8}, Fill, 7);
      fillOnHost(T, C.data(), {8, 8}, Fill, 8);
      EXPECT_EQ(A, B) << nameOf(T) << " " << nameOf(Kind);
      bool Random = Kind == InitKind::Normal || Kind == InitKind::Uniform ||
                    Kind == InitKind::Integers || Kind == InitKind::Mixed;
      // Nearly all that is drawn is true.
      if (Random && T != DType::Bool) {
        EXPECT_NE(A, C) << nameOf(T) << " " << nameOf(Kind);
      }
      EXPECT_TRUE(extremes(T, A.data(), 64).AllFinite)
          << nameOf(T) << " " << nameOf(Kind);
    }
}

// Any other byte than 0 and 1 is no bool.
TEST(Fill, TruthValuesAreZeroOrOne) {
  for (Init Fill : {init(InitKind::Normal, 0, 3), init(InitKind::Arange),
                    init(InitKind::Uniform, 0, 2), init(InitKind::Permutation),
                    init(InitKind::Constant, 7)})
    for (uint8_t V : filled<uint8_t>(DType::Bool, {1000}, Fill))
      ASSERT_LE(V, 1) << nameOf(Fill.Kind);
  std::vector<uint8_t> Both =
      filled<uint8_t>(DType::Bool, {1000}, init(InitKind::Uniform, 0, 2));
  EXPECT_NEAR(std::count(Both.begin(), Both.end(), 1), 500, 100);
}

TEST(Fill, SmallIntegersKeepTheirSign) {
  std::vector<int8_t> Bytes =
      filled<int8_t>(DType::I8, {1000}, init(InitKind::Uniform, -128, 128));
  EXPECT_LT(*std::min_element(Bytes.begin(), Bytes.end()), -100);
  EXPECT_GT(*std::max_element(Bytes.begin(), Bytes.end()), 100);
  EXPECT_EQ(filled<int16_t>(DType::I16, {2}, init(InitKind::Constant, -300)),
            (std::vector<int16_t>{-300, -300}));
}

// Both parts are drawn, each on its own.
TEST(Fill, ComplexNumbersHaveTwoParts) {
  using Complex = std::complex<float>;
  std::vector<Complex> V =
      filled<Complex>(DType::C64, {500}, init(InitKind::Normal, 3, 1));
  double Real = 0, Imaginary = 0;
  for (Complex Z : V) {
    Real += Z.real();
    Imaginary += Z.imag();
    ASSERT_NE(Z.real(), Z.imag());
  }
  EXPECT_NEAR(Real / 500, 3, 0.3);
  EXPECT_NEAR(Imaginary / 500, 3, 0.3);
  std::vector<double> Flat =
      filled<double>(DType::F64, {8}, init(InitKind::Uniform));
  auto Wide =
      filled<std::complex<double>>(DType::C128, {4}, init(InitKind::Uniform));
  EXPECT_EQ(Wide[3], (std::complex<double>{Flat[6], Flat[7]}));
}

TEST(Fill, WholeNumbersInAFloatingType) {
  std::set<double> Seen;
  for (float V :
       filled<float>(DType::F32, {1000}, init(InitKind::Integers, -2, 3)))
    Seen.insert(V);
  EXPECT_EQ(Seen, (std::set<double>{-2, -1, 0, 1, 2}));
  // times and plus come after drawing.
  Init Fill = init(InitKind::Integers, 0, 2);
  Fill.Times = 0.5;
  Fill.Plus = 10;
  Seen.clear();
  for (float V : filled<float>(DType::F32, {1000}, Fill))
    Seen.insert(V);
  EXPECT_EQ(Seen, (std::set<double>{10, 10.5}));
}

// Small and large at once: what an absolute tolerance does not see.
TEST(Fill, MixedMagnitudes) {
  std::vector<double> V =
      filled<double>(DType::F64, {20000}, init(InitKind::Mixed));
  size_t Small = 0, Large = 0, Negative = 0;
  for (double X : V) {
    Small += std::fabs(X) < 0.05;
    Large += std::fabs(X) > 16;
    Negative += X < 0;
    ASSERT_LT(std::fabs(X), 64 * 7);
  }
  EXPECT_GT(Small, 2000u);
  EXPECT_GT(Large, 2000u);
  EXPECT_NEAR(double(Negative), 10000, 500);
}

TEST(Fill, WhatIsClampedKeepsItsBounds) {
  Init Fill = init(InitKind::Normal, 0, 10);
  Fill.Clamped = true;
  Fill.Least = -1;
  Fill.Greatest = 2;
  std::vector<float> V = filled<float>(DType::F32, {1000}, Fill);
  EXPECT_EQ(*std::min_element(V.begin(), V.end()), -1);
  EXPECT_EQ(*std::max_element(V.begin(), V.end()), 2);
}

// Of each matrix of a batch; a vector has none.
TEST(Fill, TriangleOfEachMatrix) {
  Init Fill = init(InitKind::Ones);
  Fill.Keep = Triangle::Lower;
  EXPECT_EQ(filled<float>(DType::F32, {2, 2, 3}, Fill),
            (std::vector<float>{1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0}));
  Fill.Keep = Triangle::Upper;
  EXPECT_EQ(filled<uint8_t>(DType::Bool, {2, 3}, Fill),
            (std::vector<uint8_t>{1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(filled<float>(DType::F32, {3}, Fill),
            (std::vector<float>{1, 1, 1}));
  using Complex = std::complex<float>;
  EXPECT_EQ(filled<Complex>(DType::C64, {2, 2}, Fill),
            (std::vector<Complex>{{1, 1}, {1, 1}, {0, 0}, {1, 1}}));
  Fill.Kind = InitKind::Permutation;
  EXPECT_EQ(filled<int32_t>(DType::I32, {3, 3}, Fill)[6], 0);
  EXPECT_EQ(filled<int32_t>(DType::I32, {3, 3}, Fill)[7], 0);
}

// Large buffers of a simulated launch repeat what was drawn first.
TEST(Fill, NoMoreIsDrawnThanAskedFor) {
  std::vector<float> V =
      filled<float>(DType::F32, {10}, init(InitKind::Normal), 7, 4);
  EXPECT_EQ(V[0], V[4]);
  EXPECT_EQ(V[1], V[9]);
  EXPECT_NE(V[0], V[1]);
  V = filled<float>(DType::F32, {10}, init(InitKind::Arange), 7, 4);
  EXPECT_EQ(V[9], 9);
}

TEST(Fill, EmptyAndScalarShapes) {
  EXPECT_EQ(filled<float>(DType::F32, {}, init(InitKind::Constant, 2.5)),
            (std::vector<float>{2.5}));
  EXPECT_TRUE(
      filled<float>(DType::F32, {0, 4}, init(InitKind::Normal)).empty());
}
