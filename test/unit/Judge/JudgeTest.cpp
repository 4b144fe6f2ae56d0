//===- JudgeTest.cpp - What a job comes to, whatever runs it --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRunner.h"
#include <cstring>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
Job exampleJob() {
  Job J;
  J.Id = "attempt-1";
  J.SourceLibrary = "source.so";
  J.CandidateLibrary = "candidate.so";
  J.SourceDigest = "s";
  J.CandidateDigest = "c";
  Leaf X, Y, N;
  X.Name = "x";
  Y.Name = "y";
  Y.Use = Role::Output;
  Y.Tolerance = 1e-5;
  N.Name = "n";
  N.Kind = LeafKind::Integer;
  J.Leaves = {X, Y, N};
  for (int64_t Count : {8, 3}) {
    Case C;
    C.Label = "n=" + std::to_string(Count);
    C.Timed = Count == 8;
    C.Values.resize(3);
    C.Values[0].Shape = C.Values[1].Shape = {Count};
    C.Values[2].Integer = Count;
    J.Cases.push_back(C);
  }
  J.Seeds = {1, 2};
  return J;
}

/// Both give the seed in every element; one line is kept of each call.
class LoggingRunner : public FakeRunner {
public:
  void identify(Result &Out) override { Out.Device = "fake"; }
  MaybeStop open(const Job &TheJob, Result &Out) override {
    Out.Driver = "opened";
    return FakeRunner::open(TheJob, Out);
  }
  void plan(const std::vector<Trial> &Trials) override {
    Planned = Trials.size();
  }
  SourceEnd source(const Trial &T) override {
    log("source", T);
    return FakeRunner::source(T);
  }
  MaybeStop candidate(const Trial &T) override {
    log("candidate", T);
    return FakeRunner::candidate(T);
  }
  std::string nameOf(const Trial &T) const override {
    return T.Round ? "again" : "call";
  }
  MaybeStop leaveOut(unsigned Case) override {
    Calls += "leave out " + J->Cases[Case].Label + "\n";
    return std::nullopt;
  }
  MaybeStop time(unsigned Case, std::vector<Timing> &Timings,
                 std::string &Notes) override {
    Calls += "time " + J->Cases[Case].Label + "\n";
    Timings.emplace_back();
    Timings.back().Label = J->Cases[Case].Label;
    Timings.back().MedianUs = Timings.back().SourceMedianUs = 5 + Case;
    Notes += "figures of " + J->Cases[Case].Label + "\n";
    return std::nullopt;
  }

  void profile(const std::vector<unsigned> &Cases, Result &Out) override {
    for (unsigned Case : Cases)
      Calls += "profile " + J->Cases[Case].Label + "\n";
    Out.Counted.emplace().Text = "bound by it\n";
  }

  /// Does \p Work as a stage of its own.
  void tell(const char *Name, const std::function<void()> &Work) {
    Stages::Scope S(Log, Name);
    Work();
  }

  std::string Calls;
  size_t Planned = 0;

private:
  void log(const char *Who, const Trial &T) {
    Calls += std::string(Who) + " " + J->Cases[T.Case].Label + " seed " +
             std::to_string(T.Seed) + " round " + std::to_string(T.Round) +
             "\n";
  }
  float value(const Trial &T, size_t) const override { return float(T.Seed); }
};

class JudgeTest : public JudgeFixture<LoggingRunner> {
protected:
  JudgeTest() { J = exampleJob(); }
};
} // namespace

// Small sizes first, every seed, twice each; then what is timed.
TEST_F(JudgeTest, TheOrderOfAJob) {
  J.Seeds = {1};
  R.Candidate = [&](const Trial &) {
    Time.advance(std::chrono::milliseconds(5));
    return std::nullopt;
  };
  Result Out = run();
  EXPECT_EQ(R.Calls, "source n=3 seed 1 round 0\n"
                     "candidate n=3 seed 1 round 0\n"
                     "source n=3 seed 1 round 1\n"
                     "candidate n=3 seed 1 round 1\n"
                     "source n=8 seed 1 round 0\n"
                     "candidate n=8 seed 1 round 0\n"
                     "source n=8 seed 1 round 1\n"
                     "candidate n=8 seed 1 round 1\n"
                     "time n=8\n");
  EXPECT_EQ(R.Planned, 4u);
  EXPECT_EQ(Out.End, Outcome::Correct);
  EXPECT_EQ(Out.Diagnostics, "figures of n=8\n");
  EXPECT_EQ(Out.Timings.size(), 1u);
  EXPECT_EQ(Out.Id + Out.SourceDigest + Out.CandidateDigest, "attempt-1sc");
  EXPECT_EQ(Out.Device + Out.Driver, "fakeopened");
  EXPECT_EQ(Out.WallMs, 20u);
}

// What is asked for is counted last, with a size that was timed, and of what is
// correct alone.
TEST_F(JudgeTest, Counters) {
  J.Seeds = {1};
  J.ProfiledText = "k.cu";
  Result Out = run();
  EXPECT_EQ(R.Calls.substr(R.Calls.find("time")), "time n=8\nprofile n=8\n");
  std::string Error;
  Result Back = parseResult(printResult(Out), "result", Error);
  EXPECT_EQ(Error, "");
  ASSERT_TRUE(Back.Counted);
  EXPECT_EQ(Back.Counted->Text, "bound by it\n");
  R.Calls.clear();
  R.Candidate = [](const Trial &) { return Stop{Outcome::Crashed, "no"}; };
  EXPECT_FALSE(run().Counted);
  EXPECT_EQ(R.Calls.find("profile"), std::string::npos);
}

// Of four sizes, the one that takes longest and the shortest ones; where none
// is timed, by their outputs.
TEST_F(JudgeTest, CountersOfSizes) {
  J.ProfiledText = "k.cu";
  for (Case &C : J.Cases)
    C.Timed = true;
  run();
  EXPECT_EQ(R.Calls.substr(R.Calls.find("profile")),
            "profile n=3\nprofile n=8\n");
  auto Kept = J.Cases;
  while (J.Cases.size() < 6) {
    J.Cases.push_back(J.Cases[0]);
    J.Cases.back().Label += " number " + std::to_string(J.Cases.size());
  }
  R.Calls.clear();
  run();
  EXPECT_EQ(R.Calls.substr(R.Calls.find("profile")),
            "profile n=8 number 6\nprofile n=8\nprofile n=3\n"
            "profile n=8 number 3\n");
  J.Cases = Kept;
  for (Case &C : J.Cases)
    C.Timed = false;
  R.Calls.clear();
  run();
  EXPECT_EQ(R.Calls.substr(R.Calls.find("profile")),
            "profile n=8\nprofile n=3\n");
}

// A result says where its time went: what the judge does and, of a runner, what
// that tells.
TEST_F(JudgeTest, StagesSayWhereTheTimeWent) {
  J.Seeds = {1};
  J.Cases.resize(1);
  R.Candidate = [&](const Trial &) {
    R.tell("set up", [&] { Time.advance(std::chrono::milliseconds(2)); });
    Time.advance(std::chrono::milliseconds(3));
    return std::nullopt;
  };
  std::string Text;
  for (const Stage &S : run().Stages)
    Text += S.Name + " " + S.Label + " " + std::to_string(S.BeginUs) + " to " +
            std::to_string(S.EndUs) + "\n";
  EXPECT_EQ(Text, "open  0 to 0\n"
                  "source n=8 0 to 0\n"
                  "set up  0 to 2000\n"
                  "candidate n=8 0 to 5000\n"
                  "compare n=8 5000 to 5000\n"
                  "source n=8 5000 to 5000\n"
                  "set up  5000 to 7000\n"
                  "candidate n=8 5000 to 10000\n"
                  "compare n=8 10000 to 10000\n"
                  "time n=8 10000 to 10000\n");
}

TEST_F(JudgeTest, AWrongOutput) {
  R.Candidate = [&](const Trial &T) {
    R.Ours[2] += T.Seed == 2;
    return std::nullopt;
  };
  EXPECT_EQ(end().substr(0, 75), "wrong: output 'y' is wrong (call with size "
                                 "'n=3', seed 2).\n1 of 3 elements ");
}

TEST_F(JudgeTest, AnOutputThatChangesWithTheSameInputs) {
  R.Candidate = [&](const Trial &T) {
    R.Ours[0] += float(T.Round);
    return std::nullopt;
  };
  EXPECT_EQ(end().substr(0, 60), "unstable: output 'y' is wrong (again with "
                                 "size 'n=3', seed 1");
}

// How a candidate fails is the runner's to say; no timing is left.
TEST_F(JudgeTest, ACandidateThatFails) {
  R.Candidate = [](const Trial &T) -> MaybeStop {
    if (T.Case == 0)
      return Stop{Outcome::Crashed, "illegal address"};
    return std::nullopt;
  };
  Result Out = run();
  EXPECT_EQ(Out.End, Outcome::Crashed);
  EXPECT_EQ(Out.Diagnostics, "illegal address");
  EXPECT_TRUE(Out.Timings.empty());
  EXPECT_EQ(R.Calls.find("time"), std::string::npos);
}

// Only a size of the tool's own making is left out when the source cannot do
// it: because it fails there, or leaves a part of the output alone.
TEST_F(JudgeTest, WhatTheSourceCannotDo) {
  R.Source = [](const Trial &T) -> SourceEnd {
    if (T.Case == 1)
      return {SourceEnd::Failed, "the source itself fails"};
    return {};
  };
  EXPECT_EQ(end(), "infrastructure: the source itself fails");
  J.Cases[1].Added = true;
  R.Calls.clear();
  EXPECT_EQ(end(), "correct: figures of n=8\nsize 'n=3' was left out: the "
                   "source itself cannot do it\n");
  EXPECT_EQ(R.Calls.substr(0, 41 + 26), "source n=3 seed 1 round 0\nleave out "
                                        "n=3\nsource n=8 seed 1 round 0\nc");
}

TEST_F(JudgeTest, GapsThatTheSourceLeaves) {
  R.Source = [&](const Trial &T) {
    uint32_t Poison = poisonPattern(DType::F32, T.Round);
    if (T.Case == 1)
      std::memcpy(&R.Theirs[2], &Poison, 4);
    return SourceEnd();
  };
  // In a size of the user's the candidate must leave them as well.
  EXPECT_EQ(end().substr(0, 58),
            "wrong: output 'y' is wrong (call with size 'n=3', seed 1).");
  J.Cases[1].Added = true;
  EXPECT_EQ(end(), "correct: figures of n=8\nsize 'n=3' was left out: the "
                   "source itself cannot do it\n");
  R.Rule.GapsLeaveOut = false;
  EXPECT_EQ(end().substr(0, 58),
            "wrong: output 'y' is wrong (call with size 'n=3', seed 1).");
}

TEST_F(JudgeTest, ASizeThatIsTooLarge) {
  R.Source = [](const Trial &T) -> SourceEnd {
    if (T.Case == 0)
      return {SourceEnd::TooLarge, "too much for a fake"};
    return {};
  };
  EXPECT_EQ(end(), "correct: figures of n=8\nsize 'n=8' was not compared: too "
                   "much for a fake\n");
  EXPECT_NE(R.Calls.find("time n=8"), std::string::npos);
}

// A runner says what it can afford.
TEST_F(JudgeTest, WhatIsPlanned) {
  CompareRule Rule;
  EXPECT_EQ(planTrials(J, Rule).size(), 8u);
  EXPECT_EQ(planTrials(J, Rule)[7].Index, 7u);
  Rule.Rounds = 1;
  EXPECT_EQ(planTrials(J, Rule).size(), 4u);
  Rule.ManySeedsMaxBytes = 24; // x and y of n=3
  EXPECT_EQ(planTrials(J, Rule).size(), 3u);
  Rule.MaxBytes = 63;
  EXPECT_EQ(planTrials(J, Rule).size(), 2u);
  // Where all are too large, the smallest may still be affordable.
  Rule.MaxBytes = 23;
  EXPECT_EQ(planTrials(J, Rule).size(), 0u);
  Rule.OnlyMaxBytes = 23;
  EXPECT_EQ(planTrials(J, Rule).size(), 0u);
  Rule.OnlyMaxBytes = 1000;
  ASSERT_EQ(planTrials(J, Rule).size(), 2u);
  EXPECT_EQ(J.Cases[planTrials(J, Rule)[1].Case].Label, "n=3");
  Rule.Compares = false;
  EXPECT_EQ(planTrials(J, Rule).size(), 0u);
}

TEST_F(JudgeTest, NothingToCompare) {
  R.Rule.MaxBytes = 1;
  R.Rule.Place = "the fake";
  EXPECT_EQ(end(), "infrastructure: no size is small enough to be compared on "
                   "the fake; add one with \"check_only\": true to the "
                   "workload");
  R.Rule.Compares = false;
  EXPECT_EQ(end(), "correct: figures of n=8\n");
}

// What the candidate computed for the smallest size and first seed is kept,
// right or wrong.
TEST_F(JudgeTest, OutputsAreKept) {
  Outputs = (Folder / "out").string();
  R.Candidate = [&](const Trial &) {
    R.Ours[0] = 7;
    return std::nullopt;
  };
  EXPECT_EQ(run().End, Outcome::Wrong);
  std::string Error;
  std::optional<std::string> Kept = posix::readFile(Outputs + ".1.npy", Error);
  ASSERT_TRUE(Kept) << Error;
  ASSERT_EQ(Kept->size(), 128u + 12u);
  float Values[3];
  std::memcpy(Values, Kept->data() + 128, sizeof(Values));
  EXPECT_EQ(Values[0], 7);
  EXPECT_EQ(Values[2], 1);

  Outputs = "/dev/null/out";
  EXPECT_EQ(end(), "infrastructure: cannot write '/dev/null/out.1.npy': Not a "
                   "directory");
}

TEST_F(JudgeTest, AJobThatCannotBeRead) {
  Result Out = judge::judge(Folder.string(), R, "", Time);
  EXPECT_EQ(Out.End, Outcome::Infrastructure);
  EXPECT_EQ(Out.Diagnostics, "cannot read '" + (Folder / "job.json").string() +
                                 "': No such file or directory");
  EXPECT_EQ(Out.Device, "fake");
  J.TimeoutMs = 0;
  EXPECT_EQ(end(), "infrastructure: " + (Folder / "job.json").string() +
                       ": field 'timeout_ms': got 0, wanted 1 ms to a day");
}
