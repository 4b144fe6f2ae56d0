//===- HtmlTest.cpp - A page that runs nothing of what it quotes ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Html.h"
#include <gtest/gtest.h>

using namespace stark;

static std::string written(llvm::function_ref<void(HtmlWriter &)> Write) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  HtmlWriter W(OS);
  Write(W);
  return Text;
}

static std::string textOf(llvm::StringRef Text) {
  return written([&](HtmlWriter &W) { W.text(Text); });
}

// What would be markup is text, in elements and in attributes alike.
TEST(Html, MarkupIsQuoted) {
  EXPECT_EQ(textOf("</script><b a='1' c=\"2\">&amp;"),
            "&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;");
  EXPECT_EQ(written([](HtmlWriter &W) {
              W.element("p", {{"id", "\"><img src=x>"}}, "<");
            }),
            "<p id=\"&quot;&gt;&lt;img src=x&gt;\">&lt;</p>");
}

// What is not seen, or turns what follows, is shown as a picture or a number.
TEST(Html, ControlCharactersAreShown) {
  EXPECT_EQ(textOf(llvm::StringRef("a\0b\x1b\x7f", 5)),
            "a&#9216;b&#9243;&#9249;");
  EXPECT_EQ(textOf("a\tb\nc\r\n"), "a\tb\nc\n");
  EXPECT_EQ(textOf("x\xE2\x80\xAEy\xE2\x81\xA6"), "x[U+202E]y[U+2066]");
  EXPECT_EQ(textOf("\xC2\x85\xD8\x9C\xEF\xBB\xBF"), "[U+0085][U+061C][U+FEFF]");
}

// Other characters stay; bytes that are none become the replacement character.
TEST(Html, TextIsUtf8) {
  const char *Fine = "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(textOf(Fine), Fine);
  EXPECT_EQ(textOf("a\xFF\xE2\x82"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

// An address stays within the page, or leads to a file beside it.
TEST(Html, AddressesLeadNowhereElse) {
  auto Address = [](const char *To) {
    return written([&](HtmlWriter &W) { W.element("a", {{"href", To}}, "x"); });
  };
  for (const char *Fine : {"#node-1", "index/a/b/seed-1.html"})
    EXPECT_EQ(Address(Fine), std::string("<a href=\"") + Fine + "\">x</a>");
  for (const char *Bad : {"javascript:x()", "http://a.invalid/", "//a.invalid",
                          "/etc/passwd", "data:text/html,x", "a b"})
    EXPECT_EQ(Address(Bad), "<a href=\"#\">x</a>") << Bad;
}

// A cut text ends with a whole character, and what is missing is counted.
TEST(Html, HeadsEndWithACharacter) {
  size_t Cut = 1;
  EXPECT_EQ(headOf("abc", 3, Cut), "abc");
  EXPECT_EQ(Cut, 0u);
  EXPECT_EQ(headOf("ab\xE2\x82\xAC", 4, Cut), "ab");
  EXPECT_EQ(Cut, 3u);
}
