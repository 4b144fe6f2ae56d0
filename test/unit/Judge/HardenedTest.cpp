//===- HardenedTest.cpp - As shipped and hardened ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRunner.h"
#include <cmath>
#include <cstring>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Two sizes as shipped, the larger one hardened, too.
Job exampleJob() {
  Job J;
  J.Id = "attempt-1";
  J.SourceLibrary = "source.so";
  J.CandidateLibrary = "candidate.so";
  J.SourceDigest = "s";
  J.CandidateDigest = "c";
  J.Torch = "2.11.0";
  Leaf X, Y;
  X.Name = "x";
  X.Otherwise.resize(1);
  X.Otherwise[0].Of = Regime::Hardened;
  X.Otherwise[0].Fill.Kind = InitKind::Mixed;
  Y.Name = "result";
  Y.Use = Role::Output;
  Y.Tolerance = 1e-4;
  J.Leaves = {X, Y};
  for (int64_t Count : {8, 3}) {
    Case C;
    C.Label = "n=" + std::to_string(Count);
    C.Timed = Count == 8;
    C.Values.resize(2);
    C.Values[0].Shape = C.Values[1].Shape = {Count};
    J.Cases.push_back(C);
  }
  Case Hardened = J.Cases[0];
  // Its label and place in the plan say more than its size does.
  Hardened.Values[0].Shape = Hardened.Values[1].Shape = {2};
  Hardened.Label = "n=2, hardened";
  Hardened.Timed = false;
  Hardened.Filling = Regime::Hardened;
  J.Cases.push_back(Hardened);
  J.Seeds = {1, 2};
  return J;
}

/// Both give the trial's seed, plus the index.
class SlackRunner : public FakeRunner {
public:
  SourceEnd source(const Trial &T) override {
    Asked += J->Cases[T.Case].Label + " seed " + std::to_string(T.Seed) +
             " weights " + std::to_string(T.WeightSeed.value_or(T.Seed)) + "\n";
    return FakeRunner::source(T);
  }
  double slack(const Trial &, unsigned) override { return Slack; }
  std::string notes() override { return "a note of the runner's\n"; }

  double Slack = 1;
  std::string Asked;

private:
  float value(const Trial &T, size_t I) const override {
    return float(T.Seed + I);
  }
};

class HardenedTest : public JudgeFixture<SlackRunner> {
protected:
  HardenedTest() { J = exampleJob(); }
  bool isHardened(const Trial &T) {
    return J.Cases[T.Case].Filling == Regime::Hardened;
  }
};
} // namespace

// Last, small as it is: a candidate that fails there is right as shipped.
TEST_F(HardenedTest, ComesLast) {
  std::string Order;
  for (const Trial &T : planTrials(J, {}))
    if (T.Round == 0 && T.Seed == 1)
      Order += J.Cases[T.Case].Label + "; ";
  EXPECT_EQ(Order, "n=3; n=8; n=2, hardened; ");
  EXPECT_EQ(planTrials(J, {}).size(), 12u);
}

TEST_F(HardenedTest, RightAsShippedAlone) {
  R.Candidate = [&](const Trial &T) -> MaybeStop {
    R.Ours[0] += isHardened(T);
    return std::nullopt;
  };
  Result Out = run();
  EXPECT_EQ(Out.End, Outcome::Wrong);
  EXPECT_TRUE(Out.RightAsShipped);
  EXPECT_EQ(
      Out.Diagnostics.substr(0, 70),
      "output 'result' is wrong (call with size 'n=2, hardened', seed 1).\n"
      "1 o");
  // What crashes there is so as well.
  R.Candidate = [&](const Trial &T) -> MaybeStop {
    if (isHardened(T))
      return Stop{Outcome::Crashed, "boom"};
    return std::nullopt;
  };
  Out = run();
  EXPECT_EQ(Out.End, Outcome::Crashed);
  EXPECT_TRUE(Out.RightAsShipped);
}

TEST_F(HardenedTest, WrongAsShipped) {
  R.Candidate = [&](const Trial &) -> MaybeStop {
    R.Ours[0] += 1;
    return std::nullopt;
  };
  EXPECT_FALSE(run().RightAsShipped);
  R.Candidate = [](const Trial &) -> MaybeStop { return std::nullopt; };
  Result Out = run();
  EXPECT_EQ(Out.End, Outcome::Correct);
  EXPECT_FALSE(Out.RightAsShipped);
}

// What the source cannot do proves nothing of a candidate; as shipped it is
// compared, whatever it is.
TEST_F(HardenedTest, IsLeftOutWhereTheSourceIsNotFinite) {
  R.Source = [&](const Trial &T) {
    if (isHardened(T))
      R.Theirs[1] = INFINITY;
    return SourceEnd();
  };
  R.Candidate = [&](const Trial &T) -> MaybeStop {
    EXPECT_FALSE(isHardened(T));
    return std::nullopt;
  };
  EXPECT_EQ(end(), "correct: size 'n=2, hardened' was left out: the source "
                   "gives infinities or NaN there\na note of the runner's\n");
  R.Source = [&](const Trial &T) {
    if (!isHardened(T))
      R.Theirs[1] = INFINITY;
    return SourceEnd();
  };
  EXPECT_EQ(end().substr(0, 59),
            "wrong: output 'result' is wrong (call with size 'n=3', seed");
}

// A candidate may be as far off as the source itself may.
TEST_F(HardenedTest, SlackWidensTheTolerance) {
  R.Candidate = [&](const Trial &) -> MaybeStop {
    R.Ours[0] *= 1.0005f;
    return std::nullopt;
  };
  EXPECT_EQ(run().End, Outcome::Wrong);
  R.Slack = 10;
  EXPECT_EQ(run().End, Outcome::Correct);
  R.Candidate = [&](const Trial &) -> MaybeStop {
    R.Ours[0] *= 1.1f;
    return std::nullopt;
  };
  std::string End = end();
  EXPECT_NE(End.find("Allowed: |got - wanted| <= 0.001 * "), std::string::npos)
      << End;
}

// A source that is judged against itself is called with two inputs and the
// same weights; what makes it a poor test is said, and is no verdict.
TEST_F(HardenedTest, ASourceIsTriedBeforeItIsSearched) {
  EXPECT_EQ(end(), "correct: a note of the runner's\n");
  J.CandidateDigest = J.SourceDigest;
  R.Asked.clear();
  EXPECT_EQ(end(), "correct: a note of the runner's\n");
  std::string Last = "n=8 seed 1 weights 1\nn=8 seed 2 weights 1\n"
                     "n=3 seed 1 weights 1\nn=3 seed 2 weights 1\n"
                     "n=2, hardened seed 1 weights 1\n"
                     "n=2, hardened seed 2 weights 1\n";
  EXPECT_EQ(R.Asked.substr(R.Asked.size() - Last.size()), Last);
  J.MayBeDegenerate = true;
  R.Source = [&](const Trial &) {
    R.Theirs.assign(R.Theirs.size(), 3);
    return SourceEnd();
  };
  R.Candidate = [&](const Trial &) -> MaybeStop {
    R.Ours = R.Theirs;
    return std::nullopt;
  };
  std::string End = end();
  for (const char *Label : {"n=8", "n=3", "n=2, hardened"})
    for (const char *What : {"is constant: every element is about 3\n",
                             "does not depend on the input"})
      EXPECT_NE(End.find(std::string("degenerate (") + Label +
                         "): output 'result' " + What),
                std::string::npos)
          << End;
}

// A task whose right answer does not follow from its inputs, or is zero, is
// refused before a search, of pointers and tensors; a workload may want it.
TEST_F(HardenedTest, ATaskThatProvesNothingIsRefused) {
  J.CandidateDigest = J.SourceDigest;
  R.Candidate = [&](const Trial &) -> MaybeStop {
    R.Ours = R.Theirs;
    return std::nullopt;
  };
  for (const char *Torch : {"2.11.0", ""})
    for (float Value : {3.0f, 0.0f}) {
      J.Torch = Torch;
      R.Source = [&](const Trial &) {
        R.Theirs.assign(R.Theirs.size(), Value);
        return SourceEnd();
      };
      J.MayBeDegenerate = false;
      EXPECT_EQ(end().substr(0, 31), "wrong: this source is no task: ");
      J.MayBeDegenerate = true;
      EXPECT_EQ(end().substr(0, 9), "correct: ");
    }
  // One size at which it follows from them is enough.
  J.MayBeDegenerate = false;
  R.Source = [&](const Trial &T) {
    if (T.Case == 0)
      R.Theirs.assign(R.Theirs.size(), 3);
    return SourceEnd();
  };
  EXPECT_EQ(end().substr(0, 9), "correct: ");
}

// Of a size that the tool added and the source does not fill. A byte of the
// pattern is too likely as a value.
TEST_F(HardenedTest, GapsAreNotSoughtInBytes) {
  for (DType Type : {DType::U8, DType::I8, DType::Bool, DType::I16}) {
    J = exampleJob();
    J.Cases[1].Added = true;
    J.Leaves[1].Type = Type;
    J.Leaves[1].Tolerance = 0;
    R.Source = [&](const Trial &T) {
      uint32_t Poison = poisonPattern(Type, T.Round);
      R.Theirs.assign(R.Theirs.size(), 0);
      std::memcpy(R.Theirs.data(), &Poison, 4);
      return SourceEnd();
    };
    R.Candidate = [&](const Trial &) -> MaybeStop {
      R.Ours = R.Theirs;
      return std::nullopt;
    };
    EXPECT_EQ(end().find("n=3' was left out") != std::string::npos,
              Type == DType::I16)
        << nameOf(Type);
  }
}
