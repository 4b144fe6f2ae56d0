//===- CodeReplyTest.cpp - Code as models send it -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Agent/Reply.h"
#include <gtest/gtest.h>

using namespace stark;

static CodeReply code(const std::string &Text, size_t Anchors) {
  llvm::Expected<CodeReply> C = parseCodeReply(Text, Anchors);
  EXPECT_TRUE(bool(C)) << llvm::toString(C.takeError()) << "\nin:\n" << Text;
  return C ? *C : CodeReply();
}

static std::string problem(const std::string &Text, size_t Anchors) {
  llvm::Expected<CodeReply> C = parseCodeReply(Text, Anchors);
  EXPECT_FALSE(bool(C)) << Text.substr(0, 200);
  return C ? std::string() : llvm::toString(C.takeError());
}

using Texts = std::vector<std::string>;

TEST(CodeReply, FormsAsked) {
  CodeReply C = code("I did it.\n\n```cuda anchor 1\na();\n```\n\n"
                     "```cuda anchor 2\nb();\n```\n"
                     "```cuda declarations\n#include <cstdint>\n```\n",
                     2);
  EXPECT_EQ(C.Explanation, "I did it.");
  EXPECT_EQ(C.AnchorTexts, (Texts{"a();\n", "b();\n"}));
  EXPECT_EQ(C.Declarations, "#include <cstdint>\n");
  EXPECT_TRUE(C.WholeFile.empty());

  C = code("Done.\n```cuda file\n#include <x>\nint a;\n```\n", 2);
  EXPECT_EQ(C.WholeFile, "#include <x>\nint a;\n");
  EXPECT_TRUE(C.AnchorTexts.empty());
}

// Each of these gives the one anchor.
TEST(CodeReply, LabelsAsModelsWriteThem) {
  for (const char *Text : {
           "```cuda anchor 1\na();\n```",
           "```cuda:anchor1\na();\n```",
           "```cpp anchor=1\na();\n```",
           "```{.cuda anchor-1}\na();\n```",
           "```anchor 1\na();\n```",
           "```CUDA Anchor #1\r\na();\r\n```\r\n",
           "~~~~~ c++ anchor 1\na();\n~~~~~",
           "### Anchor 1\n\n```cuda\na();\n```",
           "**Anchor 1:**\n```cpp\na();\n```",
           "```cuda anchor\na();\n```",
           "```cuda anchors1\na();\n```",
           "Original file:\n```cuda\n#include <x>\n```\n\n"
           "```cuda anchor 1\na();\n```",
           "  ```cuda anchor 1\n  a();\n  ```",
           "```cuda anchor 1\na();\n",
           "```cuda anchor 1\nwrong();\n```\nNo:\n```cuda anchor 1\na();\n```",
           "```text\nnothing\n```\n```cuda anchor 1\na();\n```\n"
           "```bash\nnvcc x.cu\n```",
           "<think>```cuda anchor 1\nno\n```</think>```\n\n"
           "```cuda anchor 1\na();\n```",
           "```markdown\n```cuda anchor 1\na();\n```\n```\n",
       })
    EXPECT_EQ(code(Text, 1).AnchorTexts, (Texts{"a();\n"})) << Text;
}

// A fence that was not closed ends where the next one begins.
TEST(CodeReply, ForgottenFence) {
  EXPECT_EQ(code("```cuda anchor 1\na();\n```cuda anchor 2\nb();\n```\n", 2)
                .AnchorTexts,
            (Texts{"a();\n", "b();\n"}));
}

// Fences inside code that is fenced by a longer one are code.
TEST(CodeReply, NestedFences) {
  EXPECT_EQ(
      code("````cuda file\n// ```\n#include <x>\n```\n````\n", 1).WholeFile,
      "// ```\n#include <x>\n```\n");
}

// Without a label, only what has includes can be the file; the last such.
TEST(CodeReply, UnlabelledFile) {
  EXPECT_EQ(code("The idea:\n```cuda\nf();\n```\nFirst:\n```cuda\n#include "
                 "<a>\n```\nBetter:\n```cpp\n #  include <b>\n```\n",
                 3)
                .WholeFile,
            " #  include <b>\n");
}

// A word inside a word is no label.
TEST(CodeReply, LabelsAreWords) {
  EXPECT_EQ(problem("Profile:\n```cuda\nf();\n```", 1)
                .find("the code block does not say what it is"),
            0u);
  EXPECT_EQ(code("The full file:\n```cuda\nf();\n```", 1).WholeFile, "f();\n");
}

TEST(CodeReply, EscapedBrackets) {
  EXPECT_EQ(code("```cuda anchor 1\nk&lt;&lt;&lt;1, 2&gt;&gt;&gt;(a &amp;&amp; "
                 "b);\n```",
                 1)
                .AnchorTexts[0],
            "k<<<1, 2>>>(a && b);\n");
  // Code that has brackets of its own is left as it is.
  EXPECT_EQ(
      code("```cuda anchor 1\na < b ? \"&lt;\" : c;\n```", 1).AnchorTexts[0],
      "a < b ? \"&lt;\" : c;\n");
}

TEST(CodeReply, ProblemsAreTheReask) {
  std::string Two = "; wanted the whole file in one block labelled ```cuda "
                    "file or the new text of each anchor in blocks labelled "
                    "```cuda anchor 1 to ```cuda anchor 2";
  EXPECT_EQ(problem("", 2), "the answer is empty" + Two);
  EXPECT_EQ(problem("I cannot.", 2),
            "the answer holds no code block, and says 'I cannot.'" + Two);
  EXPECT_EQ(problem("```cuda\nf();\n```", 2),
            "the code block does not say what it is" + Two);
  EXPECT_EQ(problem("```cuda\nf();\n```\n```cuda\ng();\n```", 2),
            "none of the 2 code blocks says what it is" + Two);
  EXPECT_EQ(problem("```cuda anchor 2\nf();\n```", 3),
            "the answer has no block for anchor 1, 3; send one for every "
            "anchor, with the old text where nothing changes, or the whole "
            "file in one block labelled ```cuda file");
  EXPECT_EQ(problem("```cuda anchor 3\nf();\n```", 1),
            "the answer has a block for anchor 3, but there is 1 anchor; "
            "wanted the whole file in one block labelled ```cuda file or the "
            "new text of the anchor in a block labelled ```cuda anchor 1");
  EXPECT_EQ(problem("```python\nx\n```", 0),
            "the answer holds no code block; wanted the whole file in one "
            "block labelled ```cuda file");
}

// Nothing a model sends may crash the tool or take long.
TEST(CodeReply, HostileTexts) {
  problem(std::string(10 << 20, '~'), 1);
  problem("```cuda anchor 99999999999999999999\nx\n```", 2);
  problem("```cuda anchor -1\nx\n", 0);
  std::string Many;
  for (unsigned I = 0; I < 200000; ++I)
    Many += "```cuda anchor " + std::to_string(I) + "\nx\n";
  problem(Many, 2);
  CodeReply C =
      code("```cuda file\n#include <a>\n" + std::string("\0\xFF\xC3", 3) +
               std::string(10 << 20, 'x') + "\n```",
           1);
  EXPECT_EQ(C.WholeFile.find('\0'), std::string::npos);
}
