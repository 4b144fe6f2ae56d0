//===- TunablesTests.cpp - Which numbers of a source may be others --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "stark/AST/Tunables.h"
#include <gtest/gtest.h>

using namespace stark;

static std::unique_ptr<ParsedSource> parse(const std::string &Text) {
  ParseOptions Options;
  Options.Toolkit = "none";
  auto Source = parseSource("/tunables.cu", Text, Options);
  EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  EXPECT_TRUE((*Source)->errors().empty())
      << (*Source)->errors().front().Message;
  return std::move(*Source);
}

/// "kBlock=64 kRows=4", in source order.
static std::string namesIn(const std::string &Text,
                           const std::string &Entry = "f") {
  std::string Names;
  for (const Tunable &T : findTunables(*parse(Text), Entry))
    Names +=
        (Names.empty() ? "" : " ") + T.Name + "=" + std::to_string(T.Value);
  return Names;
}

// Constants, enumerators and macros that reach a launch or an array's extent,
// by whatever way, are found where their number is written.
TEST(Tunables, NamesThatShapeALaunch) {
  EXPECT_EQ(namesIn("#include <cuda_runtime.h>\n"
                    "#define TILE (16)\n"
                    "constexpr int kWarp = 32;\n"
                    "static const unsigned kBlock = kWarp * 4u;\n"
                    "enum { Rows = 8 };\n"
                    "__global__ void k(float *x) {\n"
                    "  __shared__ float s[TILE][Rows + 1];\n"
                    "  s[0][0] = 1; x[0] = s[0][0];\n"
                    "}\n"
                    "void f(float *x, int n) {\n"
                    "  int threads = 64;\n"
                    "  dim3 block(threads, 2);\n"
                    "  k<<<(n + kBlock - 1) / kBlock, block>>>(x);\n"
                    "}\n"),
            "TILE=16 kWarp=32 Rows=8 threads=64");
}

// Unroll factors, template arguments and launch bounds.
TEST(Tunables, NumbersOfLoopsAndTemplates) {
  EXPECT_EQ(namesIn("#define BOUND 128\n"
                    "constexpr int kItems = 2;\n"
                    "template <int N, int M>\n"
                    "__global__ void __launch_bounds__(BOUND) k(float *x) {\n"
                    "#pragma unroll 4\n"
                    "  for (int i = 0; i < N * M; ++i) x[i] = 1;\n"
                    "}\n"
                    "void f(float *x) { k<8, kItems><<<1, 64>>>(x); }\n"),
            "BOUND=128 kItems=2 unroll:5=4 k<1>=8");
}

// A number that only takes part in arithmetic makes other results, and what the
// entry does not reach is none of its business.
TEST(Tunables, WhatIsNone) {
  EXPECT_EQ(namesIn("#define STEPS 10\n"
                    "constexpr int kRounds = 3, kOther = 64, kZero = 0;\n"
                    "#define CEIL(x) (((x) + 31) / 32)\n"
                    "constexpr int kHex = 0x40;\n"
                    "__global__ void k(float *x) {\n"
                    "  for (int i = 0; i < STEPS + kRounds; ++i) x[i] += 1;\n"
                    "}\n"
                    "__global__ void other(float *x) { x[0] = 1; }\n"
                    "void f(float *x, int n) { k<<<CEIL(n), kHex, kZero>>>(x); "
                    "}\n"
                    "void g(float *x) { other<<<1, kOther>>>(x); }\n"),
            "");
}

// What its line offers makes any constant a tunable.
TEST(Tunables, OfferedValues) {
  auto Source = parse("constexpr int kSteps = 4; // tune: 8, 2 4,2 and so on\n"
                      "#define ROUNDS 2 /* tune: 1 2 */\n"
                      "__global__ void k(float *x) {\n"
                      "  for (int i = 0; i < kSteps * ROUNDS; ++i) x[i] = 1;\n"
                      "}\n"
                      "void f(float *x) { k<<<1, 64>>>(x); }\n");
  std::vector<Tunable> All = findTunables(*Source, "f");
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].Offered, (std::vector<uint32_t>{2, 4, 8}));
  EXPECT_EQ(All[1].Name, "ROUNDS");
  EXPECT_EQ(All[1].Offered, (std::vector<uint32_t>{1, 2}));
}

// Other values take the place of the digits and leave every other byte.
TEST(Tunables, WithValues) {
  std::string Text = "constexpr unsigned kBlock = 64u; // threads\n"
                     "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
                     "void f(float *x) { k<<<1, kBlock>>>(x); }\n";
  std::vector<Tunable> All = findTunables(*parse(Text), "f");
  ASSERT_EQ(All.size(), 1u);
  std::string Wanted = Text;
  Wanted.replace(Wanted.find("64"), 2, "128");
  EXPECT_EQ(withValues(Text, All, {128}), Wanted);
}

// A kernel's registers bound its block, unless its launch bounds do.
TEST(Tunables, Registers) {
  auto Of = [](const std::string &Bounds, unsigned Registers) {
    return beyondEveryGpu(
        *parse("constexpr int kBlock = 500;\n"
               "template <int N> __global__ void " +
               Bounds +
               " k(float *x) { x[N] = 1; }\n"
               "void f(float *x) { k<1><<<1, kBlock>>>(x); }\n"),
        {{"k", Registers}});
  };
  EXPECT_EQ(Of("", 128), "");
  EXPECT_EQ(Of("", 129), "500 threads a block have 69632 registers, at most "
                         "65536 there are");
  EXPECT_EQ(Of("__launch_bounds__(512)", 129), "");
}

// What no GPU has is told from the text alone.
TEST(Tunables, BeyondEveryGpu) {
  auto Of = [](const std::string &Tile, const std::string &Block) {
    return beyondEveryGpu(*parse("#include <cuda_runtime.h>\n"
                                 "constexpr int kTile = " +
                                 Tile + ", kBlock = " + Block +
                                 ";\n"
                                 "__global__ void k(float *x) {\n"
                                 "  __shared__ float s[kTile][kTile];\n"
                                 "  s[0][0] = 1; x[0] = s[0][0];\n"
                                 "}\n"
                                 "void f(float *x) {\n"
                                 "  dim3 block(kBlock, 8);\n"
                                 "  k<<<1, block>>>(x); k<<<1, 64>>>(x);\n"
                                 "}\n"));
  };
  EXPECT_EQ(Of("64", "128"), "");
  EXPECT_EQ(Of("128", "128"), "k has 65536 bytes of static shared memory, at "
                              "most 49152 there are");
  EXPECT_EQ(Of("64", "256"), "2048 threads a block, at most 1024 there are");
}
