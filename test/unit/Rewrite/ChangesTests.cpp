//===- ChangesTests.cpp - Changes are made once, in order and in style ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Changes.h"
#include <gtest/gtest.h>

using namespace stark;

static std::string made(const Changes &C, llvm::StringRef Text) {
  llvm::Expected<std::string> Changed = C.applyTo(Text, "/nowhere/k.cu");
  return Changed ? *Changed : "error: " + llvm::toString(Changed.takeError());
}

static Range rangeOf(llvm::StringRef Text, llvm::StringRef Part) {
  size_t At = Text.find(Part);
  return {At, At + Part.size()};
}

TEST(Changes, InsertionsAtOnePlaceKeepTheirOrder) {
  Changes C;
  C.insert(1, "x");
  C.insert(1, "y");
  C.replace({1, 2}, "z");
  EXPECT_EQ(made(C, "abc"), "axyzc");
}

TEST(Changes, WhatTwoHaveInCommonIsMadeOnce) {
  Changes One, Two;
  One.insert(0, "once ");
  One.replace({0, 1}, "A");
  Two.insert(0, "once ");
  Two.replace({2, 3}, "C");
  One.add(Two);
  EXPECT_EQ(made(One, "abc"), "once AbC");
}

TEST(Changes, OverlapsAndPlacesOutsideAreErrors) {
  Changes C;
  C.replace({0, 2}, "x");
  C.replace({1, 3}, "y");
  EXPECT_EQ(made(C, "abc"), "error: two changes of the rewrite overlap");
  Changes Outside;
  Outside.insert(4, "x");
  EXPECT_EQ(made(Outside, "abc"),
            "error: a change of the rewrite lies outside of the text");
}

// The file's layout is kept where a word is replaced, and taken on by new code.
TEST(Changes, NewCodeHasTheIndentationOfItsFile) {
  llvm::StringRef Text = "void f() {\n    a ( );\n    b();\n}\n";
  Changes C;
  C.replace(rangeOf(Text, "a"), "c");
  C.write(rangeOf(Text, "b();"), "for(;;) {\nb();}");
  EXPECT_EQ(made(C, Text), "void f() {\n    c ( );\n    for (;;) {\n"
                           "        b();\n    }\n}\n");
}

TEST(Changes, NewCodeHasTheLineEndsOfItsFile) {
  llvm::StringRef Text = "void f() {\r\n  b();\r\n}\r\n";
  Changes C;
  C.write(rangeOf(Text, "b();"), "{\nb();\n}");
  EXPECT_EQ(made(C, Text), "void f() {\r\n  {\r\n    b();\r\n  }\r\n}\r\n");
}

TEST(Substituted, ReplacesPartsOfAPart) {
  llvm::StringRef Text = "y[i] = x[i];";
  Range Whole = rangeOf(Text, "x[i]");
  EXPECT_EQ(substituted(Text, Whole, {{{9, 10}, "0"}}), "x[0]");
  EXPECT_EQ(substituted(Text, Whole, {{{9, 10}, "0"}, {{8, 10}, "1"}}),
            std::nullopt);
}
