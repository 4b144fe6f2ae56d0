//===- CheckCandidateTest.cpp - Candidates that no parser can bear --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/CheckCandidate.h"
#include "SearchFixture.h"

using namespace stark;

/// 2^60 different types, which no machine can hold or count to.
static const char Templates[] = R"(
template <int N, unsigned long long Path> struct Tree {
  static const int Value =
      Tree<N - 1, Path * 2>::Value + Tree<N - 1, Path * 2 + 1>::Value;
};
template <unsigned long long Path> struct Tree<0, Path> {
  static const int Value = 1;
};
static_assert(Tree<60, 1>::Value, "");
)";

/// 2^60 words.
static std::string macros() {
  std::string Text = "#define WORDS0 +1\n";
  for (int I = 1; I <= 60; ++I) {
    std::string Half = " WORDS" + std::to_string(I - 1);
    Text += "#define WORDS" + std::to_string(I) + Half + Half + "\n";
  }
  return Text + "static const int Sum = 0 WORDS60;\n";
}

namespace {
struct CheckCandidate : SearchTest {
  std::string check(const std::string &Text, bool Known = false,
                    std::optional<Told> To = std::nullopt) {
    llvm::Expected<std::optional<Verdict>> V =
        checkCandidate({T, To, Text, Known, nullptr, Limits});
    if (!V)
      return "error: " + llvm::toString(V.takeError());
    return *V ? verdictName((*V)->Kind).str() + ": " + (*V)->Compiler : "";
  }
  posix::ChildLimits Limits;
};
} // namespace

TEST_F(CheckCandidate, AnHonestOneIsFine) {
  EXPECT_EQ(check(std::string(Source) + "// and more\n"), "");
  EXPECT_NE(check(std::string(Source) + "void more() {}\n")
                .find("contract-broken: line 10: "),
            std::string::npos);
}

TEST_F(CheckCandidate, OneWithoutEndIsNotCompiled) {
  Limits.CpuMs = 1000;
  for (const std::string &Bomb : {std::string(Templates), macros()})
    EXPECT_EQ(check(Source + Bomb),
              "not-compiled: Clang cannot read it: it takes more than 1 s to "
              "parse");
  Limits = posix::ChildLimits();
  Limits.Bytes = 48 << 20;
  EXPECT_EQ(check(std::string(Source) + Templates),
            "not-compiled: Clang cannot read it: it takes more than 48 MiB to "
            "parse");
}

// Only where it may change is asked of a text that was judged before.
TEST_F(CheckCandidate, OneThatIsKnownIsNotParsedAgain) {
  EXPECT_EQ(check(std::string(Source) + Templates, /*Known=*/true), "");
}

// The verdict is kept: a run that goes on never meets it again.
TEST_F(CheckCandidate, ABombEndsAnAttemptAndNotTheRun) {
  std::string Honest = kernel("x[i] + x[i]");
  std::string Bomb = Honest;
  Bomb.insert(Bomb.find("__global__"), Templates);
  Model.Answers["0001-code-1"] = Bomb;
  Model.Answers["0002-code-1"] = Honest;
  Setup.Check.CpuMs = 1000;
  Options.Attempts = 3;
  Model.SuspendAfter = 2;
  EXPECT_EQ(problem(), "no answer yet");
  std::string Before = journal();
  EXPECT_NE(Before.find("it takes more than 1 s to parse"), std::string::npos);
  EXPECT_EQ(Judge.Judged, std::vector<unsigned>{0});
  // Were it parsed again, it would now be said to take more than a minute.
  Setup.Check.CpuMs = 60000;
  Model.SuspendAfter = 1000;
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(journal().substr(0, Before.size()), Before);
  EXPECT_EQ(Judge.Judged.at(1), 2u);
}
