//===- RecordTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Record.h"
#include "Trees.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
template <class T> std::string messageOf(llvm::Expected<T> Value) {
  return Value ? "" : llvm::toString(Value.takeError());
}

RunIdentity identity() {
  RunIdentity I;
  I.TaskName = "scale";
  I.Entry = "launch_scale";
  I.TaskDigest = "aa";
  I.Arch = "sm_90";
  I.PromptsDigest = "bb";
  I.Provider = "exchange";
  I.Evaluator = "spool";
  I.Options.Seed = 18446744073709551615u;
  I.Options.Strictness = Grounding::Strict;
  I.Options.Versions = {{"clang", "19.1.7"}};
  I.Device = "Fake GPU";
  return I;
}

SelectEvent selectEvent(unsigned Attempt, unsigned Node) {
  SelectEvent E;
  E.Attempt = Attempt;
  E.Chosen = {Node, "best of 1 eligible"};
  E.Shown = {{WindowRole::Plan, {0}}, {WindowRole::Code, {0}}};
  return E;
}

NodeEvent nodeEvent(unsigned Number, int Parent, const std::string &Text,
                    VerdictKind Kind) {
  NodeEvent E;
  E.Attempt = E.N.Number = Number;
  E.N.Parent = E.N.Base = Parent;
  E.Kind = Kind;
  if (!Text.empty()) {
    E.File = candidateFile(Number);
    E.Candidate = sha256(Text);
  }
  return E;
}

/// A run folder with a source and what is added to it.
struct RunTest : testing::Test {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("run"));
  JournalContent Content;

  RunTest() {
    llvm::cantFail(writeFileAtomically(
        (Folder.path() + "/candidates/0000.cu").str(), "source"));
    add("verdict",
        printVerdictEvent({0, 0, "attempt", sha256("source"), correctIn(100)}));
    add("node",
        printNodeEvent(nodeEvent(0, -1, "source", VerdictKind::Correct)));
  }
  void add(const std::string &Type, const std::string &Body) {
    Content.Events.push_back({Content.Events.size(), Type, Body});
  }
  llvm::Expected<RecordedRun> read() {
    return readEvents(Folder.path(), Content);
  }
};
} // namespace

// run.json reads back as it was, seeds of 64 bits included.
TEST(Identity, RoundTrip) {
  std::string Text = printIdentity(identity());
  RunIdentity Back = llvm::cantFail(parseIdentity(Text, "run.json"));
  EXPECT_EQ(printIdentity(Back), Text);
  EXPECT_EQ(differenceOf(Back, identity()), "");
}

// What a run must agree in is named with both values; what made it is not
// compared.
TEST(Identity, Difference) {
  RunIdentity Then = identity(), Now = identity();
  Now.Options.Policy.RootThrottle = 7;
  EXPECT_EQ(differenceOf(Then, Now), "has root_throttle 5, now it is 7");
  Now = identity();
  Now.TaskDigest = "cc";
  EXPECT_EQ(differenceOf(Then, Now),
            "has task digest \"aa\", now it is \"cc\"");
  Now = identity();
  Now.Options.Versions = {};
  Now.Device = "";
  EXPECT_EQ(differenceOf(Then, Now), "");
}

// An option that came later is written only when it is not the default, so
// that an old run.json reads as it was meant; and it must agree as any other.
TEST(Identity, LaterOptions) {
  std::string Old = printIdentity(identity());
  for (const char *Name : {"policy", "repairs", "budget"})
    EXPECT_EQ(Old.find("\"" + std::string(Name) + "\""), std::string::npos);
  EXPECT_EQ(llvm::cantFail(parseIdentity(Old, "run.json")).Options.Policy.Kind,
            PolicyKind::EpsilonGreedy);
  RunIdentity Other = identity();
  Other.Options.Policy.Kind = PolicyKind::Mcts;
  std::string Text = printIdentity(Other);
  RunIdentity Back = llvm::cantFail(parseIdentity(Text, "run.json"));
  EXPECT_EQ(Back.Options.Policy.Kind, PolicyKind::Mcts);
  EXPECT_EQ(differenceOf(Back, identity()),
            "has policy \"mcts\", now it is the default");
  EXPECT_EQ(differenceOf(identity(), Back),
            "has policy the default, now it is \"mcts\"");
  Text.replace(Text.find("mcts"), 4, "best");
  EXPECT_NE(messageOf(parseIdentity(Text, "run.json"))
                .find("'options.policy': got 'best', wanted one "
                      "of epsilon-greedy,"),
            std::string::npos)
      << messageOf(parseIdentity(Text, "run.json"));
}

// A run.json that somebody edited is an error that names file and field.
TEST(Identity, Hostile) {
  std::string Text = printIdentity(identity());
  auto With = [&](const std::string &Old, const std::string &New) {
    std::string Edited = Text;
    Edited.replace(Edited.find(Old), Old.size(), New);
    return messageOf(parseIdentity(Edited, "run.json"));
  };
  EXPECT_EQ(With("\"window\": 5", "\"window\": -5"),
            "run.json: field 'options.window': got -5, wanted an integer of 0 "
            "or more");
  EXPECT_EQ(With("\"format\": 1", "\"format\": 2"),
            "'run.json' has format 2, wanted 1");
  EXPECT_EQ(With("\"task\": {", "\"tusk\": {"),
            "run.json: field 'task': got nothing, wanted an object");
  EXPECT_EQ(messageOf(parseIdentity("[]", "run.json")),
            "run.json: field '': got [], wanted an object");
}

// Each event reads back as it was.
TEST(Events, RoundTrip) {
  std::string Select = printSelect(selectEvent(3, 2));
  EXPECT_EQ(printSelect(llvm::cantFail(parseSelect(Select))), Select);

  ReplyEvent Reply;
  Reply.Id = "0003-plan-1";
  Reply.Digest = "dd";
  Reply.File = "replies/0003-plan-1.md";
  Reply.Reply.Model = "m";
  Reply.Reply.Tokens.Input = 7;
  std::string Body = printReplyEvent(Reply);
  EXPECT_EQ(printReplyEvent(llvm::cantFail(parseReplyEvent(Body))), Body);

  VerdictEvent Verdict{3, 3, "confirm", "ee", correctIn(12.3456789)};
  Body = printVerdictEvent(Verdict);
  EXPECT_EQ(printVerdictEvent(llvm::cantFail(parseVerdictEvent(Body))), Body);

  NodeEvent N = nodeEvent(3, 1, "text", VerdictKind::Wrong);
  N.N.Given = {"title", "advice \"quoted\"", {}};
  Anchor A;
  A.Bytes = {10, 20};
  A.SiteIds = {"k:loop1"};
  A.GrewAfter = 2;
  N.N.Given.Anchors = {A};
  Body = printNodeEvent(N);
  EXPECT_EQ(printNodeEvent(llvm::cantFail(parseNodeEvent(Body))), Body);

  EXPECT_EQ(printEnd(llvm::cantFail(parseEnd(printEnd({-1, 9, "why"})))),
            printEnd({-1, 9, "why"}));
}

// A journal names no file outside its run.
TEST(Events, FilesStayInside) {
  ReplyEvent Reply;
  Reply.File = "replies/../../secret";
  EXPECT_NE(messageOf(parseReplyEvent(printReplyEvent(Reply))), "");
  NodeEvent N = nodeEvent(3, 1, "text", VerdictKind::Wrong);
  N.File = "/etc/passwd";
  EXPECT_NE(messageOf(parseNodeEvent(printNodeEvent(N))), "");
}

// Wrong types and numbers are errors, whatever the field.
TEST(Events, Hostile) {
  for (const char *Body :
       {"[]", "{}", R"({"attempt":1})", R"({"attempt":"1"})",
        R"({"attempt":1,"node":-3,"reason":"","action":"plan","shown":{}})",
        R"({"attempt":1,"node":0,"reason":"","action":"eat","shown":{}})",
        R"({"attempt":1,"node":0,"reason":"","action":"plan",
            "shown":{"plan":["0"]}})"}) {
    EXPECT_NE(messageOf(parseSelect(Body)), "") << Body;
    EXPECT_NE(messageOf(parseReplyEvent(Body)), "") << Body;
    EXPECT_NE(messageOf(parseVerdictEvent(Body)), "") << Body;
    EXPECT_NE(messageOf(parseNodeEvent(Body)), "") << Body;
    EXPECT_NE(messageOf(parseEnd(Body)), "") << Body;
  }
  NodeEvent Own = nodeEvent(3, 3, "", VerdictKind::Wrong);
  EXPECT_NE(messageOf(parseNodeEvent(printNodeEvent(Own))), "");
}

// A tree grows out of the events; what is in flight is kept apart.
TEST_F(RunTest, ReadsATree) {
  add("select", printSelect(selectEvent(1, 0)));
  add("verdict", printVerdictEvent(
                     {1, 1, "check", "", failing(VerdictKind::NoCandidate)}));
  add("node", printNodeEvent(nodeEvent(1, 0, "", VerdictKind::NoCandidate)));
  add("select", printSelect(selectEvent(2, 0)));
  RecordedRun Run = llvm::cantFail(read());
  EXPECT_EQ(Run.T.size(), 2u);
  EXPECT_EQ(Run.T.node(0).Text, "source");
  EXPECT_DOUBLE_EQ(Run.T.node(0).scoreUs(), 100);
  ASSERT_EQ(Run.Attempts.size(), 3u);
  EXPECT_EQ(Run.Attempts[1].Node, 1u);
  EXPECT_FALSE(Run.Attempts[2].Node.has_value());
  EXPECT_FALSE(Run.End.has_value());
}

// Events that do not follow from one another are errors that name the line,
// though each is sound by itself.
TEST_F(RunTest, OutOfOrder) {
  std::string Where = (Folder.path() + "/journal.jsonl:3: ").str();
  auto Third = [&](const std::string &Type, const std::string &Body) {
    Content.Events.resize(2);
    add(Type, Body);
    return messageOf(read());
  };
  EXPECT_EQ(Third("select", printSelect(selectEvent(2, 0))),
            Where + "select of attempt 2, wanted attempt 1");
  EXPECT_EQ(Third("select", printSelect(selectEvent(1, 7))),
            Where + "selects node 7 of 1");
  EXPECT_EQ(
      Third("node", printNodeEvent(nodeEvent(1, 0, "", VerdictKind::Wrong))),
      Where + "node 1 does not follow from the events before it");
  EXPECT_EQ(Third("end", printEnd({4, 1, "why"})),
            Where + "winner 4 of 1 nodes");
  EXPECT_EQ(Third("dream", "{}"), Where +
                                      "unknown event 'dream'; wanted select, "
                                      "counters, reply, verdict, node "
                                      "or end");
}

// Nothing follows the end.
TEST_F(RunTest, EndIsTheEnd) {
  add("end", printEnd({-1, 0, "why"}));
  add("select", printSelect(selectEvent(1, 0)));
  EXPECT_NE(messageOf(read()).find("an event follows the end"),
            std::string::npos);
}

// A candidate that was edited is told from the recorded one.
TEST_F(RunTest, EditedCandidate) {
  llvm::cantFail(writeFileAtomically(
      (Folder.path() + "/candidates/0000.cu").str(), "sourc3"));
  EXPECT_NE(messageOf(read()).find("0000.cu' was changed"), std::string::npos);
}
