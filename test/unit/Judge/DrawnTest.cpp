//===- DrawnTest.cpp - Sizes and values that the tool adds ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRunner.h"
#include <cmath>
#include <set>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Both give whole numbers that follow from the trial.
class PlainRunner : public FakeRunner {
public:
  double slack(const Trial &T, unsigned) override {
    return J->Cases[T.Case].Filling == Shaky ? 1e5 : 1;
  }
  std::optional<Regime> Shaky;

private:
  float value(const Trial &T, size_t I) const override {
    return float(T.Seed + I);
  }
};

class DrawnTest : public JudgeFixture<PlainRunner> {
protected:
  DrawnTest() {
    J.Id = "attempt-1";
    J.SourceLibrary = "source.so";
    J.CandidateLibrary = "candidate.so";
    J.SourceDigest = "s";
    J.CandidateDigest = "c";
    Leaf X, Y;
    X.Name = "x";
    Y.Name = "y";
    Y.Use = Role::Output;
    Y.Tolerance = 1e-4;
    J.Leaves = {X, Y};
    J.Seeds = {1, 2};
    add(8, Regime::Given).Timed = true;
  }
  Case &add(int64_t Count, Regime Values) {
    Case C;
    C.Label = "n=" + std::to_string(Count) + " " + nameOf(Values);
    C.Timed = false;
    C.Values.resize(2);
    C.Values[0].Shape = C.Values[1].Shape = {Count};
    C.Filling = Values;
    J.Cases.push_back(C);
    return J.Cases.back();
  }
  void addDrawn(unsigned Count) {
    for (unsigned I = 0; I < Count; ++I) {
      Case &C = add(100 + I, Regime::Given);
      C.Added = C.Brief = C.Drawn = true;
    }
  }
  void addRegime(Regime Values) {
    Case &C = add(4, Values);
    C.Added = C.Brief = true;
  }
};
} // namespace

// An attempt is compared with as many as it says, which ones nobody knows
// before; a confirmation with all. Each with one seed, once, after the others.
TEST_F(DrawnTest, SomeOfManyAreCompared) {
  addDrawn(20);
  CompareRule Rule;
  auto Labels = [&] {
    std::set<std::string> Drawn;
    for (const Trial &T : planTrials(J, Rule))
      if (J.Cases[T.Case].Drawn) {
        EXPECT_TRUE(Drawn.insert(J.Cases[T.Case].Label).second);
      }
    return Drawn;
  };
  EXPECT_EQ(Labels().size(), 20u);
  J.DrawnCases = 5;
  std::set<std::string> All;
  for (Rule.DrawSeed = 0; Rule.DrawSeed < 40; ++Rule.DrawSeed) {
    std::set<std::string> Now = Labels();
    EXPECT_EQ(Now.size(), 5u);
    EXPECT_EQ(Now, Labels());
    All.insert(Now.begin(), Now.end());
  }
  EXPECT_EQ(All.size(), 20u);
  EXPECT_EQ(planTrials(J, Rule)[0].Case, 0u);
  Rule.BriefMaxBytes = 104 * 8; // n=100 to n=104
  EXPECT_EQ(Labels().size(), 5u);
  Rule.MostDrawn = 2;
  EXPECT_EQ(Labels().size(), 2u);
}

// A source that fails at three of them is not tried at the others: each takes
// a new process. They are no reason to refuse anything.
TEST_F(DrawnTest, WhatTheSourceCannotDo) {
  addDrawn(20);
  unsigned Failures = 0;
  R.Source = [&](const Trial &T) -> SourceEnd {
    if (!J.Cases[T.Case].Drawn)
      return {};
    ++Failures;
    return {SourceEnd::Failed, "it crashed"};
  };
  EXPECT_EQ(end(), "correct: 20 of the sizes and values to draw from were left "
                   "out: the source itself cannot do them\n");
  EXPECT_EQ(Failures, 3u);
}

// Where a right answer is made of whole numbers that every sum holds, a
// candidate comes to the same, whatever the tolerance.
TEST_F(DrawnTest, WholeNumbersAreExact) {
  addRegime(Regime::Integers);
  J.Leaves[1].Tolerance = 0.5;
  R.Candidate = [&](const Trial &T) -> MaybeStop {
    R.Ours[0] += J.Cases[T.Case].Filling == Regime::Integers ? 1 : 0.1f;
    return std::nullopt;
  };
  Result Out = run();
  EXPECT_EQ(Out.End, Outcome::Wrong);
  EXPECT_TRUE(Out.RightAsShipped);
  EXPECT_NE(Out.Diagnostics.find("Allowed: |got - wanted| <= 0 *"),
            std::string::npos)
      << Out.Diagnostics;
  // Not where the source rounds, too.
  R.Source = [&](const Trial &) {
    R.Theirs[1] += 0.25f;
    return SourceEnd();
  };
  EXPECT_EQ(run().End, Outcome::Correct);
}

// Values with which the source overflows, or answers with its own rounding, say
// nothing; they are left out, which is said.
TEST_F(DrawnTest, ValuesThatSayNothing) {
  addRegime(Regime::Huge);
  addRegime(Regime::EqualRows);
  R.Shaky = Regime::EqualRows;
  R.Source = [&](const Trial &T) {
    if (J.Cases[T.Case].Filling == Regime::Huge)
      R.Theirs[1] = INFINITY;
    return SourceEnd();
  };
  R.Candidate = [&](const Trial &T) -> MaybeStop {
    EXPECT_EQ(J.Cases[T.Case].Filling, Regime::Given);
    return std::nullopt;
  };
  EXPECT_EQ(end(),
            "correct: size 'n=4 huge' was left out: the source gives "
            "infinities or NaN there\nsize 'n=4 equal rows' was left out: what "
            "the source gives there is mostly its own rounding\n");
}

// The result says with what it was compared.
TEST_F(DrawnTest, WhatWasProved) {
  addRegime(Regime::Tiny);
  addRegime(Regime::Zeros);
  addDrawn(2);
  EXPECT_EQ(run().Proved,
            (std::vector<std::string>{"values as the workload says, at 3 sizes",
                                      "other values: tiny, zeros"}));
  R.Candidate = [&](const Trial &) -> MaybeStop {
    return Stop{Outcome::Crashed, "boom"};
  };
  EXPECT_TRUE(run().Proved.empty());
}

// Small beside its row, a column was left out: no element tells, it does.
TEST_F(DrawnTest, AColumnThatWasLeftOut) {
  J.Cases[0].Values[1].Shape = {64, 40};
  auto Of = [](std::vector<float> &V) {
    for (size_t I = 0; I < V.size(); ++I)
      V[I] = I % 40 == 3 ? 1e-4f : float(1 + I % 7);
  };
  R.Source = [&](const Trial &) {
    Of(R.Theirs);
    return SourceEnd();
  };
  R.Candidate = [&](const Trial &) -> MaybeStop {
    Of(R.Ours);
    return std::nullopt;
  };
  EXPECT_EQ(run().End, Outcome::Correct);
  R.Candidate = [&](const Trial &) -> MaybeStop {
    Of(R.Ours);
    for (size_t I = 3; I < R.Ours.size(); I += 40)
      R.Ours[I] = 0;
    return std::nullopt;
  };
  std::string End = end();
  EXPECT_NE(End.find("but column 3 as a whole: off by"), std::string::npos)
      << End;
}
