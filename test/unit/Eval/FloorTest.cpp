//===- FloorTest.cpp - What no implementation can be faster than ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/Floor.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
class FloorTest : public testing::Test {
public:
  FloorTest() {
    Size S;
    S.Names = {{"n", 1000000}};
    Load.Sizes = {S};
    Took.Label = S.label();
    Took.MedianUs = 50;
    Took.SourceMedianUs = 100;
    Rates.LaunchUs = 2;
    Rates.CopyGBs = 1000;
    Rates.PeakGflops = 1000;
  }
  std::optional<Floor> found(bool Plain = true) {
    return floorOf(Load, Took, Rates, Plain);
  }
  std::string text(bool Plain = true) {
    return floorText(found(Plain), Took.MedianUs);
  }
  Workload Load;
  job::Timing Took;
  FloorRates Rates;
};
} // namespace

// The largest of the three is the floor, and it says which one it is.
TEST_F(FloorTest, TheLargestCounts) {
  EXPECT_EQ(text(), "4 % (launch)");
  Load.Bytes = "n";
  EXPECT_EQ(text(), "4 % (launch)");
  Load.Bytes = "20 * n";
  EXPECT_EQ(text(), "40 % (bytes)");
  Load.SourcePrecision = true;
  Load.Flops = "10 * n";
  EXPECT_EQ(text(), "40 % (bytes)");
  Load.Flops = "40 * n";
  EXPECT_EQ(text(), "80 % (operations)");
}

TEST_F(FloorTest, OperationsThatTensorCoresMayDoAreNone) {
  Load.Flops = "40 * n";
  EXPECT_EQ(text(), "4 % (launch)"); // precision is any
  Load.SourcePrecision = true;
  EXPECT_EQ(text(/*Plain=*/false), "4 % (launch)");
  Took.SourceMedianUs = 39; // it outruns them
  EXPECT_EQ(text(), "4 % (launch)");
  Took.SourceMedianUs = 100;
  Argument X;
  X.IsBuffer = true;
  X.Type = job::DType::BF16;
  Load.Arguments = {X};
  EXPECT_EQ(text(), "4 % (launch)");
  Load.Arguments[0].Type = job::DType::U8;
  EXPECT_EQ(text(), "80 % (operations)");
}

TEST_F(FloorTest, NothingKnownIsNoFloor) {
  Rates = FloorRates();
  Load.Bytes = Load.Flops = "n";
  EXPECT_EQ(text(), "-");
  Rates.CopyGBs = 1000;
  Load.Bytes = "n / 0";
  EXPECT_EQ(text(), "-");
  Load.Bytes = "n";
  Took.Label = "another";
  EXPECT_EQ(text(), "-");
}

// What was measured comes before what is written down of such a device; of
// another device nothing is.
TEST_F(FloorTest, Rates) {
  Verdict V;
  V.Device = "NVIDIA H200";
  EXPECT_EQ(floorRates(V).CopyGBs, 4222);
  EXPECT_EQ(floorRates(V).LaunchUs, 2);
  EXPECT_NEAR(floorRates(V).PeakGflops, 66908, 1);
  V.CopyGBs = 4000;
  V.EventPairUs = 2.5;
  EXPECT_EQ(floorRates(V).CopyGBs, 4000);
  EXPECT_EQ(floorRates(V).LaunchUs, 2.5);
  V.Modelled = true;
  V.Device = "simulated NVIDIA H200";
  EXPECT_EQ(floorRates(V).CopyGBs, 4222);
  EXPECT_EQ(floorRates(V).LaunchUs, 0);
  Verdict Other;
  Other.Device = "NVIDIA H200 NVL";
  EXPECT_EQ(floorRates(Other).CopyGBs, 0);
  EXPECT_EQ(floorRates(Other).L2Bytes, 0);
}

TEST_F(FloorTest, PlainArithmetic) {
  EXPECT_TRUE(isPlainArithmetic("#include <cuda_runtime.h>\n"
                                "__global__ void k(float *x) { *x += 1; }"));
  for (const char *Text : {"", "#include <mma.h>", "#include \"gemm.cuh\"",
                           "wmma::load()", "asm(\"mma.sync\")", "__half2 x",
                           "__nv_bfloat16 x", "cublasSgemm()", "at::mm(a, b)"})
    EXPECT_FALSE(isPlainArithmetic(Text)) << Text;
}
