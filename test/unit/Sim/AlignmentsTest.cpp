//===- AlignmentsTest.cpp - Alignments where Clang reads them -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Alignments.h"
#include <gtest/gtest.h>

using namespace stark::sim;

TEST(Alignments, GoBeforeTheMemory) {
  EXPECT_EQ(alignmentsFirst("  __shared__ alignas(16) char c[16];"),
            "  alignas(16) __shared__ char c[16];");
  EXPECT_EQ(alignmentsFirst("extern __shared__ alignas(f(2) + 1) int a[];"),
            "alignas(f(2) + 1) extern __shared__ int a[];");
  EXPECT_EQ(alignmentsFirst("__shared__  alignas(T)float x;"),
            "alignas(T) __shared__ float x;");
}

TEST(Alignments, StayWhereTheyAreWell) {
  for (const char *Text :
       {"alignas(16) __shared__ int a;", "struct alignas(8) S {};",
        "static alignas(4) int x;", "// __shared__ alignas(16) int a;",
        "const char *s = \"__shared__ alignas(16) int\";",
        "__shared__ alignas(16", "__shared__\nalignas(16) int a;"})
    EXPECT_EQ(alignmentsFirst(Text), Text);
}
