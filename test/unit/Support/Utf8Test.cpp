//===- Utf8Test.cpp - Text that JSON can hold -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Utf8.h"
#include <gtest/gtest.h>

using namespace stark;

TEST(Utf8, WhatIsUtf8StaysAsItIs) {
  for (llvm::StringRef Text :
       {llvm::StringRef(""), llvm::StringRef("a\0b", 3),
        llvm::StringRef("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80")}) {
    EXPECT_TRUE(isUtf8(Text));
    EXPECT_EQ(repairUtf8(Text), Text);
  }
}

// One replacement for each longest part that begins no character: a lone
// byte, a character cut short, a surrogate, an overlong form.
TEST(Utf8, WhatIsNotIsReplaced) {
  const std::string R = "\xEF\xBF\xBD";
  for (const auto &[Text, Wanted] :
       {std::pair<std::string, std::string>{"a\xFF"
                                            "b",
                                            "a" + R + "b"},
        {"\xE2\x82", R},
        {"\xE2\x82|", R + "|"},
        {"\xED\xA0\x80", R + R + R},
        {"\xC0\xAF", R + R}}) {
    EXPECT_FALSE(isUtf8(Text));
    EXPECT_EQ(repairUtf8(Text), Wanted);
    EXPECT_TRUE(isUtf8(repairUtf8(Text)));
  }
}

// A carriage return alone is no line's end.
TEST(Utf8, LinesEndAsOnUnix) {
  EXPECT_EQ(withUnixLines("a\r\nb\r\n"), "a\nb\n");
  EXPECT_EQ(withUnixLines("a\rb\r\r\n\r"), "a\rb\r\n\r");
  EXPECT_EQ(withUnixLines("a\nb"), "a\nb");
  EXPECT_EQ(withUnixLines(""), "");
}

// A terminal does nothing that a text tells it to.
TEST(Utf8, WhatIsNotSeenIsShown) {
  EXPECT_EQ(visibleText("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(visibleText("\x1b]0;title\x07\r\x7f"),
            "\\u{1b}]0;title\\u{7}\\u{d}\\u{7f}");
  EXPECT_EQ(visibleText("\xC2\x9b"), "\\u{9b}") << "an 8-bit CSI";
  EXPECT_EQ(visibleText("\xE2\x80\xAE\xE2\x81\xA6"), "\\u{202e}\\u{2066}")
      << "the direction of text";
  EXPECT_EQ(visibleText("\xC3\xA4 \xE6\xA0\xB8"), "\xC3\xA4 \xE6\xA0\xB8");
  EXPECT_EQ(visibleText("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(visibleText(llvm::StringRef("\0", 1)), "\\u{0}");
  EXPECT_EQ(visibleLine("a\nb\tc"), "a b c");
}

// What has no room is left out, and that is seen.
TEST(Utf8, LinesAreCutByColumns) {
  EXPECT_EQ(fitLine("12345", 5), "12345");
  EXPECT_EQ(fitLine("123456", 5), "12...");
  EXPECT_EQ(fitLine("123456", 2), "..");
  EXPECT_EQ(fitLine("123456", 0), "");
  EXPECT_EQ(fitLine("\xE6\xA0\xB8\xE6\xA0\xB8\xE6\xA0\xB8", 5),
            "\xE6\xA0\xB8...");
}
