//===- PresetTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Preset.h"
#include "stark/Search/Record.h"
#include "gtest/gtest.h"

using namespace stark;

static SearchOptions preset(const char *Name) {
  SearchOptions O;
  O.Attempts = 7;
  O.Seed = 9;
  // What another preset left behind.
  llvm::cantFail(applyPreset("sampling", O));
  llvm::cantFail(applyPreset(Name, O));
  return O;
}

// Each preset is what the paper says of it (sections 4.2 and 5, appendix B).
TEST(Preset, AsThePaperSays) {
  SearchOptions Sampling = preset("sampling");
  EXPECT_EQ(Sampling.Agents, AgentsKind::Single);
  EXPECT_EQ(Sampling.Policy.Kind, PolicyKind::BestOfK);
  EXPECT_EQ(Sampling.Policy.Repairs, 0u);
  EXPECT_FALSE(Sampling.Windows);
  EXPECT_EQ(Sampling.Strictness, Grounding::Off);
  EXPECT_EQ(Sampling.Temperature.Single, 0.7);
  EXPECT_EQ(preset("reflexion").Policy.Kind, PolicyKind::Iterative);
  EXPECT_EQ(preset("reflexion").Agents, AgentsKind::Single);
  EXPECT_EQ(preset("search-agent").Policy.Kind, PolicyKind::EpsilonGreedy);
  EXPECT_EQ(preset("search-agent").Agents, AgentsKind::Single);
  SearchOptions MaOnly = preset("ma-only");
  EXPECT_EQ(MaOnly.Agents, AgentsKind::Team);
  EXPECT_EQ(MaOnly.Policy.Kind, PolicyKind::BestOfK);
  EXPECT_EQ(MaOnly.Strictness, Grounding::Support);
  EXPECT_EQ(MaOnly.Temperature.Plan, 0.8);
  EXPECT_FALSE(MaOnly.Windows);
}

// stark is the default, and a preset leaves attempts and seed alone.
TEST(Preset, StarkIsTheDefault) {
  RunIdentity Plain, Stark;
  Plain.Options.Attempts = 7;
  Plain.Options.Seed = 9;
  Stark.Options = preset("stark");
  EXPECT_EQ(printIdentity(Plain), printIdentity(Stark));
}

// stark+ is stark with a higher throttle and later pruning, and nothing else.
TEST(Preset, StarkPlus) {
  RunIdentity Plus, Stark;
  Plus.Options = preset("stark+");
  EXPECT_EQ(Plus.Options.Policy.RootThrottle, 8u);
  EXPECT_EQ(Plus.Options.Policy.DeadBranch, 6u);
  Stark.Options = preset("stark");
  Stark.Options.Policy.RootThrottle = 8;
  Stark.Options.Policy.DeadBranch = 6;
  EXPECT_EQ(printIdentity(Plus), printIdentity(Stark));
}

// All go together as they are.
TEST(Preset, Consistent) {
  for (const std::string &Name : presetNames())
    EXPECT_FALSE(bool(checkOptions(preset(Name.c_str()))));
}
