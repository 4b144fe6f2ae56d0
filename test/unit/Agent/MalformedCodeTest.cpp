//===- MalformedCodeTest.cpp - Code as models happen to send it -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyFixture.h"

using namespace stark;

namespace {
/// An answer of a code agent that has so many anchors, and what comes of it: a
/// text, or with "re-ask: " in front a part of the reason.
struct Row {
  std::string Name;
  unsigned Anchors;
  std::string Reply, Wanted;
};

std::string replaced(std::string In, llvm::StringRef What,
                     llvm::StringRef With) {
  for (size_t At = 0; (At = In.find(What, At)) != std::string::npos;
       At += With.size())
    In.replace(At, What.size(), With);
  return In;
}

std::string fence(const std::string &Info, const std::string &Body) {
  return "```" + Info + "\n" + Body + "```\n";
}

std::string
eachLine(const std::string &Text,
         llvm::function_ref<std::string(unsigned, llvm::StringRef)> Change) {
  std::string Out;
  unsigned Number = 0;
  for (llvm::StringRef Rest = Text; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    Out += Change(++Number, Line) + "\n";
    Rest = After;
  }
  return Out;
}

const std::string File = Good;
const std::string One =
    replaced(BaseText, "if (i < n)\n    y[i] = x[i];", "y[i] = 1;");
const std::string Two = replaced(One, "k<<<(n + 255) / 256, 256>>>(x, y, n);",
                                 "k<<<1, 256>>>(x, y, n);");
const std::string A1 = "y[i] = 1;\n", A2 = "k<<<1, 256>>>(x, y, n);\n";

std::vector<Row> rows() {
  std::string Diff =
      "--- a/k.cu\n+++ b/k.cu\n@@ -4,2 +4,1 @@\n   int i = 0;\n-  "
      "if (i < n)\n-    y[i] = x[i];\n+  y[i] = 1;\n";
  std::string Escaped = replaced(
      replaced(replaced(File, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
  std::string Search =
      "<<<<<<< SEARCH\n  if (i < n)\n    y[i] = x[i];\n=======\n"
      "  y[i] = 1;\n>>>>>>> REPLACE\n";
  std::string PlanReply = "## Advice\n\nUse float4.\n\n```json\n{\"title\": "
                          "\"t\", \"sites\": [\"k\"]}\n```\n";
  std::string Big(5 << 20, 'x');
  return {
      // Bytes.
      {"crlf", 0, replaced("Done.\n" + fence("cuda file", File), "\n", "\r\n"),
       File},
      {"old_mac_line_ends", 0,
       replaced("Done.\n" + fence("cuda file", File), "\n", "\r"), File},
      {"mark_before_the_answer", 0, "\xEF\xBB\xBF" + fence("cuda file", File),
       File},
      {"mark_before_the_code", 0, fence("cuda file", "\xEF\xBB\xBF" + File),
       File},
      {"broken_utf8_in_a_comment", 0, fence("cuda file", File + "// caf\xE9\n"),
       File + "// caf\uFFFD\n"},
      {"broken_utf8_in_code", 0,
       fence("cuda file", replaced(File, "\"x\"", "\x93x\x94") + "\x93;\n"),
       "re-ask: line 7 has the character U+FFFD"},
      {"nul_bytes", 0,
       "Done.\n" + fence("cuda file", File) + std::string(100, '\0'), File},
      {"no_break_spaces", 0,
       fence("cuda file", replaced(File, "    y[i]", "\u00A0\u00A0  y[i]")),
       File},
      {"wide_space", 0,
       fence("cuda file", replaced(File, "  for", "\u3000for")),
       replaced(File, "  for", " for")},
      {"line_separators", 0,
       fence("cuda file", replaced(File, "y[i] = x[i];", "y[i]\u2028= x[i];")),
       "re-ask: line 4 has the character U+2028"},
      {"escape_sequences_of_a_terminal", 0,
       fence("cuda file", replaced(File, "for", "\x1b[31mfor\x1b[0m")), File},
      {"huge_prose", 0, Big, "re-ask: the answer holds no code block"},
      {"huge_prose_before_code", 0, Big + "\n" + fence("cuda file", File),
       File},
      {"empty", 0, "", "re-ask: the answer is empty"},
      {"blanks", 0, " \n\t\r\n \u00A0\u200B\n", "re-ask: the answer is empty"},
      {"lone_surrogate", 0,
       "{\"file\": \"\\ud800" + asJson(File).substr(1) + "}", "re-ask: "},
      // Fences.
      {"fence_in_a_fence", 0,
       "````markdown\nDone.\n" + fence("cuda file", File) + "````\n", File},
      {"tildes", 0, "~~~cuda file\n" + File + "~~~\n", File},
      {"quoted_mail", 0,
       eachLine("Done.\n" + fence("cuda file", File),
                [](unsigned, llvm::StringRef L) { return "> " + L.str(); }),
       File},
      {"in_a_list", 0,
       eachLine(fence("cuda file", File),
                [](unsigned N, llvm::StringRef L) {
                  return (N == 1 ? "1. " : "   ") + L.str();
                }),
       File},
      {"wrong_language", 0, fence("python file", File), File},
      {"prose_language", 0, fence("text", File), File},
      {"file_name_for_a_language", 0, fence("k.cu", File), File},
      {"title_on_the_fence", 0, fence("cuda title=\"k.cu\"", File), File},
      {"path_on_the_fence", 0, fence("cuda:src/k.cu", File), File},
      {"never_closed", 0, "```cuda file\n" + File, File},
      {"no_fence_at_all", 0, File, File},
      {"no_fence_but_words", 0, "Here is the file.\n\n" + File,
       "re-ask: the answer holds no code block"},
      {"empty_block_first", 0,
       fence("cuda file", "") + "\n" + fence("cuda", File), File},
      {"html", 0, "<pre><code>\n" + Escaped + "</code></pre>\n",
       "re-ask: the answer holds no code block"},
      {"html_characters", 0, fence("cuda file", Escaped), File},
      {"html_characters_here_and_there", 0,
       fence("cuda file",
             replaced(File, "<<<1, 256>>>", "&lt;&lt;&lt;1, 256&gt;&gt;&gt;")),
       File},
      {"address_of_lt", 0,
       fence("cuda file", File + "static int lt, *p = &lt;\n"),
       File + "static int lt, *p = &lt;\n"},
      {"inline_code", 0, "Use `k<<<1, 256>>>(x, y, n);` there.",
       "re-ask: the answer holds no code block"},
      // Thinking.
      {"thinking_first", 0,
       "<think>\n" + fence("cuda file", One) + "No.\n</think>\n" +
           fence("cuda file", File),
       File},
      {"thinking_alone", 0, "<think>\n" + fence("cuda file", File) + "</think>",
       "re-ask: the answer is empty"},
      {"thinking_last", 0,
       fence("cuda file", File) + "<think>\nIs that right? Yes.\n</think>\n",
       File},
      {"end_of_thinking_alone", 0,
       fence("cuda file", One) + "Wrong.\n</thinking>\n" +
           fence("cuda file", File),
       File},
      {"reasoning_tags", 0,
       "<reasoning>\n" + fence("cuda file", One) + "</reasoning>\n" +
           fence("cuda file", File),
       File},
      // Not code.
      {"a_diff", 0, fence("diff", Diff), "re-ask: the answer is a diff"},
      {"a_diff_as_the_file", 0, fence("cuda file", Diff),
       "re-ask: the file is a diff"},
      {"a_diff_without_fence", 0, Diff, "re-ask: the answer is a diff"},
      {"a_patch_tool", 0,
       "*** Begin Patch\n*** Update File: k.cu\n@@\n-  if (i < n)\n+  y[i] = "
       "1;\n*** End Patch\n",
       "re-ask: the answer is a diff"},
      {"search_and_replace", 0, fence("cuda file", Search),
       "re-ask: the file is a diff"},
      {"a_table", 0, "| line | new |\n|---|---|\n| 4 | `y[i] = 1;` |\n",
       "re-ask: the answer holds no code block, and says '| line | new |'"},
      {"a_tool_call", 0,
       "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": "
       "\"k.cu\", \"content\": " +
           asJson(File) + "}}\n</tool_call>",
       "re-ask: the answer calls a tool"},
      {"tags", 0, "<file name=\"k.cu\">\n" + File + "</file>\n",
       "re-ask: the answer holds no code block"},
      {"a_plan", 1, PlanReply, "re-ask: the answer is a plan"},
      {"a_refusal", 0, "I can't assist with that request.",
       "re-ask: the answer holds no code block, and says 'I can't assist"},
      {"a_question", 1, "Which GPU do you use? I need to know first.",
       "and says 'Which GPU do you use?"},
      {"a_driver_alone", 0,
       fence("cuda file",
             "#include \"k.cu\"\nint main() { launch(0, 0, 0); }\n"),
       "re-ask: the file does not define the entry"},
      {"a_pointer_elsewhere", 0, fence("cuda file", "// See above.\n"),
       "re-ask: "},
      {"yaml", 0, "---\nfile: |\n  int x;\n---\n",
       "re-ask: the answer holds no code block"},
      // Code that is not all there.
      {"dots", 0,
       fence("cuda file", replaced(File, "    y[i]",
                                   "    ...\n    "
                                   "y[i]")),
       "re-ask: the file leaves code out ('...')"},
      {"dots_behind_a_statement", 0,
       fence("cuda file", replaced(File, "y[i] = x[i];", "y[i] = ...;")),
       "re-ask: the file leaves code out ('y[i] = ...;')"},
      {"rest_unchanged", 0,
       fence("cuda file", "// Rest of the kernel unchanged\n" + File),
       "re-ask: the file leaves code out"},
      {"existing_code_here", 0,
       fence("cuda file", File + "// (existing code here)\n"),
       "re-ask: the file leaves code out"},
      {"omitted_for_brevity", 0,
       fence("cuda file", File + "/* omitted for brevity */\n"),
       "re-ask: the file leaves code out"},
      {"bracketed_words", 0,
       fence("cuda file", "[rest of the file as before]\n" + File),
       "re-ask: the file leaves code out"},
      {"words_that_only_sound_like_it", 0,
       fence("cuda file", File + "// The remaining elements, one by one; n "
                                 "stays unchanged here.\n"),
       File + "// The remaining elements, one by one; n stays unchanged "
              "here.\n"},
      {"variadic", 0,
       fence("cuda file", File + "template <class... T> void f(T... t);\n"),
       File + "template <class... T> void f(T... t);\n"},
      {"line_numbers", 0,
       fence("cuda file", eachLine(File,
                                   [](unsigned N, llvm::StringRef L) {
                                     return std::to_string(N) + "\t" + L.str();
                                   })),
       File},
      {"line_numbers_with_bars", 0,
       fence("cuda file", eachLine(File,
                                   [](unsigned N, llvm::StringRef L) {
                                     return (N < 10 ? " " : "") +
                                            std::to_string(N) + " | " + L.str();
                                   })),
       File},
      {"cut_in_a_comment", 0, "```cuda file\n" + File + "/* and then we",
       "re-ask: "},
      {"cut_in_a_string", 0, "```cuda file\n" + File + "const char *s = \"ab",
       "re-ask: "},
      // Which of several.
      {"two_files", 0,
       fence("cuda file", One) + "Or:\n" + fence("cuda file", File), File},
      {"twice_the_same", 0, fence("cuda file", File) + fence("cuda file", File),
       File},
      {"file_and_anchors", 1,
       fence("cuda file", File) + fence("cuda anchor 1", A1), File},
      {"json_with_comments", 0,
       "{\n// the file\n\"file\": " + asJson(File) + ", /* all */\n}", File},
      // Anchors.
      {"one_missing", 2, fence("cuda anchor 1", A1),
       "re-ask: the answer has no block for anchor 2"},
      {"numbered_from_0", 2,
       fence("cuda anchor 0", A1) + fence("cuda anchor 1", A2), Two},
      {"in_another_order", 2,
       fence("cuda anchor 2", A2) + fence("cuda anchor 1", A1), Two},
      {"one_twice", 1,
       fence("cuda anchor 1", "y[i] = 2;\n") + "No:\n" +
           fence("cuda anchor 1", A1),
       One},
      {"number_in_words", 1, fence("cuda anchor one", A1), One},
      {"number_in_the_heading", 2,
       "### Anchor #1\n" + fence("cuda", A1) + "### Anchor #2\n" +
           fence("cuda", A2),
       Two},
      {"only_declarations", 1, fence("cuda declarations", "static int a();\n"),
       "re-ask: the answer has declarations, but no block for anchor 1"},
      {"file_called_anchor", 1, fence("cuda anchor 1", File), File},
      {"anchor_with_its_marks", 1,
       fence("cuda anchor 1",
             "// <<<IMPROVE BEGIN>>>\n" + A1 + "// <<<IMPROVE END>>>\n"),
       One},
      {"anchor_unchanged_in_words", 2,
       fence("cuda anchor 1", A1) + fence("cuda anchor 2", "// unchanged\n"),
       "re-ask: the text of anchor 2 leaves code out ('// unchanged')"},
      {"anchor_as_above", 1,
       fence("cuda anchor 1", A1 + "[lines 2 to 9 as in the source above]\n"),
       "re-ask: the text of anchor 1 leaves code out"},
      {"a_block_for_two", 2, fence("cuda anchors 1-2", A1 + A2),
       "re-ask: the answer has no block for anchor 2"},
      {"anchor_without_a_label", 1, fence("cuda", A1),
       "re-ask: the code block does not say what it is"},
  };
}

class MalformedCode : public ReplyTest,
                      public testing::WithParamInterface<Row> {};
} // namespace

// An answer that was meant well is read as it was meant; any other is asked for
// again with what is wrong with it.
TEST_P(MalformedCode, IsReadOrRefusedForWhatItIs) {
  const Row &R = GetParam();
  std::vector<std::string> Sites = {"k:branch1", "launch:launch1"};
  Sites.resize(R.Anchors);
  if (R.Anchors)
    anchors(Sites);
  std::string Got = code(R.Reply);
  if (llvm::StringRef(R.Wanted).starts_with("re-ask: ")) {
    EXPECT_TRUE(llvm::StringRef(Got).starts_with("re-ask: ")) << Got;
    EXPECT_TRUE(says(Got, llvm::StringRef(R.Wanted).drop_front(8)));
    EXPECT_LT(Got.size(), 2000u);
  } else if (llvm::StringRef(R.Wanted).starts_with("and says")) {
    EXPECT_TRUE(says(Got, R.Wanted));
  } else {
    EXPECT_EQ(Got, R.Wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Replies, MalformedCode, testing::ValuesIn(rows()),
                         [](const auto &Info) { return Info.param.Name; });
