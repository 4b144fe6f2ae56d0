//===- ReportTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Report.h"
#include "../Search/Trees.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
std::string render(const RecordedRun &Run, ReportFormat Format) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::cantFail(printReport(Run, Format, OS));
  return Text;
}

bool has(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

struct ReportTest : testing::Test {
  RecordedRun Run;
  ReportTest() {
    Run.Identity.TaskName = "scale";
    Run.Identity.Entry = "launch_scale";
    TreeBuilder B;
    Node N;
    N.Parent = N.Base = 0;
    N.Found = correctIn(50);
    N.Given.Title = "evil | title\n# heading";
    B.T.add(N);
    Run.Nodes = B.T;
    Run.Attempts.resize(2);
    Run.Attempts[1].Node = 1;
  }
  void end(int Winner) { Run.End = EndEvent{Winner, 1, {"1 attempt"}}; }
};
} // namespace

// A run that goes on is never said to have a winner.
TEST_F(ReportTest, GoesOn) {
  std::string Text = render(Run, ReportFormat::Text);
  EXPECT_TRUE(has(Text, "The run goes on after 1 of 30 attempts."));
  EXPECT_FALSE(has(Text, "winner"));
}

TEST_F(ReportTest, NothingBeatTheSource) {
  end(-1);
  EXPECT_TRUE(has(render(Run, ReportFormat::Text),
                  "Ended: 1 attempt; nothing beat the source by the required "
                  "factor of 1.020."));
}

// The winner's times are those of its confirmation, not of the attempt that
// made it win.
TEST_F(ReportTest, ConfirmedTimes) {
  end(1);
  Run.Confirmations.push_back(
      {2, 1, VerdictEvent::By::Confirm, "", correctIn(80)});
  std::string Text = render(Run, ReportFormat::Text);
  EXPECT_TRUE(has(Text, "the winner is node 1, 1.250 times as fast as the "
                        "source, confirmed"));
  EXPECT_TRUE(has(Text, "n=1      100.00    0.00      80.00"));
}

// Modelled times are never called measured.
// A run may go on where another GPU judges: both are named, and the winner's is
// that of its confirmation.
TEST_F(ReportTest, TwoGpus) {
  Verdict Source = correctIn(100), Confirmed = correctIn(40);
  Source.Device = "First GPU";
  Confirmed.Device = "Second GPU";
  Node Winner = Run.Nodes.node(1);
  TreeBuilder B(Source);
  B.T.add(Winner);
  Run.Nodes = B.T;
  Run.Confirmations.push_back({2, 1, VerdictEvent::By::Confirm, "", Confirmed});
  end(1);
  EXPECT_TRUE(has(render(Run, ReportFormat::Text),
                  "Times are measured on First GPU and Second GPU."));
  EXPECT_TRUE(has(render(Run, ReportFormat::Json),
                  R"("device": "First GPU and Second GPU")"));
}

TEST_F(ReportTest, Modelled) {
  Verdict V = correctIn(100);
  V.Modelled = true;
  V.Device = "h200";
  TreeBuilder B(V);
  Run.Nodes = B.T;
  std::string Text = render(Run, ReportFormat::Text);
  EXPECT_TRUE(has(Text, "modelled for h200"));
  EXPECT_FALSE(has(Text, "measured"));
}

// What a model wrote cannot break the table it stands in.
TEST_F(ReportTest, HostileTitle) {
  std::string Text = render(Run, ReportFormat::Markdown);
  EXPECT_TRUE(has(Text, "evil / title \\# heading |\n"));
  EXPECT_FALSE(has(Text, "\n# heading"));
}

// A pull request shows it, and does nothing that it says.
TEST_F(ReportTest, HostileTitleOfAWinner) {
  Node N = Run.Nodes.node(1);
  Run.Nodes = TreeBuilder().T;
  N.Given.Title = "<b>@octocat</b> [x](http://y) `z`\x1b[2J";
  N.Text = "```\n<img src=x>\n";
  Run.Nodes.add(N);
  end(1);
  std::string Text = render(Run, ReportFormat::Markdown);
  EXPECT_TRUE(has(Text, "What was changed: "
                        "&#60;b&#62;&#64;&#8203;octocat&#60;/b&#62; "
                        "\\[x\\](http:&#8203;//y) "
                        "\\`z\\`\\\\u{1b}\\[2J (node 1)."))
      << Text;
  EXPECT_FALSE(has(Text, "\x1b"));
}

// What a service would make a link, a mention or an issue of is not one, and
// names of code stay as they are.
TEST_F(ReportTest, NothingIsLinked) {
  Node N = Run.Nodes.node(1);
  Run.Nodes = TreeBuilder().T;
  N.Given.Title = "see #12, GH-7, www.a.invalid, a@b.c, ~~x~~ _y_ $z$ tile_k";
  N.Text = "x\n";
  Run.Nodes.add(N);
  end(1);
  EXPECT_TRUE(
      has(render(Run, ReportFormat::Markdown),
          "see \\#&#8203;12, GH-&#8203;7, www&#8203;.a.invalid, "
          "a&#64;&#8203;b.c, \\~\\~x\\~\\~ \\_y\\_ &#36;z&#36; tile_k"));
}

// A pull request takes 65,536 characters. What a long run has beyond that is
// left out, with where it is; times and what was checked are there.
TEST_F(ReportTest, FitsAPullRequest) {
  TreeBuilder B;
  std::string Old, New;
  for (int I = 0; I < 5000; ++I) {
    Old += "line " + std::to_string(I) + "\n";
    New += "another line " + std::to_string(I) + "\n";
  }
  Run.Nodes = Tree();
  Node Source = B.T.node(0);
  Source.Text = Old;
  Run.Nodes.add(Source);
  for (unsigned I = 0; I < 500; ++I) {
    Node N;
    N.Parent = N.Base = int(I);
    N.Found = correctIn(50);
    N.Given.Title = std::string(400, '#');
    N.Text = New;
    for (unsigned Kernel = 0; Kernel < 300; ++Kernel)
      N.Found.Compiler += "kernel_" + std::to_string(Kernel) +
                          ": 20 registers, 0 bytes of static shared memory, no "
                          "spills\n";
    Run.Nodes.add(N);
  }
  end(500);
  std::string Text = render(Run, ReportFormat::Markdown);
  EXPECT_LT(Text.size(), 65536u);
  EXPECT_GT(Text.size(), 50000u) << "the room is used";
  for (const char *Part :
       {"**2.000 times as fast**", "**Checked:**", "**Not checked:**",
        "lines more: `stark-tool diff RUN`.",
        "lines more: `stark-tool tree RUN`.",
        "lines more: `stark-tool report RUN` has them.",
        "lines more: `stark-tool show RUN winner` has them.",
        "Ended: 1 attempt; the winner is node 500"})
    EXPECT_TRUE(has(Text, Part)) << Part;
  EXPECT_EQ(llvm::StringRef(Text).count("<details>"), 2u);
  EXPECT_EQ(llvm::StringRef(Text).count("</details>"), 2u);
  EXPECT_EQ(llvm::StringRef(Text).count("\n```") % 2, 0u);
}

// Tokens that a provider did not tell are not counted as none.
TEST_F(ReportTest, UnknownTokens) {
  ReplyEvent Told, Silent;
  Told.Reply.Tokens.Input = 100;
  Told.Reply.Tokens.Output = 20;
  Run.Attempts[1].Replies = {Told, Silent};
  EXPECT_TRUE(has(render(Run, ReportFormat::Text),
                  "2 model calls: 100 tokens in, 20 out; 1 did not say their "
                  "tokens."));
  EXPECT_FALSE(has(render(Run, ReportFormat::Json), "input_tokens"));
}

// What calls cost that only failed is told in both forms.
TEST_F(ReportTest, CostOfFailedCalls) {
  DiscardedAnswers Took;
  Took.Answers = 2;
  Took.Input = 100;
  Took.Output = 20;
  Took.CostMicroUsd = 1500;
  Run.Attempts[1].Replies.clear();
  Run.Lost["0001-plan-1"] = Took;
  EXPECT_TRUE(has(render(Run, ReportFormat::Text), "cost 0.0015 USD"));
  EXPECT_TRUE(has(render(Run, ReportFormat::Json), "\"cost_micro_usd\": 1500"));
}
