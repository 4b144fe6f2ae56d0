//===- ProfileTest.cpp ---------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What the GPU's own counters say, in what agents are asked.
///
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

using namespace stark;

namespace {
/// Keeps the questions.
struct Listener : FakeModel {
  std::map<std::string, std::string> Questions;
  llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                     const CallControl &Control) override {
    Questions[R.Id] = R.Messages.front().Text;
    return FakeModel::complete(R, Control);
  }
};

/// Keeps of which nodes counters were wanted.
struct Watcher : Evaluator {
  FakeJudge Judge;
  std::vector<unsigned> Wanted;
  llvm::Expected<Verdict> evaluate(const Candidate &C) override {
    if (C.Profiled) {
      EXPECT_EQ(C.Why, Purpose::Attempt);
      Wanted.push_back(C.Node);
    }
    return Judge.evaluate(C);
  }
  std::string identity() const override { return "fake"; }
};

struct FakeProfiler : Profiler {
  std::vector<unsigned> Asked;
  llvm::Expected<Counters> profile(const Candidate &C) override {
    Asked.push_back(C.Node);
    return Counters{"simulated Fake GPU", "line 4\n", "", false};
  }
};

struct Notes : SearchObserver {
  std::vector<std::string> All;
  void onNote(llvm::StringRef Note) override { All.push_back(Note.str()); }
};

struct ProfileTest : SearchTest {
  Listener Model;
  Watcher Judge;
  FakeProfiler Profiler;
  Notes Observer;
  ProfileTest() {
    Options.Profile = true;
    Options.CountersOf = "sim:fake";
  }
  Verdict counted(double Us, const std::string &Text,
                  const std::string &Problem = "", bool Unavailable = false) {
    Verdict V = correctIn(Us);
    V.Counted = job::Profile{Text, Problem, Unavailable};
    return V;
  }
  SearchOutcome search() {
    SearchSetup Setup{T, Prompts, Model, Judge,
                      teamFor(Model.identity(), Prompts, Temperatures(), 1)};
    Setup.Profile = &Profiler;
    return llvm::cantFail(runSearch(Setup, Options, Run, Observer));
  }
  static bool has(const std::string &Text, const char *Part) {
    return Text.find(Part) != std::string::npos;
  }
};
} // namespace

// A plan is shown them in place of the simulator's, which are asked for where a
// node has none; confirmations have none.
TEST_F(ProfileTest, ShownToPlan) {
  Judge.Judge.Of[0] = counted(100, "bound by ```\n");
  Judge.Judge.Of[1] = correctIn(40);
  search();
  const std::string &First = Model.Questions["0001-plan-1"],
                    &Second = Model.Questions["0002-plan-1"];
  EXPECT_TRUE(has(First, "# Counters of the latest attempt\n\nWhat bounds it, "
                         "as the GPU's own counters have it, in a call under a "
                         "profiler:\n\n```\nbound by '''\n```\n"))
      << First;
  EXPECT_FALSE(has(First, "simulated Fake GPU"));
  EXPECT_TRUE(has(Second, "simulated Fake GPU"));
  EXPECT_FALSE(has(Model.Questions["0001-code-1"], "bound by"));
  EXPECT_EQ(Profiler.Asked, std::vector<unsigned>{1});
  EXPECT_EQ(Judge.Wanted, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_TRUE(Observer.All.empty());
}

// Where nobody may read them, what was recorded without goes beside the
// simulator's, and the next attempts are recorded as well.
TEST_F(ProfileTest, RecordedWithoutCounters) {
  Judge.Judge.Of[0] = counted(100, "1 launch\n", "ncu: nobody may");
  search();
  const std::string &First = Model.Questions["0001-plan-1"];
  EXPECT_TRUE(has(First, "# The latest attempt on the GPU\n\nWhat it does "
                         "there, as CUPTI records it; nobody could read the "
                         "GPU's counters:\n\n```\n1 launch\n```\n\n"
                         "# Counters of the latest attempt\n\nIt was also run "
                         "on a "))
      << First;
  EXPECT_TRUE(has(First, "simulated Fake GPU"));
  EXPECT_EQ(Judge.Wanted, (std::vector<unsigned>{0, 1, 2}));
  ASSERT_EQ(Observer.All.size(), 1u);
  EXPECT_TRUE(has(Observer.All[0], "no counters of the GPU itself of node 0: "
                                   "ncu: nobody may"));
}

// Who did not ask for them is not shown what a judge says anyway, as one that
// replays a run does.
TEST_F(ProfileTest, Unasked) {
  Options.Profile = false;
  Judge.Judge.Of[0] = counted(100, "bound by x\n", "of one", true);
  search();
  EXPECT_FALSE(has(Model.Questions["0001-plan-1"], "bound by x"));
  EXPECT_TRUE(Judge.Wanted.empty());
  EXPECT_TRUE(Observer.All.empty());
}

// A repair is shown those of the text that its attempt started from.
TEST_F(ProfileTest, ShownToDebug) {
  Options.Policy.RootThrottle = 1;
  Judge.Judge.Of[0] = counted(100, "bound by x\n");
  Judge.Judge.Of[1] = Verdict();
  search();
  const std::string &Debug = Model.Questions["0002-debug-1"];
  EXPECT_TRUE(has(Debug, "# Counters of the text that it started from\n\nWhat "
                         "bounds that, as the GPU's own counters"))
      << Debug;
  EXPECT_TRUE(has(Debug, "```\nbound by x\n```\n\n# The advice it followed"));
}

// A run that goes on asks what it asked.
TEST_F(ProfileTest, Resumed) {
  Judge.Judge.Of[0] = counted(100, "bound by x\n");
  search();
  std::string Whole = journal();
  auto Questions = Model.Questions;
  EXPECT_TRUE(has(Whole, "\"profile\":{\"problem\":\"\",\"text\":\"bound by "
                         "x\\n\"}"));
  llvm::cantFail(writeFileAtomically(
      Run + "/journal.jsonl",
      llvm::StringRef(Whole).split('\n').first.str() + "\n"));
  Judge.Judge.Of[0] = correctIn(100);
  search();
  EXPECT_EQ(journal(), Whole);
  EXPECT_EQ(Model.Questions, Questions);
}

// Where nobody may read them nobody is asked again, which is said once.
TEST_F(ProfileTest, Unavailable) {
  Options.Attempts = 3;
  Judge.Judge.Of[0] = counted(100, "", "ncu: nobody may", true);
  search();
  EXPECT_EQ(Judge.Wanted, std::vector<unsigned>{0});
  EXPECT_EQ(Observer.All,
            std::vector<std::string>{"agents are shown no counters of the GPU "
                                     "itself of node 0: ncu: nobody may"});
  EXPECT_TRUE(has(Model.Questions["0001-plan-1"], "simulated Fake GPU"));
}

// What one candidate alone is to blame for keeps no other from being asked.
TEST_F(ProfileTest, OfOneAlone) {
  Judge.Judge.Of[0] = counted(100, "", "ncu: no answer within 120 s");
  search();
  EXPECT_EQ(Judge.Wanted, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(Observer.All.size(), 1u);
}

// It is one of the options that a run goes on with.
TEST_F(ProfileTest, Agreed) {
  search();
  RunIdentity Then = llvm::cantFail(readIdentity(Run));
  EXPECT_TRUE(Then.Options.Profile);
  Options.Profile = false;
  SearchSetup Setup{T, Prompts, Model, Judge,
                    teamFor(Model.identity(), Prompts, Temperatures(), 1)};
  auto Result = runSearch(Setup, Options, Run, Observer);
  ASSERT_FALSE(bool(Result));
  EXPECT_TRUE(has(llvm::toString(Result.takeError()), "profile"));
}
