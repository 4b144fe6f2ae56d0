//===- NodeViewTest.cpp - A run's tree, its nodes and what they changed ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/NodeView.h"
#include "../Search/Trees.h"
#include "stark/Report/Review.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
/// What no terminal may be sent.
const char *const Evil = "\x1b]0;owned\x07 \xe2\x80\xae \xff|`<b>\r\n# x";

class NodeViewTest : public testing::Test {
protected:
  NodeViewTest() {
    Run.Identity.TaskName = "scale";
    Run.Identity.Entry = "launch_scale";
    TreeBuilder B;
    Run.Nodes = B.T;
    Run.Attempts.resize(1);
    Run.Attempts[0].Node = 0;
  }

  Node nodeOf(int Base, const Verdict &Found, std::string Text) {
    Node N;
    N.Parent = N.Base = Base;
    N.Found = Found;
    N.Text = std::move(Text);
    return N;
  }
  unsigned add(Node N) {
    Run.Attempts.emplace_back();
    Run.Attempts.back().Node = unsigned(Run.Nodes.size());
    return Run.Nodes.add(std::move(N));
  }
  template <class Function> static std::string printed(Function Print) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    Print(OS);
    return Text;
  }
  static bool isPlain(llvm::StringRef Text) {
    for (unsigned char C : Text)
      if ((C < ' ' && C != '\n') || C == 0x7f)
        return false;
    return !Text.contains("\xe2\x80\xae") && !Text.contains("\xff");
  }

  RecordedRun Run;
};
} // namespace

// Whatever a model, a compiler or a device said is shown and not done.
TEST_F(NodeViewTest, NothingReachesTheTerminalAsItIs) {
  Node N = nodeOf(0, failing(VerdictKind::NotCompiled), "a\n");
  N.Given.Title = N.Given.Advice = N.Found.Compiler = N.Found.Run = Evil;
  Anchor A;
  A.SiteIds = {Evil};
  A.Line = A.EndLine = 7;
  A.Bytes = {5, 1000000};
  N.Given.Anchors = {A};
  unsigned Number = add(std::move(N));
  ReplyEvent R;
  R.Id = R.File = R.Reply.Model = Evil;
  Run.Attempts[1].Replies = {R};
  SelectEvent S;
  S.Chosen.Reason = Evil;
  Run.Attempts[1].Select = S;
  CountersEvent Counters;
  Counters.Found.Device = Counters.Found.Text = Evil;
  Run.Attempts[1].Found = Counters;
  std::string Tree = printed([&](auto &OS) { printTree(Run, true, OS); });
  EXPECT_TRUE(isPlain(Tree)) << Tree;
  std::string Shown = printed([&](auto &OS) { printNode(Run, Number, OS); });
  EXPECT_TRUE(isPlain(Shown)) << Shown;
  EXPECT_NE(Shown.find("\\u{1b}]0;owned\\u{7}"), std::string::npos);
  for (bool Review : {true, false}) {
    std::string Text = printed([&](auto &OS) {
      Review ? printReview(Run, OS) : llvm::cantFail(printRemarks(Run, OS));
    });
    EXPECT_TRUE(isPlain(Text)) << Text;
  }
}

// A node has a number or a name, and an error says what there is.
TEST_F(NodeViewTest, NodesHaveNames) {
  add(nodeOf(0, correctIn(50), "b\n"));
  EXPECT_EQ(llvm::cantFail(findNode(Run, "source")), 0u);
  EXPECT_EQ(llvm::cantFail(findNode(Run, "best")), 1u);
  EXPECT_EQ(llvm::cantFail(findNode(Run, "1")), 1u);
  EXPECT_EQ(llvm::toString(findNode(Run, "2").takeError()),
            "got node '2', wanted 0 to 1, source, best or winner");
  EXPECT_EQ(llvm::toString(findNode(Run, "winner").takeError()),
            "the run has no winner: the run goes on after 1 of 30 attempts");
  Run.Nodes = Tree();
  EXPECT_EQ(llvm::toString(findNode(Run, "source").takeError()),
            "the run has no node yet");
}

// A text that differs too much for a diff of its lines is replaced as a whole.
TEST_F(NodeViewTest, ADiffIsWhole) {
  std::string Old, New;
  for (int I = 0; I < 700; ++I) {
    Old += "old " + std::to_string(I) + "\n";
    New += "new " + std::to_string(I) + "\n";
  }
  unsigned A = add(nodeOf(0, correctIn(50), Old)),
           B = add(nodeOf(0, correctIn(40), New)),
           C = add(nodeOf(0, failing(VerdictKind::NoCandidate), ""));
  llvm::StringRef Head = "--- a/scale.cu\tnode 1\n+++ b/scale.cu\tnode 2\n"
                         "@@ -1,700 +1,700 @@\n-old 0\n";
  EXPECT_EQ(llvm::StringRef(llvm::cantFail(nodeDiff(Run, A, B)))
                .take_front(Head.size()),
            Head);
  EXPECT_EQ(llvm::cantFail(nodeDiff(Run, A, A)), "");
  EXPECT_EQ(llvm::toString(nodeDiff(Run, A, C).takeError()),
            "node 3 has no candidate");
}

// A last line that does not end is said as `patch` and `diff` say it, whether
// one of the texts has it or both.
TEST_F(NodeViewTest, ADiffTellsALastLineThatDoesNotEnd) {
  unsigned Open = add(nodeOf(0, correctIn(50), "a\nb")),
           Closed = add(nodeOf(0, correctIn(50), "a\nb\n")),
           Other = add(nodeOf(0, correctIn(50), "c\nb"));
  const std::string None = "\\ No newline at end of file\n";
  auto Hunks = [&](unsigned From, unsigned To) {
    return llvm::StringRef(llvm::cantFail(nodeDiff(Run, From, To)))
        .split("@@\n")
        .second.str();
  };
  EXPECT_EQ(Hunks(Open, Closed), " a\n-b\n" + None + "+b\n");
  EXPECT_EQ(Hunks(Closed, Open), " a\n-b\n+b\n" + None);
  EXPECT_EQ(Hunks(Open, Other), "-a\n+c\n b\n" + None);
}

// The anchors of a candidate's child lie in the candidate; a reader has the
// source.
TEST_F(NodeViewTest, AnchorsAreFoundInTheSource) {
  Node Source = nodeOf(-1, correctIn(100), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
  Run.Nodes = Tree();
  Run.Nodes.add(Source);
  // Two lines were added after the second, the eighth was taken out.
  unsigned Base = add(
      nodeOf(0, correctIn(50), "1\n2\nnew\nnew too\n3\n4\n5\n6\n7\n9\n10\n"));
  Node N = nodeOf(int(Base), failing(), "x\n");
  for (auto [Line, EndLine] : {std::pair(2u, 5u), {3u, 4u}, {10u, 11u}}) {
    Anchor A;
    A.Line = Line;
    A.EndLine = EndLine;
    N.Given.Anchors.push_back(A);
  }
  add(std::move(N));
  llvm::json::Value Log = llvm::cantFail(
      llvm::json::parse(printed([&](auto &OS) { printSarif(Run, OS); })));
  const llvm::json::Array *Runs = Log.getAsObject()->getArray("runs"),
                          *Results =
                              (*Runs)[0].getAsObject()->getArray("results");
  ASSERT_EQ(Results->size(), 1u);
  std::string Regions;
  for (const llvm::json::Value &Place :
       *(*Results)[0].getAsObject()->getArray("locations")) {
    const llvm::json::Object *Region =
        Place.getAsObject()->getObject("physicalLocation")->getObject("region");
    Regions += std::to_string(*Region->getInteger("startLine")) + "-" +
               std::to_string(*Region->getInteger("endLine")) + " ";
  }
  EXPECT_EQ(Regions, "2-3 2-2 9-10 ");
}
