//===- MarksTests.cpp - Marks go in and out without a trace ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Anchor.h"
#include <gtest/gtest.h>

using namespace stark;

static Anchor anchorOf(const std::string &Text, const std::string &Part) {
  Anchor A;
  A.Bytes.Begin = Text.find(Part);
  A.Bytes.End = A.Bytes.Begin + Part.size();
  return A;
}

// What markAnchors() put in, stripMarks() takes out, byte for byte.
TEST(Marks, RoundTrip) {
  struct Case {
    std::string Text;
    std::vector<std::string> Parts;
  };
  std::vector<Case> Cases = {
      {"void f() {\n  a();\n  b();\n}\n", {"a();"}},
      {"void f() {\n  a();\n  b();\n}\n", {"a();", "b();"}},
      {"void f() { a(); b(); }", {"a();"}},
      {"void f() { a();b(); }", {"a();", "b();"}},
      {"void f() {\r\n\ta();\r\n}\r\n", {"a();"}},
      {"a();", {"a();"}},
      {"a();\r\nb();", {"b();"}},
      {"  a();  // why\n  b();\n", {"a();"}},
      {"  a();  /* why */ b();\n", {"a();", "b();"}},
      {"a(); // more\\\n still comment\nb();\n", {"a();"}},
      {"a();   ", {"a();"}},
      {"\xef\xbb\xbfx();\n// caf\xe9 \xff\na();\n", {"a();"}},
      {"if (x)\\\n  a();\nb();\n", {"a();"}},
      {"a();\rb();\r", {"a();", "b();"}},
  };
  for (const Case &C : Cases) {
    std::vector<Anchor> Anchors;
    for (const std::string &Part : C.Parts)
      Anchors.push_back(anchorOf(C.Text, Part));
    std::string Marked = markAnchors(C.Text, Anchors);
    EXPECT_NE(Marked, C.Text);
    EXPECT_EQ(stripMarks(Marked), C.Text) << Marked;
  }
}

TEST(Marks, FormsThatModelsWrite) {
  for (std::string Mark :
       {"// <<<IMPROVE BEGIN>>>", "//<<<improve begins>>>",
        "// # <<< IMPROVE  BEGIN >>>", "/* <<<IMPROVE_BEGIN>>> */",
        "# <<<IMPROVE BEGIN>>>", "# # <<<IMPROVE BEGIN>>>",
        "<<<IMPROVE BEGIN>>>", "// <<<IMPROVE BEGIN>>> use float4 here",
        "/* advice\n over lines <<<IMPROVE END>>> */", "// <<<Improve Ends>>>",
        "// <<IMPROVE END>>"})
    EXPECT_EQ(stripMarks("a;\n" + Mark + "\nb;\n"), "a;\nb;\n") << Mark;
}

TEST(Marks, WhatIsNoMark) {
  for (std::string Text :
       {"s = \"// <<<IMPROVE BEGIN>>>\";\n", "// improve begin\n",
        "s = R\"(\n<<<IMPROVE BEGIN>>>\n)\";\n", "k<<<grid, block>>>(x);\n",
        "// <<<IMPROVEMENT BEGIN>>>\n", "// <<<IMPROVE>>>\n",
        "f(); improve<<<begin, end>>>();\n"})
    EXPECT_EQ(stripMarks(Text), Text);
}

// Taking a comment out may not join two tokens into one.
TEST(Marks, TokensStayApart) {
  EXPECT_EQ(stripMarks("int/*<<<IMPROVE BEGIN>>>*/x;"), "int x;");
}
