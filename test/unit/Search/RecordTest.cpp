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
#include "llvm/Support/FileSystem.h"
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
  I.Versions = {{"clang", "19.1.7"}};
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
    add("verdict", printEvent(VerdictEvent{0, 0, VerdictEvent::By::Attempt,
                                           sha256("source"), correctIn(100)}));
    add("node", printEvent(nodeEvent(0, -1, "source", VerdictKind::Correct)));
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
  Now.Versions = {};
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
            "run.json: field 'format': got 2, wanted 1");
  EXPECT_EQ(With("\"task\": {", "\"tusk\": {"),
            "run.json: field 'task': got nothing, wanted an object");
  EXPECT_EQ(messageOf(parseIdentity("[]", "run.json")),
            "run.json: field '': got [], wanted an object");
}

// Each event reads back as it was.
TEST(Events, RoundTrip) {
  std::string Select = printEvent(selectEvent(3, 2));
  EXPECT_EQ(printEvent(llvm::cantFail(parseEvent<SelectEvent>(Select))),
            Select);

  ReplyEvent Reply;
  Reply.Id = "0003-plan-1";
  Reply.Digest = "dd";
  Reply.File = "replies/0003-plan-1.md";
  Reply.Reply.Model = "m";
  Reply.Reply.Tokens.Input = 7;
  std::string Body = printEvent(Reply);
  EXPECT_EQ(printEvent(llvm::cantFail(parseEvent<ReplyEvent>(Body))), Body);

  VerdictEvent Verdict{3, 3, VerdictEvent::By::Confirm, "ee",
                       correctIn(12.3456789)};
  Body = printEvent(Verdict);
  EXPECT_EQ(printEvent(llvm::cantFail(parseEvent<VerdictEvent>(Body))), Body);

  NodeEvent N = nodeEvent(3, 1, "text", VerdictKind::Wrong);
  N.N.Given = {"title", "advice \"quoted\"", {}};
  Anchor A;
  A.Bytes = {10, 20};
  A.SiteIds = {"k:loop1"};
  A.GrewAfter = 2;
  N.N.Given.Anchors = {A};
  Body = printEvent(N);
  EXPECT_EQ(printEvent(llvm::cantFail(parseEvent<NodeEvent>(Body))), Body);

  Body = printEvent(EndEvent{-1, 9, {"why"}});
  EXPECT_EQ(printEvent(llvm::cantFail(parseEvent<EndEvent>(Body))), Body);
}

// A journal names no file outside its run.
TEST(Events, FilesStayInside) {
  ReplyEvent Reply;
  Reply.File = "replies/../../secret";
  EXPECT_NE(messageOf(parseEvent<ReplyEvent>(printEvent(Reply))), "");
  NodeEvent N = nodeEvent(3, 1, "text", VerdictKind::Wrong);
  N.File = "/etc/passwd";
  EXPECT_NE(messageOf(parseEvent<NodeEvent>(printEvent(N))), "");
}

// Wrong types and numbers are errors, whatever the field.
TEST(Events, Hostile) {
  for (const char *Body :
       {"[]", "{}", R"({"attempt":1})", R"({"attempt":"1"})",
        R"({"attempt":1,"node":-3,"reason":"","action":"plan","shown":{}})",
        R"({"attempt":1,"node":0,"reason":"","action":"eat","shown":{}})",
        R"({"attempt":1,"node":0,"reason":"","action":"plan",
            "shown":{"plan":["0"]}})"}) {
    EXPECT_NE(messageOf(parseEvent<SelectEvent>(Body)), "") << Body;
    EXPECT_NE(messageOf(parseEvent<ReplyEvent>(Body)), "") << Body;
    EXPECT_NE(messageOf(parseEvent<VerdictEvent>(Body)), "") << Body;
    EXPECT_NE(messageOf(parseEvent<NodeEvent>(Body)), "") << Body;
    EXPECT_NE(messageOf(parseEvent<EndEvent>(Body)), "") << Body;
  }
  NodeEvent Own = nodeEvent(3, 3, "", VerdictKind::Wrong);
  EXPECT_NE(messageOf(parseEvent<NodeEvent>(printEvent(Own))), "");
}

// A tree grows out of the events; what is in flight is kept apart.
TEST_F(RunTest, ReadsATree) {
  add("select", printEvent(selectEvent(1, 0)));
  add("verdict", printEvent(VerdictEvent{1, 1, VerdictEvent::By::Check, "",
                                         failing(VerdictKind::NoCandidate)}));
  add("node", printEvent(nodeEvent(1, 0, "", VerdictKind::NoCandidate)));
  add("select", printEvent(selectEvent(2, 0)));
  RecordedRun Run = llvm::cantFail(read());
  EXPECT_EQ(Run.Nodes.size(), 2u);
  EXPECT_EQ(Run.Nodes.node(0).Text, "source");
  EXPECT_DOUBLE_EQ(Run.Nodes.node(0).scoreUs(), 100);
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
  EXPECT_EQ(Third("select", printEvent(selectEvent(2, 0))),
            Where + "select of attempt 2, wanted attempt 1");
  EXPECT_EQ(Third("select", printEvent(selectEvent(1, 7))),
            Where + "selects node 7 of 1");
  EXPECT_EQ(Third("node", printEvent(nodeEvent(1, 0, "", VerdictKind::Wrong))),
            Where + "node 1 does not follow from the events before it");
  EXPECT_EQ(Third("end", printEvent(EndEvent{4, 1, {"why"}})),
            Where + "winner 4 of 1 nodes");
  EXPECT_EQ(Third("dream", "{}"), Where +
                                      "unknown event 'dream'; wanted select, "
                                      "counters, reply, verdict, node, "
                                      "tune or end");
}

// Variants follow the tuning of a node and are of that node; nothing else does,
// and there is one tuning.
TEST_F(RunTest, Tuning) {
  std::string Where = (Folder.path() + "/journal.jsonl:").str();
  const TuneEvent Tune{0, 0, {{"kBlock", 2, 64}}, {"0 attempts"}};
  EXPECT_EQ(printEvent(llvm::cantFail(parseEvent<TuneEvent>(printEvent(Tune)))),
            printEvent(Tune));
  SelectEvent Variant = selectEvent(1, 0);
  Variant.Tune = true;
  Variant.SpentS = 7;
  EXPECT_EQ(
      printEvent(llvm::cantFail(parseEvent<SelectEvent>(printEvent(Variant)))),
      printEvent(Variant));
  add("select", printEvent(Variant));
  EXPECT_EQ(messageOf(read()), Where + "3: attempt 1 tries other numbers of a "
                                       "node that is not being tuned");
  Content.Events.resize(2);
  add("tune", printEvent(Tune));
  add("tune", printEvent(Tune));
  EXPECT_EQ(messageOf(read()), Where + "4: tuning of node 0 does not follow "
                                       "from the events before it");
  Content.Events.resize(3);
  add("select", printEvent(selectEvent(1, 0)));
  EXPECT_EQ(messageOf(read()),
            Where + "4: attempt 1 is begun after tuning began");
  Content.Events.resize(3);
  add("select", printEvent(Variant));
  add("verdict", printEvent(VerdictEvent{1, 1, VerdictEvent::By::Check, "",
                                         failing(VerdictKind::NoCandidate)}));
  NodeEvent N = nodeEvent(1, 0, "", VerdictKind::NoCandidate);
  add("node", printEvent(N));
  EXPECT_EQ(messageOf(read()), Where + "6: node 1 does not follow from the "
                                       "events before it");
  Content.Events.resize(5);
  N.N.Tuned = true;
  add("node", printEvent(N));
  RecordedRun Run = llvm::cantFail(read());
  EXPECT_TRUE(Run.Nodes.node(1).Tuned);
  EXPECT_EQ(Run.Attempts[1].Select->SpentS, 7u);
  ASSERT_TRUE(Run.Tuning);
  EXPECT_EQ(Run.Tuning->Numbers[0].Name, "kBlock");
}

// Nothing follows the end.
TEST_F(RunTest, EndIsTheEnd) {
  add("end", printEvent(EndEvent{-1, 0, {"why"}}));
  add("select", printEvent(selectEvent(1, 0)));
  EXPECT_NE(messageOf(read()).find("an event follows the end"),
            std::string::npos);
}

// A candidate that was edited is told from the recorded one.
TEST_F(RunTest, EditedCandidate) {
  llvm::cantFail(writeFileAtomically(
      (Folder.path() + "/candidates/0000.cu").str(), "sourc3"));
  EXPECT_NE(messageOf(read()).find("0000.cu' was changed"), std::string::npos);
}

template <class Event> static std::string printedAgain(llvm::StringRef Body) {
  llvm::Expected<Event> E = parseEvent<Event>(Body);
  return E ? printEvent(*E) : llvm::toString(E.takeError());
}

static std::string printedAgain(const JournalEvent &E) {
  return E.Type == SelectEvent::Type     ? printedAgain<SelectEvent>(E.Body)
         : E.Type == CountersEvent::Type ? printedAgain<CountersEvent>(E.Body)
         : E.Type == ReplyEvent::Type    ? printedAgain<ReplyEvent>(E.Body)
         : E.Type == VerdictEvent::Type  ? printedAgain<VerdictEvent>(E.Body)
         : E.Type == NodeEvent::Type     ? printedAgain<NodeEvent>(E.Body)
                                         : printedAgain<EndEvent>(E.Body);
}

// The runs that were recorded before are read and written byte for byte.
TEST(Record, RecordedRunsStayAsTheyAre) {
  unsigned Events = 0;
  std::error_code Code;
  for (llvm::sys::fs::directory_iterator I(STARK_RUNS, Code), End;
       I != End && !Code; I.increment(Code)) {
    std::string File = I->path() + "/run.json";
    if (!llvm::sys::fs::exists(File))
      continue;
    std::string Text = llvm::cantFail(readFile(File));
    EXPECT_EQ(printIdentity(llvm::cantFail(parseIdentity(Text, File))), Text);
    JournalContent Content =
        llvm::cantFail(readJournal(I->path() + "/journal.jsonl"));
    Events += unsigned(Content.Events.size());
    for (const JournalEvent &E : Content.Events)
      EXPECT_EQ(printedAgain(E), E.Body) << File << ", event " << E.Number;
  }
  EXPECT_GT(Events, 100u);
}
