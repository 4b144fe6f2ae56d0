//===- EvaluatorSpecTest.cpp - Who is to judge ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/EvaluatorSpec.h"
#include "stark/Support/Error.h"
#include <gtest/gtest.h>

using namespace stark;
using Kind = EvaluatorSpec::Kind;

static EvaluatorSpec parsed(llvm::StringRef Text) {
  return llvm::cantFail(parseEvaluatorSpec(Text));
}

TEST(EvaluatorSpecTest, ReadsBackAsItIsPrinted) {
  for (const EvaluatorSpec &Spec :
       {EvaluatorSpec{Kind::Cuda, ""}, EvaluatorSpec{Kind::Sim, "a100"},
        EvaluatorSpec{Kind::Spool, "/a:b"}, EvaluatorSpec{Kind::Replay, "run"},
        EvaluatorSpec{Kind::Slurm, ""},
        EvaluatorSpec{
            Kind::Slurm, "/jobs", {"gpu", "gpu:h100:1", "/bin/w", 3, 5}}})
    EXPECT_EQ(parsed(printEvaluatorSpec(Spec)), Spec);
}

TEST(EvaluatorSpecTest, TheGpuOfASimulationMayBeLeftOut) {
  EXPECT_EQ(parsed("sim"), (EvaluatorSpec{Kind::Sim, "h200"}));
  EXPECT_EQ(parsed("sim:"), parsed("sim:h200"));
}

TEST(EvaluatorSpecTest, SaysWhatFollowsFromTheKind) {
  EXPECT_TRUE(parsed("cuda").measures());
  EXPECT_TRUE(parsed("spool:jobs").measures());
  EXPECT_FALSE(parsed("sim").measures());
  EXPECT_FALSE(parsed("replay:run").measures());
  EXPECT_TRUE(parsed("sim:a100").repeats());
  EXPECT_FALSE(parsed("cuda").repeats());
  EXPECT_EQ(parsed("replay:run").replayedRun(), "run");
  EXPECT_EQ(parsed("spool:jobs").replayedRun(), "");
}

TEST(EvaluatorSpecTest, WhatIsNoSpecIsAUsageErrorWithAllForms) {
  for (llvm::StringRef Text : {"", "cuda:0", "spool", "spool:", "replay",
                               "replay:", "gpu", "simulator"}) {
    llvm::Expected<EvaluatorSpec> Spec = parseEvaluatorSpec(Text);
    ASSERT_FALSE(bool(Spec)) << Text.str();
    llvm::Error E = Spec.takeError();
    EXPECT_EQ(errorKind(E), ErrorKind::Usage);
    EXPECT_EQ(llvm::toString(std::move(E)),
              "evaluator: got '" + Text.str() +
                  "', wanted cuda, sim[:GPU], spool:DIR, slurm[:PARTITION] or "
                  "replay:RUN");
  }
}

TEST(EvaluatorSpecTest, WhatIsAskedOfSlurm) {
  EXPECT_EQ(parsed("slurm"), (EvaluatorSpec{Kind::Slurm, "", {}}));
  EXPECT_EQ(parsed("slurm:"), parsed("slurm"));
  EXPECT_EQ(parsed("slurm:gpu,workers=3,folder=/jobs,gres=gpu:h100:1,idle=5,"
                   "worker=/bin/w"),
            (EvaluatorSpec{
                Kind::Slurm, "/jobs", {"gpu", "gpu:h100:1", "/bin/w", 3, 5}}));
  EXPECT_EQ(parsed("slurm:workers=3").Slurm.Partition, "");
  EXPECT_TRUE(parsed("slurm").measures());
  // Each partition has a folder of its own: another has other GPUs.
  EXPECT_EQ(parsed("slurm").folder(), "stark-slurm/default");
  EXPECT_EQ(parsed("slurm:gpu").folder(), "stark-slurm/gpu");
  EXPECT_EQ(parsed("slurm:gpu,folder=/a").folder(), "/a");
  // What runs by itself is waited for.
  EXPECT_GE(parsed("slurm").waitMs(0), 24 * 3600 * 1000u);
  EXPECT_EQ(parsed("slurm").waitMs(1000), 1000u);
  EXPECT_EQ(parsed("spool:jobs").waitMs(0), 0u);
  for (llvm::StringRef Part : {"workers=0", "workers=1001", "workers=x",
                               "idle=-1", "folder=", "foldr=x", "more"}) {
    llvm::Expected<EvaluatorSpec> Spec =
        parseEvaluatorSpec(("slurm:gpu," + Part).str());
    ASSERT_FALSE(bool(Spec)) << Part.str();
    EXPECT_EQ(
        llvm::toString(Spec.takeError())
            .find("evaluator: slurm got '" + Part.str() + "', wanted slurm"),
        0u);
  }
}
