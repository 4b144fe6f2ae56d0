//===- OddReplyTest.cpp - Answers that are not as asked -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyFixture.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

namespace {
class OddReply : public ReplyTest {};
} // namespace

// A reply that was held to a schema, or that a model thought was.
TEST_F(OddReply, CodeInFieldsOfAnObject) {
  for (const std::string &Answer :
       {"{\"file\": " + asJson(Good) + "}",
        "{\"explanation\": \"one block\", \"code\": " + asJson(Good) + "}",
        "{\"whole_file\": " + asJson(Good) + ", \"declarations\": \"\"}",
        "Here it is:\n```json\n{\"source\": " + asJson(Good) + "}\n```\n",
        "```json\n{\"file\": [\"" +
            llvm::join(llvm::split(llvm::StringRef(Good).rtrim(), '\n'),
                       "\", \"") +
            "\"]}\n```",
        "{\"candidate\": " + asJson("```cuda\n" + std::string(Good) + "```") +
            "}"})
    EXPECT_EQ(code(Answer), Good) << Answer;
  anchors({"k:branch1"});
  std::string Wanted =
      with(BaseText, "if (i < n)\n    y[i] = x[i];", "y[i] = 1;");
  for (const std::string &Answer :
       {std::string("{\"anchors\": [\"y[i] = 1;\"]}"),
        std::string("{\"anchors\": {\"1\": \"y[i] = 1;\"}}"),
        std::string("{\"anchor_1\": \"y[i] = 1;\"}"),
        std::string("```json\n{\"anchors\": [{\"anchor\": 1, \"text\": "
                    "\"y[i] = 1;\"}]}\n```")})
    EXPECT_EQ(code(Answer), Wanted) << Answer;
  EXPECT_TRUE(says(code("{\"anchors\": [\"a;\", \"b;\"]}"),
                   "the answer has a block for anchor 2, but there is 1"));
  for (const char *Answer : {"{\"file\": 7}", "{\"result\": \"ok\"}", "{}",
                             "{\"file\": \"#include <x>", "[1, 2]"})
    EXPECT_TRUE(says(code(Answer), "re-ask: the answer holds no code block"))
        << Answer;
}

TEST_F(OddReply, ProseIsQuoted) {
  EXPECT_TRUE(says(code("I'm sorry, but I can't help with that.\nBye."),
                   "re-ask: the answer holds no code block, and says 'I'm "
                   "sorry, but I can't help with that.'; wanted the whole"));
  EXPECT_TRUE(says(plan("As an AI model I do not optimise kernels."),
                   "re-ask: the answer names no sites, and says 'As an AI "
                   "model I do not optimise kernels.'; wanted the advice"));
}

// What was cut off is asked for again; it is no candidate that fails to
// compile.
TEST_F(OddReply, TruncatedText) {
  std::string Text = Good;
  EXPECT_TRUE(says(code("```cuda file\n" + Text.substr(0, Text.rfind('}'))),
                   "re-ask: the file is not whole: '{' of line 6 is never "
                   "closed; wanted its complete text"));
  EXPECT_TRUE(says(code("```cuda file\n" + Text.substr(0, Text.find("y[i]"))),
                   "'{' of line 2 is never closed"));
  EXPECT_TRUE(says(code(file(Text + "}\n")), "'}' of line 7 closes nothing"));
  EXPECT_TRUE(says(code(file(Text.substr(0, Text.find("void launch")))),
                   "re-ask: the file does not define the entry 'launch'"));
  // A call and a declaration are no definition.
  EXPECT_TRUE(says(code(file(with(Text, "void launch", "void other") +
                             "void launch(const float *, float *, int);\n"
                             "void f() { launch(0, 0, 0); }\n")),
                   "does not define the entry"));
  anchors({"k:branch1"});
  EXPECT_TRUE(says(code("```cuda anchor 1\nif (i < n) {\n  y[i] = x[i];\n"),
                   "re-ask: the text of anchor 1 is not whole: '{' of line 1"));
  EXPECT_TRUE(
      says(code("```cuda anchor 1\ny[i] = 1;\n```\n```cuda declarations\n"
                "struct S {\n```\n"),
           "re-ask: the declarations is not whole") ||
      says(code("```cuda anchor 1\ny[i] = 1;\n```\n```cuda declarations\n"
                "struct S {\n```\n"),
           "not whole: '{' of line 1 is never closed"));
}

// Brackets of strings, comments and branches that are not taken do not count.
TEST_F(OddReply, BracketsThatNeedNoTwin) {
  for (const char *More :
       {"// {\n", "/* ( */\n", "const char *s = \"{[(\";\n", "char c = '{';\n",
        "#if X\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n", "#define OPEN {\n",
        "const char *r = R\"({)\";\n"})
    EXPECT_EQ(code(file(Good + std::string(More))), Good + std::string(More));
}

// A second block that only calls the entry is no better version of the file.
TEST_F(OddReply, TestDrivers) {
  std::string Driver =
      "#include \"k.cu\"\nint main() {\n  launch(0, 0, 0);\n}\n";
  EXPECT_EQ(code(file(Good) + "To test it:\n```cuda file\n" + Driver + "```\n"),
            Good);
  EXPECT_EQ(code("```cuda\n" + std::string(Good) + "```\nA test:\n```cpp\n" +
                 Driver + "```\n"),
            Good);
  EXPECT_EQ(code("```cpp\n" + Driver + "```\n```cuda\n" + Good + "```\n"),
            Good);
  // Of two that define it the later one counts.
  std::string Better = with(Good, "1, 256", "2, 256");
  EXPECT_EQ(code(file(Good) + "No, better:\n" + file(Better)), Better);
}

TEST_F(OddReply, CharactersOfNoWidthGo) {
  for (const char *Odd : {"\u200B", "\uFEFF", "\u200D", "\u2060", "\u00AD"})
    EXPECT_EQ(
        code(file(with(Good, "threadIdx", Odd + std::string("threadIdx")))),
        Good);
}

// Typographic characters are named by code point and line, outside of comments
// and literals.
TEST_F(OddReply, TypographicCharacters) {
  auto Said = [&](const char *Old, const std::string &New) {
    return code(file(with(Good, Old, New)));
  };
  EXPECT_TRUE(says(Said("<cstdio>", "\u201Cx.h\u201D"),
                   "re-ask: the file is not as a compiler reads it: line 1 has "
                   "the quotation mark U+201C, wanted '\"'"));
  EXPECT_TRUE(says(Said("x[i];", "\u2018a\u2019;"),
                   "line 4 has the quotation mark U+2018, wanted \"'\""));
  EXPECT_TRUE(says(Said("x[i];", "x[i \u2212 1];"),
                   "line 4 has the dash U+2212, wanted '-'"));
  EXPECT_TRUE(says(Said("x[i];", "x[i] \u00D7 2;"), "U+00D7, wanted '*'"));
  EXPECT_TRUE(says(Said("x[i];", "x[i]\uFF1B"),
                   "the wide character U+FF1B, wanted ';'"));
  EXPECT_TRUE(says(Said("x[i];", "\u2026"), "the ellipsis U+2026"));
  EXPECT_TRUE(says(Said("x[i];", "x[i] \u2264 n;"),
                   "line 4 has the character U+2264, which is no C++"));
  for (const char *More :
       {"// \u201Cas fast\u201D \u2013 \u00D7 2\n",
        "const char *s = \"\u2026\";\n", "int \u00E9t\u00E9;\n"})
    EXPECT_EQ(code(file(Good + std::string(More))), Good + std::string(More));
  anchors({"k:branch1"});
  EXPECT_TRUE(
      says(code("```cuda anchor 1\ny[i] = \u201C1\u201D;\n```"),
           "re-ask: the text of anchor 1 is not as a compiler reads it: "
           "line 1 has the quotation mark U+201C"));
}

// Code that shows as something else is refused, in comments and strings, too.
TEST_F(OddReply, DirectionControls) {
  for (const char *Odd : {"\u202E", "\u2066", "\u200F", "\u202A", "\u061C"})
    for (const std::string &More :
         {"// " + std::string(Odd) + " x\n",
          "const char *s = \"" + std::string(Odd) + "\";\n",
          "int " + std::string(Odd) + "a;\n"})
      EXPECT_TRUE(says(code(file(Good + More)),
                       "which changes the direction of writing"))
          << More;
  EXPECT_TRUE(says(code(file(std::string(Good) + "// \u202E\n")),
                   "line 7 has the control U+202E"));
}

// The plan's words in the marked code reach the code agent.
TEST_F(OddReply, AdviceInsideTheMarks) {
  std::string Begin = "  // <<<IMPROVE BEGIN>>>\n",
              End = "  // <<<IMPROVE END>>>\n";
  auto Marks = [&](const std::string &First, const std::string &Inside) {
    return marked(with(
        with(BaseText, "  if (i < n)\n", First + Inside + "  if (i < n)\n"),
        "    y[i] = x[i];\n", "    y[i] = x[i];\n" + End));
  };
  EXPECT_EQ(plan(Marks(Begin, "  // Load four at a time.\n")),
            "Load four at a time. | Said in the marked code:\n\n- anchor 1: "
            "Load four at a time.\n");
  EXPECT_EQ(
      plan(Marks("  // <<<IMPROVE BEGIN>>>: use float4\n", "")),
      "use float4 | Said in the marked code:\n\n- anchor 1: use float4\n");
  EXPECT_EQ(plan(Marks(Begin, "  /* Load four\n   * at a time. */\n")),
            "Load four at a time. | Said in the marked code:\n\n- anchor 1: "
            "Load four at a time.\n");
  EXPECT_EQ(plan("Vector loads\n\nWith care.\n\n" +
                 Marks(Begin, "  // Load four at a time.\n")),
            "Vector loads | Vector loads\n\nWith care.\n\nSaid in the marked "
            "code:\n\n- anchor 1: Load four at a time.\n");
  EXPECT_TRUE(says(plan(Marks(Begin, "")),
                   "re-ask: the plan marks places and does not say what is to "
                   "be done there"));
  // The source's own comments are no advice.
  std::string Kept = with(BaseText, "// Starts it.\n",
                          "// <<<IMPROVE BEGIN>>>\n// Starts it.\n");
  Kept = with(Kept, "(x, y, n);\n}\n", "(x, y, n);\n}\n// <<<IMPROVE END>>>\n");
  EXPECT_TRUE(says(plan(marked(Kept)), "does not say what is to be done"));
  // Two places, of which the second says something.
  std::string Both = with(Kept, "  k<<<", "  // Fewer blocks.\n  k<<<");
  Both = with(Both, "  int i =", Begin + "  int i =");
  Both = with(Both, "threadIdx.x;\n", "threadIdx.x;\n" + End);
  EXPECT_TRUE(says(plan(marked(Both)), "- anchor 2: Fewer blocks.\n"));
}
