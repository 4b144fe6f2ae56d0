//===- CodeTokensTest.cpp - The tokens of a source -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/CodeTokens.h"
#include <gtest/gtest.h>

using namespace stark;

/// The tokens with bars between them.
static std::string tokens(llvm::StringRef Text) {
  std::string Joined;
  for (const CodeToken &T : codeTokens(Text))
    Joined +=
        (Joined.empty() ? "" : "|") + (T.Kind == CodeToken::EndOfDirective
                                           ? std::string("end")
                                           : Text.slice(T.Begin, T.End).str());
  return Joined;
}

TEST(CodeTokens, AreThose) {
  EXPECT_EQ(tokens("int a_1 = 1'000.5e+3f + .5; // c\n"),
            "int|a_1|=|1'000.5e+3f|+|.5|;");
  EXPECT_EQ(tokens("f<<<g, 1>>>('\\'', \"a \\\" /* b\" /* \" */);"),
            "f|<|<|<|g|,|1|>|>|>|(|'\\''|,|\"a \\\" /* b\"|)|;");
  EXPECT_EQ(tokens("R\"x(\n)\" // )x\" u8R\"(a)\""),
            "R\"x(\n)\" // )x\"|u8R\"(a)\"");
  EXPECT_EQ(tokens("// a \\\n b\nc"), "c");
  EXPECT_EQ(tokens("#define A \\\r\n 1 // x\nb\n # if 1"),
            "#|define|A|\\|1|end|b|#|if|1|end");
  EXPECT_EQ(tokens("\xEF\xBB\xBF#include <a/b.h>"),
            "#|include|<|a|/|b|.|h|>|end");
}

// What does not end, or is no C++, ends with the text.
TEST(CodeTokens, Broken) {
  EXPECT_EQ(tokens("a /* b"), "a");
  EXPECT_EQ(tokens("\"a\nb"), "\"a|b");
  EXPECT_EQ(tokens("R\"x(a"), "R\"x(a");
  EXPECT_EQ(tokens("a \\"), "a|\\");
  EXPECT_EQ(tokens(llvm::StringRef("a\0b\\", 4)), "a|b|\\");
}

TEST(CodeTokens, Digest) {
  std::string Of = codeDigest("#define F(x) x\nint a = b++;\n");
  EXPECT_EQ(codeDigest("#define F(x) x // c\r\n\r\nint  a=b++ /* d */;"), Of);
  for (const char *Other :
       {"#define F (x) x\nint a = b++;\n", "#define F(x) x int a = b++;\n",
        "#define F(x) x\nint a = b+ +;\n", "#define F(x) x\ninta = b++;\n",
        "#define F(x) x\nint a = \"b++\";\n"})
    EXPECT_NE(codeDigest(Other), Of) << Other;
}
