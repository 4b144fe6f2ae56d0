//===- TensorsTest.cpp - What tensors are compared by --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Names.h"
#include "stark/Judge/Judge.h"
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <limits>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
using Complex = std::complex<float>;

/// One size with an output of \p Shape and an inout of a count.
Job withOutput(DType Type, std::vector<int64_t> Shape) {
  Job J;
  J.Torch = "2.11.0";
  Leaf Out, Count;
  Out.Name = "result";
  Out.Type = Type;
  Out.Use = Role::Output;
  Out.Tolerance = isWhole(Type) ? 0 : 1e-4;
  Count.Name = "calls";
  Count.Type = DType::I64;
  Count.Use = Role::InOut;
  J.Leaves = {Out, Count};
  Case C;
  C.Label = "the only size";
  C.Values.resize(2);
  C.Values[0].Shape = std::move(Shape);
  J.Cases = {C};
  return J;
}

/// What is said of \p Data, beside \p Twin, which another input gave.
template <class T>
std::string said(DType Type, const std::vector<T> &Data,
                 const std::vector<T> &Twin, double Slack = 1) {
  Job J = withOutput(Type, {int64_t(Data.size())});
  int64_t Calls = 1;
  return degeneracies(J, 0,
                      {portrait(J, 0, 0, Data.data(),
                                Twin.empty() ? nullptr : Twin.data(), Slack),
                       portrait(J, 0, 1, &Calls, &Calls, Slack)},
                      [&](unsigned) { return Slack; });
}

std::vector<float> ramp(size_t Count, float Scale = 1) {
  std::vector<float> V(Count);
  for (size_t I = 0; I < Count; ++I)
    V[I] = Scale * (float(I % 7) - 3);
  return V;
}
const std::string Of = "degenerate (the only size): output 'result' ";
} // namespace

// The count, which is changed and not returned, is the same for both inputs:
// nothing is said of it.
TEST(Degenerate, AGoodOutputIsNone) {
  std::vector<float> Twin = ramp(64);
  Twin[1] = 5;
  EXPECT_EQ(said(DType::F32, ramp(64), Twin), "");
  EXPECT_EQ(said(DType::F32, ramp(64), {}), "");
  EXPECT_EQ(said(DType::F32, std::vector<float>{}, {}), "");
}

TEST(Degenerate, Constant) {
  std::vector<float> V(64, 2), Twin(64, 3);
  V[3] += 1e-4f; // within the tolerance
  EXPECT_EQ(said(DType::F32, V, Twin),
            Of + "is constant: every element is about 2\n");
  V[3] += 1e-2f;
  EXPECT_EQ(said(DType::F32, V, Twin), "");
  EXPECT_EQ(said<uint8_t>(DType::Bool, {1, 1}, {0, 1}),
            Of + "is constant: every element is about 1\n");
  // One element is always the same as itself.
  EXPECT_EQ(said<float>(DType::F32, {2}, {3}), "");
}

TEST(Degenerate, Tiny) {
  EXPECT_EQ(said(DType::F32, ramp(64, 1e-5f), {}),
            Of + "is nowhere above 3e-05: zeros would pass an absolute "
                 "tolerance of 1e-4\n");
  EXPECT_EQ(said(DType::F32, ramp(64, 1e-3f), {}), "");
  EXPECT_EQ(said<int32_t>(DType::I32, {0, 1}, {}), "");
}

TEST(Degenerate, AnotherInputsOutput) {
  const char *Same =
      "does not depend on the input: that of another input would pass\n";
  EXPECT_EQ(said(DType::F32, ramp(64), ramp(64)), Of + Same);
  EXPECT_EQ(said(DType::F32, ramp(64), ramp(64, 1.00001f)), Of + Same);
  EXPECT_EQ(said(DType::F32, ramp(64), ramp(64, 1.01f)), "");
  // What would pass is also what the source's own error lets pass.
  EXPECT_EQ(said(DType::F32, ramp(64), ramp(64, 1.01f), 200), Of + Same);
}

TEST(Degenerate, MostlyRounding) {
  EXPECT_EQ(said(DType::F32, ramp(64), {}, 499), "");
  EXPECT_EQ(said(DType::F32, ramp(64), {}, 1000),
            Of + "is mostly rounding: the source is off its reference by 5 % "
                 "of the output's size\n");
  EXPECT_EQ(said(DType::F32, ramp(64), {}, 1e6),
            Of + "is mostly rounding: the source is off its reference by more "
                 "than the output's size\n");
}

// What a ReLU leaves of a row says nothing of what was summed up: its scale is
// a tenth of the whole output's at least. An entry of pointers keeps to the
// row.
TEST(CompareLeaf, ATenthOfTheWhole) {
  std::vector<float> Wanted(4096, 1), Got;
  std::fill(Wanted.begin(), Wanted.begin() + 64, 0.0f);
  Job J = withOutput(DType::F32, {64, 64});
  auto Mismatches = [&](float Off, double Slack) {
    Got = Wanted;
    Got[5] += Off;
    return compareLeaf(J, 0, 0, Got.data(), Wanted.data(), Slack, 0).Mismatches;
  };
  EXPECT_EQ(Mismatches(0.9e-5f, 1), 0u);
  EXPECT_EQ(Mismatches(1.1e-5f, 1), 1u);
  EXPECT_EQ(Mismatches(1.1e-5f, 2), 0u);
  J.Torch.clear();
  EXPECT_EQ(Mismatches(0.9e-5f, 1), 1u);
}

TEST(Compare, ScalesOfRows) {
  std::vector<float> Wanted(64, 100), Got = Wanted;
  Got[0] += 0.019f; // 1e-4 * (100 + 100) is allowed
  auto Bad = [&](double Least, double Fixed = 0) {
    return compare(DType::F32, Got.data(), Wanted.data(), {64}, 1e-4,
                   poisonPattern(DType::F32, 0), {Least, Fixed})
        .Mismatches;
  };
  EXPECT_EQ(Bad(1), 0u);
  Got[0] += 0.01f;
  EXPECT_EQ(Bad(1), 1u);
  EXPECT_EQ(Bad(200), 0u);
  // In their place, larger or smaller.
  EXPECT_EQ(Bad(1, 200), 0u);
  Got[0] = 100.0102f; // 1e-4 * (1 + 100) is 0.0101
  EXPECT_EQ(Bad(200), 0u);
  EXPECT_EQ(Bad(200, 1), 1u);
}

// Part by part; the element is named.
TEST(Compare, ComplexNumbers) {
  std::vector<Complex> Wanted(64, {1, -2}), Got = Wanted;
  Got[9] = {1, 2};
  Comparison C = compare(DType::C64, Got.data(), Wanted.data(), {8, 8}, 1e-4,
                         poisonPattern(DType::C64, 0));
  EXPECT_EQ(C.Mismatches, 1u);
  EXPECT_EQ(C.FirstBad, 9u);
  EXPECT_EQ(C.Got, 2);
  EXPECT_EQ(C.Wanted, -2);
  Leaf L;
  L.Name = "z";
  L.Type = DType::C64;
  L.Tolerance = 1e-4;
  LeafValue V;
  V.Shape = {8, 8};
  EXPECT_EQ(
      describeMismatch(L, V, C, "call").substr(0, 133),
      "output 'z' is wrong (call).\n1 of 128 real and imaginary parts "
      "(0.781 %) differ from the source's.\nFirst: z[1][1] (flat index 9) "
      "= 2, ");
  // The scale is that of both parts together.
  std::vector<std::complex<double>> A(64, {1000, 0}), B = A;
  B[0] = {1000, 0.05};
  EXPECT_TRUE(compare(DType::C128, B.data(), A.data(), {64}, 1e-4,
                      poisonPattern(DType::C128, 0))
                  .ok());
  EXPECT_EQ(
      countPoison(DType::C64, Got.data(), 64, poisonPattern(DType::C64, 0)),
      0u);
}

TEST(Compare, SmallIntegersAndTruthValues) {
  std::vector<int8_t> A(64, -3), B = A;
  B[7] = -4;
  Comparison C = compare(DType::I8, B.data(), A.data(), {64}, 0,
                         poisonPattern(DType::I8, 0));
  EXPECT_EQ(C.Mismatches, 1u);
  EXPECT_EQ(C.Got, -4);
  std::vector<int16_t> D(64, 300), E = D;
  E[63] = 301;
  EXPECT_EQ(compare(DType::I16, E.data(), D.data(), {64}, 0,
                    poisonPattern(DType::I16, 0))
                .FirstBad,
            63u);
  std::vector<uint8_t> F(64, 1), G = F;
  G[0] = 0;
  EXPECT_EQ(compare(DType::Bool, G.data(), F.data(), {64}, 0,
                    poisonPattern(DType::Bool, 0))
                .Mismatches,
            1u);
}

TEST(Extremes, OfFiniteElements) {
  float Inf = std::numeric_limits<float>::infinity();
  std::vector<float> V = {1, -3, Inf, 2};
  Extremes E = extremes(DType::F32, V.data(), 4);
  EXPECT_EQ(E.Least, -3);
  EXPECT_EQ(E.Greatest, 2);
  EXPECT_FALSE(E.AllFinite);
  V = {Inf, std::nanf("")};
  E = extremes(DType::F32, V.data(), 2);
  EXPECT_EQ(E.Least, 0);
  EXPECT_EQ(E.Greatest, 0);
  EXPECT_FALSE(E.AllFinite);
  std::vector<Complex> Z = {{1, 5}, {-2, 0}};
  E = extremes(DType::C64, Z.data(), 2);
  EXPECT_EQ(E.Least, -2);
  EXPECT_EQ(E.Greatest, 5);
  EXPECT_TRUE(E.AllFinite);
  std::vector<int16_t> W = {-300, 300};
  EXPECT_EQ(extremes(DType::I16, W.data(), 2).Least, -300);
  EXPECT_TRUE(extremes(DType::F32, nullptr, 0).AllFinite);
}

TEST(RootMeanSquare, OfFiniteElements) {
  std::vector<float> V = {3, -3, std::nanf("")};
  EXPECT_EQ(rootMeanSquare(DType::F32, V.data(), 3), 3);
  EXPECT_EQ(rootMeanSquare(DType::F32, V.data(), 0), 0);
  std::vector<Complex> Z = {{3, 3}, {-3, 3}};
  EXPECT_EQ(rootMeanSquare(DType::C64, Z.data(), 2), 3);
  std::vector<int32_t> W = {3};
  EXPECT_EQ(rootMeanSquare(DType::I32, W.data(), 1), 0);
  // More than one thread takes.
  std::vector<float> Large((size_t(1) << 18) + 3, 2);
  EXPECT_EQ(rootMeanSquare(DType::F32, Large.data(), Large.size()), 2);
  EXPECT_EQ(extremes(DType::F32, Large.data(), Large.size()).Greatest, 2);
}
