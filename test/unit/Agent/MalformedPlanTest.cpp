//===- MalformedPlanTest.cpp - Plans as models happen to send them --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyFixture.h"

using namespace stark;

namespace {
/// An answer of a plan agent, and its anchors' lines, or with "re-ask: " in
/// front a part of the reason.
struct Row {
  std::string Name, Reply, Wanted;
};

std::string replaced(std::string In, llvm::StringRef What,
                     llvm::StringRef With) {
  for (size_t At = 0; (At = In.find(What, At)) != std::string::npos;
       At += With.size())
    In.replace(At, What.size(), With);
  return In;
}

const std::string Begin = "/* <<<IMPROVE BEGIN>>> */",
                  End = "/* <<<IMPROVE END>>> */";

/// The source with \p Old as \p New, whose [[ and ]] are marks.
std::string echo(llvm::StringRef Old, const std::string &New) {
  return replaced(replaced(replaced(BaseText, Old, New), "[[", Begin), "]]",
                  End);
}

std::string say(const std::string &Code, const std::string &Info = "cuda") {
  return "## Advice\n\nUse float4.\n\n```" + Info + "\n" + Code + "```\n";
}

std::string sites(const std::string &Value) {
  return "## Advice\n\nUse float4.\n\n```json\n{\"title\": \"t\", \"sites\": " +
         Value + "}\n```\n";
}

std::vector<Row> rows() {
  const std::string If = "if (i < n)\n    y[i] = x[i];";
  const std::string Marked = echo(If, "[[" + If + "]]");
  return {
      // Where the marks stand.
      {"around_a_statement", say(Marked), "4-5"},
      {"lines_of_their_own",
       say(echo("  if (i < n)\n    y[i] = x[i];\n",
                "  // <<<IMPROVE BEGIN>>>\n  if (i < n)\n    y[i] = x[i];\n  "
                "// <<<IMPROVE END>>>\n")),
       "4-5"},
      {"without_comments",
       say(echo("  if (i < n)\n    y[i] = x[i];\n",
                "<<<IMPROVE BEGIN>>>\n  if (i < n)\n    y[i] = x[i];\n"
                "<<<IMPROVE END>>>\n")),
       "4-5"},
      {"as_in_python",
       say(echo("  if (i < n)\n    y[i] = x[i];\n",
                "  # <<<IMPROVE BEGIN>>>\n  if (i < n)\n    y[i] = x[i];\n"
                "  # <<<IMPROVE END>>>\n")),
       "4-5"},
      {"in_small_letters",
       say(replaced(replaced(Marked, "IMPROVE BEGIN", "improve begin"),
                    "IMPROVE END", "improve end")),
       "4-5"},
      {"in_a_condition", say(echo("if (i < n)", "if ([[i < n]])")), "4-5"},
      {"in_the_launch",
       say(echo("<<<(n + 255) / 256, 256>>>",
                "<<<[[(n + 255) / 256]], 256>>>")),
       "9"},
      {"around_the_chevrons",
       say(echo("<<<(n + 255) / 256, 256>>>",
                "[[<<<(n + 255) / 256, 256>>>]]")),
       "9"},
      {"around_a_brace",
       say(echo("int n) {\n  int i", "int n) [[{]]\n  int i")), "2-6"},
      {"around_the_signature",
       say(echo("void launch(const float *x, float *y, int n)",
                "[[void launch(const float *x, float *y, int n)]]")),
       "8-10"},
      {"across_two_functions",
       say(echo("y[i] = x[i];\n}\n// Starts it.\nvoid launch",
                "[[y[i] = x[i];\n}\n// Starts it.\nvoid]] launch")),
       "2-10"},
      {"around_everything",
       say("// <<<IMPROVE BEGIN>>>\n" + std::string(BaseText) +
           "// <<<IMPROVE END>>>\n"),
       "1-10"},
      {"around_the_include",
       say(echo("#include <cstdio>\n", "[[\n#include <cstdio>\n]]\n")),
       "re-ask: "},
      {"around_a_comment",
       say(echo("// Starts it.\n", "[[\n// Starts it.\n]]\n")), "re-ask: "},
      {"side_by_side",
       say(echo("int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + If,
                "[[int i = blockIdx.x * blockDim.x + threadIdx.x;]]\n  [[" +
                    If + "]]")),
       "3, 4-5"},
      {"marks_in_a_string",
       say(replaced(echo(If, If), "#include <cstdio>\n",
                    "#include <cstdio>\n") +
           "// \"<<<IMPROVE BEGIN>>>\n"),
       "re-ask: "},
      {"never_ended", say(replaced(Marked, End, "")), "re-ask: "},
      {"never_begun", say(replaced(Marked, Begin, "")), "re-ask: "},
      {"ended_before_begun",
       say(replaced(replaced(replaced(Marked, Begin, "@"), End, Begin), "@",
                    End)),
       "re-ask: "},
      {"nested", say(echo(If, "[[if (i < n)\n    [[y[i] = x[i];]]]]")),
       "re-ask: "},
      {"around_nothing", say(echo(If, "[[]]" + If)), "re-ask: "},
      {"html_characters",
       say(replaced(replaced(replaced(Marked, "&", "&amp;"), "<", "&lt;"), ">",
                    "&gt;")),
       "4-5"},
      {"arrows_of_typographers",
       say(replaced(replaced(Marked, "<<<IMPROVE", "\u00AB\u00ABIMPROVE"),
                    ">>> */", "\u00BB\u00BB */")),
       "re-ask: "},
      // What is echoed.
      {"the_kernel_alone",
       say(Marked.substr(Marked.find("__global__"),
                         Marked.find("// Starts") - Marked.find("__global__"))),
       "4-5"},
      {"other_white_space", say(replaced(Marked, "\n  ", "\n\t\t")), "4-5"},
      {"changed_code", say(replaced(Marked, "x[i];", "2 * x[i];")), "re-ask: "},
      {"with_dots",
       say(replaced(Marked,
                    "  int i = blockIdx.x * blockDim.x + "
                    "threadIdx.x;\n",
                    "  ...\n")),
       "re-ask: "},
      {"called_a_file", say(Marked, "cuda file"), "4-5"},
      {"in_quoted_mail",
       "Use float4.\n> ```cuda\n> " +
           replaced(Marked.substr(0, Marked.size() - 1), "\n", "\n> ") +
           "\n> ```\n",
       "4-5"},
      {"crlf", replaced(say(Marked), "\n", "\r\n"), "4-5"},
      {"sites_as_well",
       say(Marked) + "```json\n{\"title\": \"t\", \"sites\": [\"k\"]}\n```\n",
       "2-6"},
      {"marked_twice",
       say(Marked) + "Or:\n```cuda\n" + echo("k<<<", "[[k<<<") + "```\n",
       "re-ask: "},
      // The object.
      {"site_in_backquotes", sites("[\"`k:branch1`\"]"), "4-5"},
      {"site_with_its_kind", sites("[\"k:branch1 | branch | lines 4-5 | if\"]"),
       "4-5"},
      {"one_site_no_list", sites("\"k:branch1\""), "4-5"},
      {"sites_in_one_string", sites("\"k:branch1, launch:launch1\""), "4-5, 9"},
      {"sites_as_objects", sites("[{\"id\": \"k\", \"why\": \"slow\"}]"),
       "2-6"},
      {"lines_for_sites", sites("[\"lines 4-5\"]"),
       "re-ask: plan names site 'lines 4-5'"},
      {"numbers_for_sites", sites("[4, 5]"), "re-ask: 'sites' holds something"},
      {"a_site_of_another_file", sites("[\"main:loop1\"]"),
       "re-ask: plan names site 'main:loop1'"},
      {"no_sites", sites("[]"), "re-ask: 'sites' is empty"},
      {"json_with_comments",
       sites("[\"k\", // the kernel\n\"launch\", /* and the host */]"),
       "2-6, 8-10"},
      {"single_quotes",
       "Use float4.\n```json\n{'title': 't', 'sites': ['k']}\n```\n", "2-6"},
      {"python_words",
       "Use float4.\n```json\n{\"title\": \"t\", \"done\": True, \"sites\": "
       "[\"k\"], \"note\": None}\n```\n",
       "2-6"},
      {"object_in_thinking",
       "<think>\n" + sites("[\"launch\"]") + "</think>\n" + sites("[\"k\"]"),
       "2-6"},
      {"two_objects", sites("[\"launch\"]") + sites("[\"k\"]"), "2-6"},
      {"list_of_plans",
       "Two ideas.\n```json\n[{\"title\": \"a\", \"sites\": [\"k\"]}, "
       "{\"title\": \"b\", \"sites\": [\"launch\"]}]\n```\n",
       "re-ask: "},
      {"code_for_a_plan", "```cuda file\n" + std::string(Good) + "```\n",
       "re-ask: the answer is code"},
      {"a_tool_call",
       "<tool_call>{\"name\": \"plan\", \"arguments\": {\"advice\": \"Use "
       "float4.\", \"title\": \"t\", \"sites\": [\"k\"]}}</tool_call>",
       "2-6"},
      {"advice_is_missing",
       "```json\n{\"title\": \"t\", \"sites\": [\"k\"]}\n```",
       "re-ask: the answer gives no advice"},
      {"zero_width", sites("[\"k:\u200Bbranch1\"]"), "4-5"},
      {"typographic_quotes",
       "Use float4.\n```json\n{\u201Ctitle\u201D: \u201Ct\u201D, "
       "\u201Csites\u201D: [\u201Ck\u201D]}\n```\n",
       "2-6"},
  };
}

class MalformedPlan : public ReplyTest,
                      public testing::WithParamInterface<Row> {};
} // namespace

// A plan's places are what it meant; where that cannot be told, it is asked for
// again with the reason.
TEST_P(MalformedPlan, IsGroundedOrRefusedForWhatItIs) {
  const Row &R = GetParam();
  llvm::Expected<Instruction> I = readPlan(In, R.Reply);
  std::string Got;
  if (!I) {
    Got = "re-ask: " + llvm::toString(I.takeError());
    EXPECT_TRUE(says(Got, R.Wanted));
    EXPECT_LT(Got.size(), 2000u);
    return;
  }
  for (const Anchor &A : I->Anchors)
    Got += (Got.empty() ? "" : ", ") + std::to_string(A.Line) +
           (A.EndLine == A.Line ? "" : "-" + std::to_string(A.EndLine));
  EXPECT_EQ(Got, R.Wanted);
  EXPECT_TRUE(says(I->Advice, "loat4")) << I->Advice;
}

INSTANTIATE_TEST_SUITE_P(Replies, MalformedPlan, testing::ValuesIn(rows()),
                         [](const auto &Info) { return Info.param.Name; });
