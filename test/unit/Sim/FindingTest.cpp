//===- FindingTest.cpp - What ends a simulated run early ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Finding.h"
#include <gtest/gtest.h>
#include <map>

using namespace stark::sim;

// What a GPU lets pass gives wrong results; what it stops at is a crash. A new
// kind is decided here, too.
TEST(Finding, AKindSaysWhatAGpuMakesOfIt) {
  std::map<FindingKind, Effect> Wanted;
  for (FindingKind K : {FindingKind::Race, FindingKind::Uninitialised,
                        FindingKind::InputChanged,
                        FindingKind::DivergentBarrier, FindingKind::WrongMask})
    Wanted[K] = Effect::WrongResults;
  for (FindingKind K :
       {FindingKind::OutOfBounds, FindingKind::Misaligned, FindingKind::Stuck,
        FindingKind::Launch, FindingKind::Assert, FindingKind::Trap,
        FindingKind::HostAccess})
    Wanted[K] = Effect::Stops;
  for (FindingKind K : {
#define STARK_FINDING(Kind, Name, Effect) FindingKind::Kind,
#include "stark/Sim/Findings.def"
       }) {
    ASSERT_TRUE(Wanted.count(K)) << nameOf(K);
    EXPECT_EQ(effectOf(K), Wanted[K]) << nameOf(K);
  }
  EXPECT_STREQ(nameOf(FindingKind::Trap), "trap");
}

TEST(Finding, WhatIsUnsupportedReadsAsASentence) {
  EXPECT_EQ(Unsupported({UnsupportedKind::DeviceSymbol, "f"}).text(),
            "device code that cannot be linked: f");
  EXPECT_EQ(Unsupported({UnsupportedKind::Ptx, "\"bra x\""}).text(),
            "inline PTX \"bra x\"");
}
