//===- VerdictTest.cpp - Verdicts and what a window shows ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/Formats.h"
#include "stark/Judge/Race.h"
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

namespace {
Verdict exampleVerdict() {
  Verdict V;
  V.Kind = VerdictKind::Correct;
  V.Compiler = "k: 32 registers\n";
  V.Run = "n=1: median 2.00 us\n";
  V.Device = "GPU";
  job::Timing T;
  T.Label = "n=1";
  T.Samples = 3;
  T.MedianUs = T.MinUs = 2;
  T.SourceMedianUs = T.SourceMinUs = 4;
  T.Speedup = 2;
  T.SpeedupLow = 2 * 0.999;
  T.SpeedupHigh = 2 * 1.001;
  V.Timings = {T, T};
  V.Timings[1].Label = "n=2";
  V.Timings[1].MedianUs = V.Timings[1].SourceMedianUs = 8;
  V.Timings[1].Speedup = 1;
  V.Timings[1].SpeedupLow = 0.999;
  V.Timings[1].SpeedupHigh = 1.001;
  return V;
}
} // namespace

TEST(Verdict, TheScoreIsTheGeometricMean) {
  Verdict V = exampleVerdict();
  EXPECT_DOUBLE_EQ(V.scoreUs(), 4);
  EXPECT_DOUBLE_EQ(V.speedup(), std::sqrt(2.0));
  // Processes differ, though these samples do not.
  EXPECT_NEAR(V.speedupLow(), 0.999 * std::sqrt(2.0), 1e-9);
  V.Kind = VerdictKind::Wrong;
  EXPECT_TRUE(std::isinf(V.scoreUs()));
  EXPECT_EQ(V.speedup(), 0);
  // Correct, but nothing was timed: no score.
  V = exampleVerdict();
  V.Timings.clear();
  EXPECT_TRUE(std::isinf(V.scoreUs()));
}

TEST(Verdict, ItComesBackAsItWas) {
  std::string Text = printVerdict(exampleVerdict());
  EXPECT_EQ(Text.find('\n'), std::string::npos);
  Verdict Back;
  EXPECT_EQ(readFields(json::parse(Text), "j", "verdict", Back), "");
  EXPECT_EQ(printVerdict(Back), Text);
}

TEST(Verdict, EveryKindHasAName) {
  for (int K = 0; K <= int(VerdictKind::NoCandidate); ++K) {
    std::optional<VerdictKind> Back =
        valueNamed<VerdictKind>(verdictName(VerdictKind(K)));
    ASSERT_TRUE(bool(Back));
    EXPECT_EQ(int(*Back), K);
  }
  EXPECT_FALSE(valueNamed<VerdictKind>("fast"));
}

TEST(Verdict, DamagedVerdictsAreErrors) {
  auto errorOf = [](const std::string &Text) {
    Verdict V;
    return readFields(json::parse(Text, nullptr, false), "journal, event 3",
                      "verdict", V);
  };
  const std::string NoJson = "journal, event 3: field 'verdict': got "
                             "<discarded>, wanted an object";
  EXPECT_EQ(errorOf("{"), NoJson);
  const std::string Kinds =
      "not-compiled, contract-broken, forbidden, ungrounded, unsupported, "
      "crashed, timed-out, wrong, unstable, correct or no-candidate";
  EXPECT_EQ(errorOf("{}"), "journal, event 3: field 'verdict.kind': got "
                           "nothing, wanted " +
                               Kinds);
  EXPECT_EQ(errorOf(R"({"kind":"fast"})"),
            "journal, event 3: field 'verdict.kind': got 'fast', wanted " +
                Kinds);
  std::string Text = printVerdict(exampleVerdict());
  size_t At = Text.find("\"samples\":3");
  ASSERT_NE(At, std::string::npos);
  EXPECT_EQ(errorOf(Text.replace(At, 11, "\"samples\":-")), NoJson);
}

TEST(Trim, ShortTextIsKept) {
  EXPECT_EQ(trimForWindow("a\nb\n", 100), "a\nb\n");
}

TEST(Trim, HeadAndTailAreKeptInWholeLines) {
  std::string Text;
  for (int I = 0; I < 200; ++I)
    Text += "line " + std::to_string(I) + "\n";
  for (size_t Limit : {60u, 100u, 333u, 1000u}) {
    std::string Cut = trimForWindow(Text, Limit);
    EXPECT_LE(Cut.size(), Limit);
    EXPECT_EQ(Cut.rfind("line 0\n", 0), 0u) << Cut;
    EXPECT_NE(Cut.find(" lines left out ...]\n"), std::string::npos);
  }
  std::string Cut = trimForWindow(Text, 1000);
  EXPECT_EQ(Cut.substr(Cut.size() - 9), "line 199\n");
  // What is said to be missing is what is missing.
  size_t Kept = size_t(std::count(Cut.begin(), Cut.end(), '\n')) - 1;
  EXPECT_NE(Cut.find("[... " + std::to_string(200 - Kept) + " lines"),
            std::string::npos)
      << Cut;
}

TEST(Trim, AnEndlessLineIsCut) {
  std::string Cut = trimForWindow(std::string(100000, 'x'), 200);
  EXPECT_LE(Cut.size(), 200u);
  EXPECT_NE(Cut.find("[... cut ...]"), std::string::npos);
}
