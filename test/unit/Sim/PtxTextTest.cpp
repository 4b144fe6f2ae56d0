//===- PtxTextTest.cpp - The text of inline PTX ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"
#include "stark/Job/Npy.h"
#include <gtest/gtest.h>

using namespace stark::sim;

TEST(PtxText, ConstraintsAreRespelledInPlace) {
  const std::string Source = R"(asm volatile("f %0;" : "=f"(x), [n] "+h"(y)
    : "l"(p + f("l")), "r"(q), "d"(z) : "memory");)";
  EXPECT_EQ(respellConstraints(Source),
            R"(asm volatile("f %0;" : "=x"(x), [n] "+r"(y)
    : "r"(p + f("l")), "r"(q), "x"(z) : "memory");)");
}

TEST(PtxText, WhatIsNoAsmStatementIsLeftAlone) {
  for (const char *Source :
       {"// asm(\"\" : \"=f\"(x));", "/* asm(\"\" : \"=f\"(x)); */",
        "const char *s = \"asm(\\\"\\\" : \\\"=f\\\"(x));\";",
        "R\"(asm(\"\" : \"=f\"(x));)\"", "asmx(\"\" : \"=f\"(x));",
        "asm(\"mov %0, 1;\" ::: \"f\");", "asm", "/* asm"})
    EXPECT_EQ(respellConstraints(Source), Source);
}

TEST(PtxText, StatementsAreReadWithGuardsAndOperands) {
  std::vector<PtxStatement> List;
  ASSERT_TRUE(readPtx("{\n .reg .pred p; // one\n setp.ne.b32 p, $1, 0;\n"
                      " @!p ld.global.v2.f32 {$0, a}, [$2 + 8]; }",
                      List));
  ASSERT_EQ(List.size(), 3u);
  EXPECT_EQ(List[0].Words, (std::vector<std::string>{".reg", "pred"}));
  EXPECT_EQ(List[0].Operands, (std::vector<std::string>{"p"}));
  EXPECT_EQ(List[2].Guard, "p");
  EXPECT_TRUE(List[2].Negated);
  EXPECT_TRUE(List[2].has("v2"));
  EXPECT_EQ(List[2].Operands,
            (std::vector<std::string>{"{$0, a}", "[$2 + 8]"}));
}

TEST(PtxText, RubbishIsNotRead) {
  for (const char *Text : {";.;", "@p", "@", "."}) {
    std::vector<PtxStatement> List;
    EXPECT_FALSE(readPtx(Text, List)) << Text;
  }
}

TEST(PtxText, TypesHaveAKindAWidthAndLanes) {
  EXPECT_EQ(parsePtxType("f16x2")->bits(), 32u);
  EXPECT_EQ(parsePtxType("bf16")->Kind, 'g');
  EXPECT_EQ(parsePtxType("s64")->Bits, 64u);
  for (const char *Word : {"f8", "u7", "s32x2", "tf32", "", "x2", "b", "bf32"})
    EXPECT_FALSE(parsePtxType(Word)) << Word;
}
