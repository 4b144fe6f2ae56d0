//===- BuildStepTest.cpp --------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/BuildStep.h"
#include "gtest/gtest.h"

using namespace stark;
using Miss = MissReason::Kind;
using Choice = BuildChoice::Kind;

namespace {
/// What is done, and what is said of it.
std::pair<std::optional<Choice>, std::string>
chosen(std::optional<MissReason> Why, BuildMode Mode, bool CanSearch) {
  BuildStep Step;
  Step.In.SourcePath = "src/k.cu";
  Lookup Found;
  Found.Why = Why;
  if (Why)
    Found.Without.push_back({Step.In, *Why});
  llvm::Expected<BuildChoice> C = chooseBuild(Step, Found, Mode, CanSearch);
  if (!C)
    return {std::nullopt, llvm::toString(C.takeError())};
  return {C->Does, C->Warning};
}

using Answer = std::pair<std::optional<Choice>, std::string>;
constexpr BuildMode Modes[] = {BuildMode::Auto, BuildMode::Cached,
                               BuildMode::Search, BuildMode::Require};
} // namespace

// A winner is used in every mode.
TEST(BuildStepTest, WinnerIsUsed) {
  for (BuildMode Mode : Modes)
    for (bool CanSearch : {false, true})
      EXPECT_EQ(chosen(std::nullopt, Mode, CanSearch),
                Answer(Choice::UseWinner, ""));
}

// What a search found to be the best is not searched again, and is no winner.
TEST(BuildStepTest, NothingWon) {
  MissReason Why{Miss::NothingFaster};
  for (BuildMode Mode : {BuildMode::Auto, BuildMode::Cached, BuildMode::Search})
    EXPECT_EQ(chosen(Why, Mode, true), Answer(Choice::UseSource, ""));
  EXPECT_EQ(chosen(Why, BuildMode::Require, true),
            Answer(std::nullopt, "no winner for k.cu (a search found nothing "
                                 "faster), and the mode is REQUIRE"));
}

// Only AUTO and SEARCH search, and only AUTO does without.
TEST(BuildStepTest, Miss) {
  MissReason Why{Miss::NoEntry};
  Answer AsItIs(Choice::UseSource, "no winner for k.cu (it has no entry); "
                                   "building the source as it is");
  EXPECT_EQ(chosen(Why, BuildMode::Auto, true), Answer(Choice::Search, ""));
  EXPECT_EQ(chosen(Why, BuildMode::Search, true), Answer(Choice::Search, ""));
  EXPECT_EQ(chosen(Why, BuildMode::Auto, false), AsItIs);
  EXPECT_EQ(chosen(Why, BuildMode::Cached, true), AsItIs);
  EXPECT_EQ(chosen(Why, BuildMode::Search, false),
            Answer(std::nullopt,
                   "no winner for k.cu (it has no entry), and there is no "
                   "provider and evaluator to search with"));
  EXPECT_FALSE(chosen(Why, BuildMode::Require, true).first);
}

// Damage is told also to who searches on.
TEST(BuildStepTest, DamageIsTold) {
  MissReason Why{Miss::Damaged, "0123-45", "kernel.cu was changed"};
  EXPECT_EQ(chosen(Why, BuildMode::Auto, true),
            Answer(Choice::Search,
                   "entry 0123-45 is corrupt: kernel.cu was changed"));
}

// The error names the flag and all modes.
TEST(BuildStepTest, ModesHaveNames) {
  for (BuildMode Mode : Modes)
    EXPECT_EQ(llvm::cantFail(parseBuildMode(nameOf(Mode))), Mode);
  llvm::Expected<BuildMode> None = parseBuildMode("FAST");
  ASSERT_FALSE(bool(None));
  EXPECT_EQ(llvm::toString(None.takeError()),
            "--mode: got 'FAST', wanted AUTO, CACHED, SEARCH or REQUIRE");
}

// Each reason has words of its own.
TEST(BuildStepTest, ReasonsHaveWords) {
  EXPECT_EQ((MissReason{Miss::FileChanged, "k.cu"}.str()), "k.cu changed");
  EXPECT_EQ((MissReason{Miss::OtherFlags, "", "", "-O2", "-O3"}.str()),
            "its flags were '-O2' and are '-O3'");
  EXPECT_EQ((MissReason{Miss::OtherArch, "", "", "sm_80", "sm_90"}.str()),
            "it is for sm_80, not sm_90");
  EXPECT_EQ((MissReason{Miss::NoPlan, "0123-45"}.str()),
            "entry 0123-45 does not say where its winner was proved");
  EXPECT_EQ((MissReason{Miss::OtherTorch, "", "", "2.10.0", "2.11.0"}.str()),
            "it is of torch 2.10.0, not of torch 2.11.0");
  EXPECT_EQ((MissReason{Miss::OtherTorch, "", "", "", "2.11.0"}.str()),
            "it is of no torch, not of torch 2.11.0");
}
