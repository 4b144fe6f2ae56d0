//===- JobsTest.cpp ------------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Several attempts in flight on one tree.
///
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

using namespace stark;

namespace {
struct JobsTest : SearchTest {
  JobsTest() {
    Options.Jobs = 4;
    Options.Attempts = 7;
    Options.Policy.Epsilon = 0.5;
    Model.Calls.DelayMs = 15;
    for (unsigned N : {2u, 3u, 5u})
      Judge.Of[N] = failing();
  }

  /// Parents, texts and verdicts, node by node.
  static std::string describe(const Tree &T) {
    std::string Text;
    for (unsigned I = 0; I < T.size(); ++I)
      Text += std::to_string(T.node(I).Parent) + " " +
              std::to_string(T.node(I).SameAs) + " " +
              printVerdict(T.node(I).Found) + "\n" + T.node(I).Text;
    return Text;
  }
  RecordedRun recorded() { return llvm::cantFail(readRun(Run)); }
};
} // namespace

// As many calls as jobs are under way, one candidate is judged at a time, and
// each attempt adds a node.
TEST_F(JobsTest, KeepsJobsInFlight) {
  Model.Calls.Together = 4;
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Ended.Why, "7 attempts");
  EXPECT_EQ(O.Nodes.size(), 8u);
  EXPECT_EQ(Model.Calls.Most, 4);
  EXPECT_EQ(Judge.Calls.Most, 1);
  RecordedRun Read = recorded();
  std::set<unsigned> Nodes;
  for (const RecordedAttempt &A : Read.Attempts)
    Nodes.insert(A.Node.value_or(99));
  EXPECT_EQ(Nodes.size(), 8u);
  EXPECT_FALSE(Nodes.count(99));

  // Their events stand between one another, which with fewer jobs is an error.
  JournalContent Content = llvm::cantFail(readJournal(Run + "/journal.jsonl"));
  for (unsigned Jobs : {1u, 2u}) {
    auto Few = readEvents(Run, Content, Jobs);
    ASSERT_FALSE(bool(Few));
    EXPECT_NE(llvm::toString(Few.takeError()).find("select of attempt"),
              std::string::npos);
  }
}

// A judge that has a queue knows all candidates in flight, with what it will be
// asked of each, though it is asked of one at a time.
TEST_F(JobsTest, AQueueHasAllInFlight) {
  outcome();
  std::string Root = recorded().Nodes.node(0).Text;
  EXPECT_EQ(Judge.Begun.count(Root), 0u);
  EXPECT_GE(Judge.Begun.size(), 4u);
  for (const auto &[Text, Seed] : Judge.Begun)
    EXPECT_EQ(Judge.Seeds.count(Seed), 1u) << Text;
  // With one job there is nothing to wait for.
  Judge.Begun.clear();
  Options.Jobs = 1;
  Run += "2";
  outcome();
  EXPECT_TRUE(Judge.Begun.empty());
}

// The policy knows what is in flight: the source never gets more children than
// its throttle allows, though all that are in flight were selected before one
// of them was judged.
TEST_F(JobsTest, ThrottleHoldsForWhatIsInFlight) {
  Options.Jobs = 8;
  Options.Policy.RootThrottle = 2;
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Nodes.node(0).Children.size(), 2u);
  EXPECT_EQ(O.Nodes.size(), 8u);
}

// A run with several jobs, made again in its recorded order, has the same tree;
// and reading it from its folder gives that tree, too.
TEST_F(JobsTest, FollowsItsJournal) {
  SearchOutcome First = outcome();
  EXPECT_EQ(describe(recorded().Nodes), describe(First.Nodes));
  Setup.Follow = llvm::cantFail(readSchedule(Run));
  // Judged by node, as before: the nodes have the same numbers.
  Run += "2";
  Model.Calls.DelayMs = 0;
  Model.Calls.Most = 0;
  SearchOutcome Second = outcome();
  EXPECT_EQ(Model.Calls.Most, 1);
  EXPECT_EQ(describe(Second.Nodes), describe(First.Nodes));
  EXPECT_EQ(Second.Winner, First.Winner);
  EXPECT_EQ(Second.Ended.Why, First.Ended.Why);
}

// Suspended at many moments and called again, it ends; nothing that was
// answered is asked again, and the journal is read without complaint.
TEST_F(JobsTest, SuspendedAndResumed) {
  unsigned Turns = 0;
  for (bool Done = false; !Done; ++Turns) {
    ASSERT_LT(Turns, 60u);
    Model.SuspendAfter = 3 + int(Turns % 3);
    Judge.SuspendAfter = 1 + int(Turns % 3);
    auto Result = search();
    Done = bool(Result);
    if (!Done) {
      llvm::Error E = Result.takeError();
      ASSERT_EQ(errorKind(E), ErrorKind::Suspended)
          << llvm::toString(std::move(E));
      llvm::consumeError(std::move(E));
      (void)recorded();
    }
  }
  EXPECT_GT(Turns, 2u);
  EXPECT_EQ(recorded().Nodes.size(), 8u);
  EXPECT_EQ(
      std::set<std::string>(Model.Asked.begin(), Model.Asked.end()).size(),
      Model.Asked.size());
}

// Cut after any of its lines, a journal is gone on with.
TEST_F(JobsTest, ResumesFromEveryLine) {
  Options.Attempts = 5;
  Options.Confirm = false;
  SearchOutcome First = outcome();
  JournalContent Whole = llvm::cantFail(readJournal(Run + "/journal.jsonl"));
  for (size_t Lines = 2; Lines < Whole.Events.size(); Lines += 6) {
    std::string Path = Run + "/journal.jsonl";
    llvm::cantFail(writeFileAtomically(Path, ""));
    // What went on from an earlier cut may have numbered otherwise.
    for (unsigned I = 0; I < First.Nodes.size(); ++I)
      llvm::cantFail(writeFileAtomically(Run + "/" + candidateFile(I),
                                         First.Nodes.node(I).Text));
    {
      auto J = llvm::cantFail(Journal::open(Path, JournalContent()));
      for (size_t I = 0; I < Lines; ++I)
        llvm::cantFail(J->append(Whole.Events[I].Type, Whole.Events[I].Body));
    }
    Model.Calls.DelayMs = 1;
    SearchOutcome O = outcome();
    EXPECT_EQ(O.Nodes.size(), 6u) << Lines;
    EXPECT_EQ(describe(recorded().Nodes), describe(O.Nodes));
  }
}

// Each planner is told of those that were asked before it and have not ended;
// that is in the journal, so that the same requests are made again.
TEST_F(JobsTest, PlannersKnowOfEachOther) {
  struct Listener : FakeModel {
    std::map<std::string, std::string> Questions;
    llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                       const CallControl &C) override {
      {
        std::lock_guard<std::mutex> Held(Lock);
        Questions[R.Id] = R.Messages[0].Text;
      }
      return FakeModel::complete(R, C);
    }
  } Model, Again;
  Options.Jobs = 3;
  Options.Attempts = 5;
  llvm::cantFail(runSearch(setupWith(Model), Options, Run, Observer));
  RecordedRun Before = recorded();
  EXPECT_TRUE(Before.Attempts[1].Select->Beside.empty());
  EXPECT_EQ(Before.Attempts[2].Select->Beside,
            (std::vector<PlanInFlight>{{1, 0, ""}}));
  EXPECT_EQ(Before.Attempts[3].Select->Beside,
            (std::vector<PlanInFlight>{{1, 0, ""}, {2, 0, ""}}));
  EXPECT_NE(Model.Questions["0003-plan-1"].find("2 began from the same text"),
            std::string::npos);
  SearchSetup Setup = setupWith(Again);
  Setup.Follow = llvm::cantFail(readSchedule(Run));
  Run += "-again";
  llvm::cantFail(runSearch(Setup, Options, Run, Observer));
  for (const auto &[Id, Text] : Model.Questions)
    EXPECT_EQ(Again.Questions[Id], Text) << Id;
}

// The first error of an attempt ends the run when the others have ended.
TEST_F(JobsTest, AnErrorEndsTheRun) {
  struct Broken : FakeModel {
    llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                       const CallControl &C) override {
      if (R.Id == "0002-code-1")
        return failed("no money");
      return FakeModel::complete(R, C);
    }
  } Model;
  Model.Calls.DelayMs = 5;
  auto Result = runSearch(setupWith(Model), Options, Run, Observer);
  ASSERT_FALSE(bool(Result));
  EXPECT_EQ(llvm::toString(Result.takeError()), "no money");
  EXPECT_EQ(Model.Calls.Now, 0);
  EXPECT_LT(recorded().Attempts.size(), 8u);
  EXPECT_FALSE(recorded().End.has_value());
}

// What calls under way may cost counts until they are settled; then the next
// one may fit after all.
TEST(BudgetHold, CountsWhatIsUnderWay) {
  FakeClock Time;
  Budget B({llvm::cantFail(parseBudgetLimit("tokens=1000"))}, Time);
  WorstCase Worst;
  Worst.InputTokens = 300;
  Worst.OutputTokens = 300;
  EXPECT_EQ(llvm::cantFail(B.reserve("plan", Worst)), "");
  B.hold("plan", Worst);
  EXPECT_TRUE(B.holdsAny());
  EXPECT_NE(llvm::cantFail(B.reserve("code", Worst)), "");
  ChatReply Reply;
  Reply.Tokens.Input = 100;
  Reply.Tokens.Output = 50;
  B.release("plan", Worst);
  B.settle("plan", Reply, Worst);
  EXPECT_FALSE(B.holdsAny());
  EXPECT_EQ(llvm::cantFail(B.reserve("code", Worst)), "");
}
