//===- SearchTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The loop with a model and a judge of a few lines each.
///
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

using namespace stark;

// A source that is not right by its own standard cannot be searched from.
TEST_F(SearchTest, SourceMustBeCorrect) {
  Judge.Of[0] = failing(VerdictKind::Unstable);
  Judge.Of[0].Run = "y[3] differs";
  EXPECT_EQ(problem(),
            "the source itself is unstable, wanted correct: y[3] differs");
  EXPECT_TRUE(Model.Asked.empty());
}

// The fastest wins only when a second judgement says so, too; then the next.
TEST_F(SearchTest, WinnerIsConfirmed) {
  Judge.Of[1] = correctIn(20);
  Judge.Of[2] = correctIn(40);
  Judge.Confirmed[1] = correctIn(99.5);
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Winner, 2);
  EXPECT_EQ(Judge.Judged, (std::vector<unsigned>{0, 1, 2, 1, 2}));
  // No judgement saw the inputs of another.
  EXPECT_EQ(Judge.Seeds.size(), 5u);
}

// Below the margin nothing beats the source, and nothing is confirmed.
TEST_F(SearchTest, Margin) {
  Judge.Of[1] = correctIn(98.5);
  Judge.Of[2] = correctIn(98.5);
  EXPECT_EQ(outcome().Winner, -1);
  EXPECT_EQ(Judge.Judged.size(), 3u);
}

// A speed-up whose interval reaches 1 is none.
TEST_F(SearchTest, LowerBound) {
  Judge.Of[1] = Judge.Of[2] = correctIn(80);
  for (unsigned N : {1u, 2u})
    Judge.Of[N].Timings[0].SpeedupLow = 0.99;
  EXPECT_EQ(outcome().Winner, -1);
}

// A broken contract is found without the judge.
TEST_F(SearchTest, Contract) {
  Options.Attempts = 1;
  Options.Strictness = Grounding::Off;
  std::string Other = Source;
  Other.replace(Other.find("float *y, int n, cuda"), 16, "float *y, long n");
  Model.Answers["code"] = "```cuda file\n" + Other + "```\n";
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Nodes.node(1).Found.Kind, VerdictKind::ContractBroken)
      << O.Nodes.node(1).Found.Compiler;
  EXPECT_EQ(Judge.Judged, (std::vector<unsigned>{0}));
}

// The same tokens under other comments are not judged twice.
TEST_F(SearchTest, KnownCandidate) {
  Model.Answers["0001-code-1"] = kernel("x[i] + x[i]");
  Model.Answers["0002-code-1"] = kernel("x[i]  + x[i] /* again */");
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Nodes.node(2).SameAs, 1);
  EXPECT_TRUE(O.Nodes.node(2).Found.correct());
  EXPECT_EQ(Judge.Judged, (std::vector<unsigned>{0, 1, 1}));
}

// A plan whose code could not be used is tried again by the debug agent.
TEST_F(SearchTest, UnusableCode) {
  Options.Policy.RootThrottle = 1;
  Model.Answers["code"] = "I would rather not.";
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Nodes.node(1).Found.Kind, VerdictKind::NoCandidate);
  EXPECT_EQ(O.Nodes.node(1).Given.Title, "faster");
  EXPECT_TRUE(O.Nodes.node(2).FromDebug);
  EXPECT_EQ(O.Nodes.node(2).Base, 0);
  EXPECT_EQ(O.Winner, 2);
  EXPECT_EQ(Model.Asked,
            (std::vector<std::string>{"0001-plan-1", "0001-code-1",
                                      "0001-code-2", "0002-debug-1"}));
}

// With nothing left to go on from, the search ends early.
TEST_F(SearchTest, NoEligibleNode) {
  Options.Policy.RootThrottle = 1;
  Options.Attempts = 9;
  Model.Answers["plan"] = "no";
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Ended.Why, "no node is eligible");
  EXPECT_EQ(O.Nodes.size(), 2u);
}

// What the last attempts gained decides whether there is another one, with one
// job and with several; the run says so.
TEST_F(SearchTest, Patience) {
  Options.Patience = 2;
  Options.Attempts = 9;
  for (unsigned N = 1; N <= 9; ++N)
    Judge.Of[N] = correctIn(N == 1 ? 50 : 49);
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Ended.Why, "the last 2 attempts gained less than 5 %");
  EXPECT_EQ(O.Nodes.size(), 4u);
  EXPECT_EQ(O.Winner, 2);
}

TEST_F(SearchTest, PatienceOfSeveralJobs) {
  Options.Patience = 2;
  Options.Attempts = 30;
  Options.Jobs = 3;
  for (unsigned N = 1; N <= 30; ++N)
    Judge.Of[N] = correctIn(N == 1 ? 50 : 49);
  SearchOutcome O = outcome();
  EXPECT_TRUE(llvm::StringRef(O.Ended.Why).ends_with("less than 5 %"));
  // Those in flight end.
  EXPECT_LE(O.Nodes.size(), 4u + 3u);
}

// Of a spool's workers one may have another GPU: that is said once.
TEST_F(SearchTest, AnotherDevice) {
  struct Notes : SearchObserver {
    std::vector<std::string> All;
    void onNote(llvm::StringRef Note) override { All.push_back(Note.str()); }
  } Observer;
  Options.Attempts = 3;
  for (unsigned N = 0; N <= 3; ++N) {
    Judge.Of[N] = correctIn(N ? 50 : 100);
    Judge.Of[N].Device = N < 2 ? "A" : "B";
  }
  SearchSetup Setup = setupWith(Model);
  llvm::cantFail(runSearch(Setup, Options, Run, Observer));
  EXPECT_EQ(Observer.All,
            std::vector<std::string>{
                "node 2 was judged on B, the source on A: speed-ups hold, but "
                "times of the two are not comparable, and the search compares "
                "them"});
}

// A child of a repair is planned in the repaired text; the repair itself is
// held to its parent's base.
TEST_F(SearchTest, Bases) {
  Options.Policy.RootThrottle = 1;
  Options.Attempts = 3;
  Judge.Of[1] = failing();
  SearchOutcome O = outcome();
  EXPECT_EQ(O.Nodes.node(2).Parent, 1);
  EXPECT_EQ(O.Nodes.node(2).Base, 0);
  EXPECT_EQ(O.Nodes.node(3).Parent, 2);
  EXPECT_EQ(O.Nodes.node(3).Base, 2);
}

// Suspended before any of its calls and called again, the search makes the
// journal of an undisturbed one, and asks nothing twice.
TEST_F(SearchTest, SuspendedAtEveryCall) {
  Judge.Of[1] = failing();
  outcome();
  std::string Undisturbed = journal();
  std::vector<std::string> Asked = Model.Asked;
  Model.Asked.clear();
  Run += "2";
  unsigned Turns = 0;
  for (bool Done = false; !Done; ++Turns) {
    ASSERT_LT(Turns, 30u);
    (Turns % 2 ? Model.SuspendAfter : Judge.SuspendAfter) = 1;
    (Turns % 2 ? Judge.SuspendAfter : Model.SuspendAfter) = 0;
    auto Result = search();
    Done = bool(Result);
    if (!Done) {
      llvm::Error E = Result.takeError();
      ASSERT_EQ(errorKind(E), ErrorKind::Suspended);
      llvm::consumeError(std::move(E));
    }
  }
  EXPECT_GT(Turns, 5u);
  EXPECT_EQ(journal(), Undisturbed);
  EXPECT_EQ(Model.Asked, Asked);
}

// A journal in which the search went another way is an error that shows both.
TEST_F(SearchTest, AnotherWay) {
  Options.Attempts = 1;
  outcome();
  std::string Path = Run + "/journal.jsonl";
  JournalContent Then = llvm::cantFail(readJournal(Path));
  llvm::cantFail(writeFileAtomically(Path, ""));
  auto J = llvm::cantFail(Journal::open(Path, JournalContent()));
  for (JournalEvent &E : Then.Events) {
    size_t At = E.Body.find("best of 1 eligible");
    if (At != std::string::npos)
      E.Body.replace(At, 18, "best of 8 eligible");
    llvm::cantFail(J->append(E.Type, E.Body));
  }
  std::string Problem = problem();
  EXPECT_NE(Problem.find("journal.jsonl:3: the journal has select"),
            std::string::npos)
      << Problem;
  EXPECT_NE(Problem.find("best of 8 eligible"), std::string::npos);
  EXPECT_NE(Problem.find("the search came to select"), std::string::npos);
}

// Interrupted, it stops before the next step and says so by the error's kind.
TEST_F(SearchTest, Interrupted) {
  std::atomic<bool> Cancelled = true;
  Setup.Cancelled = &Cancelled;
  auto Result = search();
  ASSERT_FALSE(bool(Result));
  llvm::Error E = Result.takeError();
  EXPECT_EQ(errorKind(E), ErrorKind::Interrupted);
  llvm::consumeError(std::move(E));
  EXPECT_TRUE(Judge.Judged.empty());
}
