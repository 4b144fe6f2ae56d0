//===- TuneTest.cpp - The best instance of what was found -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

using namespace stark;

namespace {
/// Every node takes half a minute.
struct SlowNodes : SearchObserver {
  FakeClock Time;
  std::vector<std::string> Notes;
  void onNode(unsigned, const Node &N, const Tree &, bool Recorded) override {
    if (!Recorded)
      Time.sleep(std::chrono::seconds(30));
  }
  void onNote(llvm::StringRef Note) override { Notes.push_back(Note.str()); }
};

/// Its budget is spent at some request.
struct PoorModel : FakeModel {
  std::string Last;
  llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                     const CallControl &C) override {
    if (R.Id == Last)
      return llvm::make_error<BudgetSpent>("budget spent: all of it");
    return FakeModel::complete(R, C);
  }
};

struct TuneTest : SearchTest {
  SlowNodes Watch;
  TuneTest() {
    take(TunableSource);
    Options.Tune.Candidates = 4;
    Setup.Time = &Watch.Time;
  }
  SearchOutcome tuned() {
    return llvm::cantFail(runSearch(Setup, Options, Run, Watch));
  }
};
} // namespace

// The fastest node gets children with other numbers, without a model; the
// fastest of those wins.
TEST_F(TuneTest, VariantsOfTheFastest) {
  Judge.Of[1] = correctIn(40);
  Judge.Of[4] = correctIn(20);
  SearchOutcome O = tuned();
  EXPECT_EQ(O.Winner, 4);
  ASSERT_EQ(O.Nodes.size(), 3u + 4u);
  EXPECT_EQ(Model.Asked.size(), 4u);
  for (unsigned N = 3; N < O.Nodes.size(); ++N) {
    EXPECT_TRUE(O.Nodes.node(N).Tuned);
    EXPECT_EQ(O.Nodes.node(N).Parent, 1);
  }
  // The gain is gone on from.
  EXPECT_EQ(O.Nodes.node(3).Given.Title, "kBlock = 128");
  EXPECT_EQ(O.Nodes.node(4).Given.Title, "kBlock = 32");
  EXPECT_EQ(O.Nodes.node(5).Given.Title, "kBlock = 16");
  std::string Wanted = O.Nodes.node(1).Text;
  Wanted.replace(Wanted.find("= 64"), 4, "= 32");
  EXPECT_EQ(O.Nodes.node(4).Text, Wanted);
  EXPECT_EQ(Watch.Notes.back(), "tuned node 1: kBlock = 32, of 4 variants");
}

// What no GPU can run is not judged.
TEST_F(TuneTest, BeyondEveryGpu) {
  std::string Text = TunableSource;
  Text.replace(Text.find("= 64"), 4, "= 1024");
  take(Text);
  Options.Attempts = 0;
  Options.Tune.Candidates = 1;
  SearchOutcome O = tuned();
  EXPECT_EQ(Watch.Notes.front(), "not tried, kBlock = 2048: 2048 threads a "
                                 "block, at most 1024 there are");
  EXPECT_EQ(O.Nodes.node(1).Given.Title, "kBlock = 512");
}

// Nor what has more registers than there are, as the fastest has them.
TEST_F(TuneTest, Registers) {
  Options.Attempts = 0;
  Options.Tune.Candidates = 1;
  Judge.Of[0] = correctIn(100);
  Judge.Of[0].Compiler = "scale: 255 registers, 0 bytes of static shared "
                         "memory, no spills\n";
  std::string Text = TunableSource;
  Text.replace(Text.find("= 64"), 4, "= 256");
  take(Text);
  EXPECT_EQ(tuned().Nodes.node(1).Given.Title, "kBlock = 128");
  EXPECT_EQ(Watch.Notes.front(),
            "not tried, kBlock = 512: 512 threads a block have 131072 "
            "registers, at most 65536 there are");
}

// Nor what takes by far longer in a model.
TEST_F(TuneTest, SlowInTheModel) {
  Options.Attempts = 0;
  Options.Tune.Candidates = 3;
  std::vector<std::string> Modelled;
  Setup.Modelled =
      [&](llvm::StringRef Text) -> llvm::Expected<std::optional<double>> {
    size_t At = Text.find("kBlock = ") + 9;
    Modelled.push_back(Text.slice(At, Text.find(';', At)).str());
    if (Modelled.back() == "128")
      return 15;
    if (Modelled.back() == "16")
      return std::nullopt;
    return Modelled.back() == "32" ? 14.9 : 10;
  };
  SearchOutcome O = tuned();
  EXPECT_EQ(Modelled, (std::vector<std::string>{"64", "128", "32", "16", "8"}));
  EXPECT_EQ(Watch.Notes.front(),
            "not tried, kBlock = 128: modelled to take 1.5 times as long");
  EXPECT_EQ(O.Nodes.node(1).Given.Title, "kBlock = 32");
  EXPECT_EQ(O.Nodes.node(2).Given.Title, "kBlock = 16");
}

// What a run left out, it leaves out when it goes on without a model.
TEST_F(TuneTest, GoesOnWithoutTheModel) {
  Options.Attempts = 0;
  Options.Tune.Candidates = 2;
  Setup.Modelled = [&](llvm::StringRef Text) {
    return llvm::Expected<std::optional<double>>(
        Text.contains("kBlock = 128") ? 20 : 10);
  };
  SearchOutcome O = tuned();
  EXPECT_EQ(O.Nodes.node(1).Given.Title, "kBlock = 32");
  std::string Whole = journal();
  Setup.Modelled = nullptr;
  EXPECT_EQ(tuned().Nodes.node(2).Given.Title, O.Nodes.node(2).Given.Title);
  EXPECT_EQ(journal(), Whole);
}

// A simulator that fails is no reason to end.
TEST_F(TuneTest, NoModel) {
  Options.Attempts = 0;
  Options.Tune.Candidates = 2;
  Setup.Modelled =
      [](llvm::StringRef) -> llvm::Expected<std::optional<double>> {
    return failed("no room");
  };
  EXPECT_EQ(tuned().Nodes.size(), 3u);
  EXPECT_EQ(Watch.Notes.front(),
            "other numbers are tried without a model: no room");
}

// Without a number to tune, the run is as it would be otherwise.
TEST_F(TuneTest, NothingToTune) {
  take(Source);
  EXPECT_EQ(tuned().Nodes.size(), 3u);
  EXPECT_EQ(Watch.Notes.back(), "node 1 has no number to tune");
}

// No variant is begun after so many seconds; a run that goes on has what is
// left of them, and one that is made again is not decided by a clock.
TEST_F(TuneTest, Minutes) {
  Options.Attempts = 1;
  Options.Tune = {0, /*Seconds=*/80};
  Judge.SuspendAfter = 3;
  auto Cut = runSearch(Setup, Options, Run, Watch);
  EXPECT_EQ(llvm::toString(Cut.takeError()), "no result yet");
  EXPECT_NE(journal().find("\"spent_s\":30"), std::string::npos);
  Judge.SuspendAfter = 1000;
  EXPECT_EQ(tuned().Nodes.size(), 2u + 3u);
  std::string Whole = journal();

  auto Spent = llvm::cantFail(readTuned(Run));
  ASSERT_TRUE(Spent);
  EXPECT_EQ(*Spent, (std::vector<unsigned>{0, 30, 60}));
  Setup.Tuned = *Spent;
  Run += "-again";
  SearchObserver Quick;
  llvm::cantFail(runSearch(Setup, Options, Run, Quick));
  EXPECT_EQ(journal(), Whole);
}

// A spent budget ends the attempts and not the tuning; the run goes on from
// the middle of it.
TEST_F(TuneTest, AfterASpentBudget) {
  for (unsigned Jobs : {1u, 2u}) {
    PoorModel Poor;
    Poor.Last = "0002-code-1";
    SearchSetup ByPoor = setupWith(Poor);
    Options.Jobs = Jobs;
    Run = Folder.path().str() + "/run-" + std::to_string(Jobs);
    Judge.SuspendAfter = 3;
    auto Cut = runSearch(ByPoor, Options, Run, Observer);
    EXPECT_EQ(llvm::toString(Cut.takeError()), "no result yet");
    Judge.SuspendAfter = 1000;
    SearchOutcome O = llvm::cantFail(runSearch(ByPoor, Options, Run, Observer));
    EXPECT_EQ(O.Nodes.size(), 2u + 4u);
    EXPECT_EQ(O.Ended.By, EndedBy::Budget);
    EXPECT_TRUE(llvm::cantFail(readRun(Run)).End);
  }
}
