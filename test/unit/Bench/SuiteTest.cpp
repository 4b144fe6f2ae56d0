//===- SuiteTest.cpp -----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace stark;

static std::string problem(const char *Text) {
  auto S = parseSuite(Text, "dir/suite.json");
  return S ? "" : llvm::toString(S.takeError());
}

// Paths lie beside the suite, names come from sources, and what is wrong is
// named with its place.
TEST(Suite, Parse) {
  Suite S = llvm::cantFail(parseSuite(
      R"({"tasks": [{"source": "a/x.cu", "group": "level 1"},
                    {"source": "/b/x.cu", "name": "y", "flags": ["-DX"]}]})",
      "dir/suite.json"));
  EXPECT_EQ(S.Name, "suite");
  ASSERT_EQ(S.Tasks.size(), 2u);
  EXPECT_EQ(S.Tasks[0].Name, "x");
  EXPECT_EQ(S.Tasks[0].Source, "dir/a/x.cu");
  EXPECT_EQ(S.Tasks[1].Source, "/b/x.cu");
  EXPECT_EQ(S.Tasks[1].Flags, std::vector<std::string>{"-DX"});
  EXPECT_EQ(problem("[1"), "'dir/suite.json' is not JSON; wanted a suite");
  EXPECT_NE(problem(R"({"tasks": []})").find("'tasks'"), std::string::npos);
  EXPECT_NE(problem(R"({"tasks": [{}]})").find("'tasks[0].source'"),
            std::string::npos);
  EXPECT_NE(problem(R"({"tasks": [7]})").find("an object"), std::string::npos);
  EXPECT_NE(problem(R"({"tasks": [{"source": "x.cu"}, {"source": "x.cu"}]})")
                .find("'x' twice"),
            std::string::npos);
  // A name is a folder's.
  EXPECT_NE(problem(R"({"tasks": [{"source": "x.cu", "name": "../x"}]})")
                .find("letters, digits"),
            std::string::npos);
  EXPECT_NE(problem(R"({"tasks": [{"source": "x.cu", "speed": 1}]})")
                .find("an unknown name"),
            std::string::npos);
}

namespace {
Verdict verdict(VerdictKind Kind, double Speedup = 0) {
  Verdict V;
  V.Kind = Kind;
  if (Speedup > 0) {
    job::Timing T;
    T.MedianUs = 100 / Speedup;
    T.Speedup = T.SpeedupLow = T.SpeedupHigh = Speedup;
    V.Timings = {T};
  }
  return V;
}

RecordedRun runWith(const std::vector<Verdict> &Found) {
  RecordedRun Run;
  for (size_t I = 0; I < Found.size(); ++I) {
    Node N;
    N.Parent = I ? 0 : -1;
    N.Found = Found[I];
    Run.Nodes.add(std::move(N));
  }
  return Run;
}
} // namespace

// Rates are over the attempts; what the search turned down itself did not
// compile; the winner's speed is the confirmed one.
TEST(Suite, FiguresOfARun) {
  RecordedRun Run = runWith(
      {verdict(VerdictKind::Correct, 1), verdict(VerdictKind::Wrong),
       verdict(VerdictKind::Ungrounded), verdict(VerdictKind::NotCompiled),
       verdict(VerdictKind::Correct, 3)});
  Run.End = EndEvent{4, 4, {"4 attempts"}};
  Run.Confirmations.push_back({5, 4, VerdictEvent::By::Confirm, "",
                               verdict(VerdictKind::Correct, 2.5)});
  CellFigures F = figuresOf(Run);
  EXPECT_EQ(F.Attempts, 4u);
  EXPECT_EQ(F.Compiled, 2u);
  EXPECT_EQ(F.Correct, 1u);
  EXPECT_TRUE(F.Success);
  EXPECT_EQ(F.Speedup, 2.5);
  EXPECT_EQ(F.Delivered, 2.5);
}

// A run may be begun on one GPU and confirmed on another: its speed is of that.
TEST(Suite, FiguresOfTwoGpus) {
  Verdict Source = verdict(VerdictKind::Correct, 1),
          Candidate = verdict(VerdictKind::Correct, 3),
          Confirmed = verdict(VerdictKind::Correct, 2.5);
  Source.Device = Candidate.Device = "A GPU";
  Confirmed.Device = "Another GPU";
  RecordedRun Run = runWith({Source, Candidate});
  Run.Identity.Device = "A GPU";
  EXPECT_EQ(figuresOf(Run).Device, "A GPU");
  Run.End = EndEvent{1, 1, {"1 attempt"}};
  Run.Confirmations.push_back({1, 1, VerdictEvent::By::Confirm, "", Confirmed});
  EXPECT_EQ(figuresOf(Run).Device, "Another GPU");
}

// Without a winner the source is kept, and the best candidate, slower here,
// still has its speed.
TEST(Suite, FiguresWithoutWinner) {
  RecordedRun Run = runWith(
      {verdict(VerdictKind::Correct, 1), verdict(VerdictKind::Correct, 0.8)});
  Run.End = EndEvent{-1, 1, {"1 attempt"}};
  CellFigures F = figuresOf(Run);
  EXPECT_TRUE(F.Success);
  EXPECT_NEAR(F.Speedup, 0.8, 1e-12);
  EXPECT_EQ(F.Delivered, 1);
  // The source's own tokens again are no success.
  RecordedRun Same = runWith({verdict(VerdictKind::Correct, 1)});
  Node N;
  N.Parent = 0;
  N.SameAs = 0;
  N.Found = verdict(VerdictKind::Correct, 1);
  Same.Nodes.add(std::move(N));
  EXPECT_FALSE(figuresOf(Same).Success);
  EXPECT_EQ(figuresOf(Same).Correct, 1u);
}

// A run is compared with what was measured of its task on its GPU, newest last;
// a run without success has a baseline all the same, and is slower than it.
TEST(Suite, OverBaselines) {
  SuiteTask Of;
  Of.Digest = "d";
  Of.Bytes = 4000000;
  std::vector<torch::BaselineTime> Times = {
      {"d", "eager", "A GPU", 30, 0},   {"d", "eager", "A GPU", 20, 4000},
      {"d", "compile", "A GPU", 5, 0},  {"e", "eager", "A GPU", 1, 0},
      {"d", "eager", "B GPU", 1, 1000},
  };
  CellFigures Good, Bad, Modelled;
  Good.Preset = Bad.Preset = Modelled.Preset = "stark";
  Good.Device = Bad.Device = Modelled.Device = "A GPU";
  Good.Success = Modelled.Success = Modelled.Modelled = true;
  Good.Speedup = 3;
  Good.MedianUs = Modelled.MedianUs = 10;
  for (CellFigures *F : {&Good, &Bad, &Modelled})
    compareWith(Of, Times, *F);
  EXPECT_EQ(Good.BaselineUs,
            (std::map<std::string, double>{
                {"compile", 5}, {"eager", 20}, {"fastest", 5}}));
  EXPECT_DOUBLE_EQ(Good.FloorShare, 0.1); // 4 MB at 4000 GB/s: 1 us
  EXPECT_EQ(Bad.BaselineUs, Good.BaselineUs);
  EXPECT_EQ(Bad.FloorShare, 0);
  EXPECT_TRUE(Modelled.BaselineUs.empty());
  std::vector<CellFigures> Cells = {Good, Bad, Modelled};
  EXPECT_EQ(baselinesOf(Cells),
            (std::vector<std::string>{"eager", "compile", "fastest"}));
  PresetFigures Eager = summarize("stark", overBaseline("eager", Cells));
  EXPECT_EQ(Eager.Cells, 2u);
  EXPECT_EQ(Eager.Successes, 1u);
  EXPECT_EQ(Eager.Fast1, 1u);
  EXPECT_DOUBLE_EQ(Eager.Mean, 2);
  PresetFigures Compiled = summarize("stark", overBaseline("compile", Cells));
  EXPECT_EQ(Compiled.Fast1, 0u);
  EXPECT_DOUBLE_EQ(Compiled.Mean, 0.5);
}

// A row is over the cells of its preset: success and Fast1 of all, speeds of
// those with a correct candidate, delivered of all.
TEST(Suite, Summary) {
  std::vector<CellFigures> Cells(4);
  for (size_t I = 0; I < 4; ++I) {
    Cells[I].Task = "t" + std::to_string(I);
    Cells[I].Preset = I < 3 ? "stark" : "sampling";
    Cells[I].Attempts = 10;
    Cells[I].Correct = unsigned(I);
  }
  Cells[0].Success = Cells[1].Success = true;
  Cells[0].Speedup = Cells[0].Delivered = 4;
  Cells[1].Speedup = 0.25;
  PresetFigures F = summarize("stark", Cells);
  EXPECT_EQ(F.Cells, 3u);
  EXPECT_EQ(F.Successes, 2u);
  EXPECT_EQ(F.Fast1, 1u);
  EXPECT_EQ(F.Correct, 3u);
  EXPECT_DOUBLE_EQ(F.Mean, 2.125);
  EXPECT_DOUBLE_EQ(F.GeometricMean, 1);
  EXPECT_NEAR(F.Delivered, std::cbrt(4.0), 1e-12);
  EXPECT_EQ(summarize("ma-only", Cells).Cells, 0u);
}
