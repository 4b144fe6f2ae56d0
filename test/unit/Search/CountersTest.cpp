//===- CountersTest.cpp --------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Counters of a profiler of a few lines, in what the plan agent is asked.
///
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

using namespace stark;

namespace {
struct FakeProfiler : Profiler {
  std::vector<unsigned> Asked;
  std::map<unsigned, Counters> Of; ///< by node
  std::mutex Lock;
  llvm::Expected<Counters> profile(const Candidate &C) override {
    std::lock_guard<std::mutex> Held(Lock);
    Asked.push_back(C.Node);
    if (auto Found = Of.find(C.Node); Found != Of.end())
      return Found->second;
    return Counters{"simulated Fake GPU",
                    "n=64: scale: 1 block\n  line " +
                        std::to_string(C.Node + 4) +
                        ": load of global memory: 32.0 sectors a request, 4.0 "
                        "would do\n```\n",
                    "", false};
  }
};

/// Keeps the questions and what is noted.
struct Listener : FakeModel {
  std::map<std::string, std::string> Questions;
  llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                     const CallControl &Control) override {
    std::string Text;
    for (const ChatMessage &M : R.Messages)
      Text += M.Text;
    {
      std::lock_guard<std::mutex> Held(Lock);
      Questions[R.Id] = Text;
    }
    return FakeModel::complete(R, Control);
  }
};

struct Notes : SearchObserver {
  std::vector<std::string> All;
  void onNote(llvm::StringRef Note) override { All.push_back(Note.str()); }
};

struct CountersTest : SearchTest {
  FakeProfiler Profile;
  Listener Model;
  Notes Observer;
  SearchSetup Setup = setupWith(Model);
  CountersTest() {
    Options.CountersOf = "sim:fake";
    Setup.Profile = &Profile;
  }
  llvm::Expected<SearchOutcome> search() {
    return runSearch(Setup, Options, Run, Observer);
  }
  static bool shows(const std::string &Text) {
    return Text.find("# Counters of the latest attempt") != std::string::npos;
  }
};
} // namespace

// Each plan is shown the counters of the node that was selected, and a node is
// profiled once; nothing that was counted ends the fence.
TEST_F(CountersTest, ShownToPlan) {
  Options.Attempts = 3;
  Options.Policy.RootThrottle = 2;
  Judge.Of[1] = Judge.Of[2] = correctIn(200);
  llvm::cantFail(search());
  const std::string &First = Model.Questions["0001-plan-1"];
  EXPECT_TRUE(shows(First));
  EXPECT_NE(First.find("simulated Fake GPU"), std::string::npos);
  EXPECT_NE(First.find("  line 4: load of global memory: 32.0 sectors a "
                       "request, 4.0 would do\n'''\n```\n"),
            std::string::npos);
  EXPECT_FALSE(shows(Model.Questions["0001-code-1"]));
  EXPECT_TRUE(shows(Model.Questions["0002-plan-1"]));
  EXPECT_EQ(std::count(Profile.Asked.begin(), Profile.Asked.end(), 0u), 1);
  EXPECT_NE(journal().find("\"event\":\"counters\""), std::string::npos);
}

// Without them, request and journal are as they were before there were any.
TEST_F(CountersTest, Off) {
  Options.CountersOf.clear();
  llvm::cantFail(search());
  EXPECT_FALSE(shows(Model.Questions["0001-plan-1"]));
  EXPECT_TRUE(Profile.Asked.empty());
  EXPECT_EQ(journal().find("counters"), std::string::npos);
  EXPECT_EQ(llvm::cantFail(readFile(Run + "/run.json")).find("counters"),
            std::string::npos);
}

// A run that goes on asks what it asked, and looks at nothing again.
TEST_F(CountersTest, Resumed) {
  Options.Attempts = 4;
  llvm::cantFail(search());
  std::string Whole = journal();
  auto Questions = Model.Questions;
  for (int After : {0, 1, 3, 5}) {
    Run = Folder.path().str() + "/run" + std::to_string(After);
    Model.SuspendAfter = After;
    Model.Questions.clear();
    EXPECT_TRUE(llvm::errorToBool(search().takeError()));
    Model.SuspendAfter = 1000;
    llvm::cantFail(search());
    EXPECT_EQ(journal(), Whole) << After;
    EXPECT_EQ(Model.Questions, Questions) << After;
    for (const std::string &Note : Observer.All)
      EXPECT_EQ(Note.find("is rendered otherwise"), std::string::npos) << Note;
  }
}

// Why there are none is said once, and the plan is asked all the same.
TEST_F(CountersTest, Unsupported) {
  Profile.Of[0].Problem = "the simulator cannot run inline assembly at line 5";
  Profile.Of[1].Problem = "another one";
  Options.Attempts = 4;
  llvm::cantFail(search());
  const std::string &First = Model.Questions["0001-plan-1"];
  EXPECT_FALSE(shows(First));
  EXPECT_NE(First.find("# No counters of the latest attempt"),
            std::string::npos);
  EXPECT_NE(First.find("```\nthe simulator cannot run inline assembly at line "
                       "5\n```\n"),
            std::string::npos);
  EXPECT_EQ(Observer.All,
            std::vector<std::string>{
                "plans are shown no counters of node 0: the simulator cannot "
                "run inline assembly at line 5"});
}

// After one that was too slow no other is waited for.
TEST_F(CountersTest, TooSlow) {
  Profile.Of[0].Problem = "the simulator did not end within 60 s";
  Profile.Of[0].TooSlow = true;
  Options.Attempts = 5;
  llvm::cantFail(search());
  EXPECT_EQ(Profile.Asked, std::vector<unsigned>{0});
  EXPECT_EQ(Observer.All.size(), 1u);
  for (const auto &[Id, Text] : Model.Questions)
    if (Id.find("plan") != std::string::npos && Id > "0002") {
      EXPECT_NE(Text.find("failed. It says nothing of how the attempt was "
                          "judged"),
                std::string::npos)
          << Id;
    }
}

// With several attempts in flight each has its own in the journal, so that the
// run can be made again in any order.
TEST_F(CountersTest, SeveralJobs) {
  Options.Attempts = 6;
  Options.Jobs = 3;
  llvm::cantFail(search());
  RecordedRun Before = llvm::cantFail(readRun(Run));
  for (size_t I = 1; I < Before.Attempts.size(); ++I)
    EXPECT_NE(Before.Attempts[I].Select->Debug,
              Before.Attempts[I].Found.has_value())
        << I;
}

// Another GPU's counters would make other requests.
TEST_F(CountersTest, Agreed) {
  llvm::cantFail(search());
  Options.CountersOf = "sim:other";
  auto Result = search();
  ASSERT_FALSE(bool(Result));
  std::string Problem = llvm::toString(Result.takeError());
  for (const char *Part : {"counters", "sim:fake", "sim:other"})
    EXPECT_NE(Problem.find(Part), std::string::npos) << Problem;
}

// A journal whose counters are of another text is not believed.
TEST_F(CountersTest, Event) {
  CountersEvent E{3, 1, "ab", {"device", "text", "problem", true}};
  CountersEvent Back = llvm::cantFail(parseEvent<CountersEvent>(printEvent(E)));
  EXPECT_EQ(Back.Attempt, 3u);
  EXPECT_EQ(Back.Node, 1u);
  EXPECT_EQ(Back.Found, E.Found);
  for (const char *Bad :
       {"[]", "{}", "{\"attempt\":-2,\"node\":0}", "{\"attempt\":\"x\"}"})
    EXPECT_TRUE(llvm::errorToBool(parseEvent<CountersEvent>(Bad).takeError()));
}
