//===- PrecisionTest.cpp - What PTX rounds with ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace stark;

static std::string classes(llvm::StringRef Ptx) {
  return llvm::join(precisionOf(Ptx), ", ");
}

// Tensor instructions are named by the type that they multiply, whichever of
// the families they are of, and by what they add up in where that is f16.
TEST(Precision, TensorInstructions) {
  EXPECT_EQ(classes("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                    "{%f1}, {%r1}, {%r2}, {%f1};"),
            "mma of tf32");
  EXPECT_EQ(classes("@%p1 wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                    "{%f1}, %rd1, %rd2, p, 1, 1;"),
            "mma of bf16");
  EXPECT_EQ(classes("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1};"),
            "mma of f16 into f16");
  EXPECT_EQ(classes("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1};"),
            "mma of f16");
  EXPECT_EQ(classes("tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %rd1;"),
            "mma of kind f8f6f4");
  // Those that move data, and those of doubles, round nothing.
  EXPECT_EQ(
      classes("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1];\n"
              "wgmma.fence.sync.aligned;\n"
              "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1};"),
      "");
}

TEST(Precision, ConversionsAndApproximations) {
  EXPECT_EQ(classes("cvt.rn.bf16x2.f32 %r1, %f1, %f2;\n"
                    "cvt.rna.tf32.f32 %r1, %f1;\n"
                    "\tcvt.rn.f16.f32 %rs1, %f1; cvt.rn.f32.f64 %f1, %fd1;"),
            "conversion to bf16, conversion to f16, conversion to f32 from "
            "f64, conversion to tf32");
  EXPECT_EQ(classes("ex2.approx.ftz.f32 %f1, %f2;"),
            "ex2.approx, subnormals as zero");
  EXPECT_EQ(classes("fma.rn.f16x2 %r1, %r2, %r3, %r4;"), "arithmetic in f16");
  // Wider ones lose nothing.
  EXPECT_EQ(
      classes("cvt.f32.f16 %f1, %rs1; cvt.f64.f32 %fd1, %f1;\n"
              "fma.rn.f32 %f1, %f2, %f3, %f4; ld.global.f32 %f1, [%rd1];\n"
              "// cvt.rn.f16.f32 in a comment\n.reg .b16 %rs<3>;"),
      "");
}

// Inline assembly stands in PTX as it was written.
TEST(Precision, WhateverStandsBeforeAnInstruction) {
  const char *Mma = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {};";
  for (const char *Before :
       {"/* */ ", "L1: ", "@!p ", "/*\n*/@p\tL2: ", "// x\n", "{ "})
    EXPECT_EQ(classes(std::string(Before) + Mma), "mma of tf32") << Before;
  EXPECT_EQ(classes(std::string("/* ") + Mma + " */"), "");
}

// A candidate's #line says what stands in .file.
TEST(Precision, NamesOfFilesHideNothing) {
  for (const char *Name : {"\"/*\"", "\"a//b/*c\"", "\"a\\\"/*b\"", "\"/*"})
    EXPECT_EQ(classes(std::string("\t.file\t1 ") + Name +
                      "\nex2.approx.f32 %f1, %f2;\n.file 2 \"*/\""),
              "ex2.approx")
        << Name;
  EXPECT_EQ(classes(".file 1 \"a\\b\"\n/* x */ ex2.approx.f32 %f1, %f2;"),
            "ex2.approx");
}

TEST(Precision, WaitingForBarriers) {
  EXPECT_TRUE(hasAsyncBarriers(
      "L: @p mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], 0;"));
  EXPECT_TRUE(hasAsyncBarriers("{ barrier.cluster.arrive; }"));
  EXPECT_FALSE(hasAsyncBarriers("\t.file 1 \"/usr/include/mbarrier.h\"\n"
                                "// mbarrier.init\nbar.sync 0;"));
}

TEST(Precision, OnlyWhatIsNewCounts) {
  std::vector<std::string> Source = {"ex2.approx", "mma of f16"};
  EXPECT_EQ(newPrecision({"ex2.approx", "mma of tf32"}, Source),
            std::vector<std::string>{"mma of tf32"});
  EXPECT_TRUE(newPrecision(Source, Source).empty());
}
