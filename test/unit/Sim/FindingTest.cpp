//===- FindingTest.cpp - What ends a simulated run early ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Finding.h"
#include <gtest/gtest.h>

using namespace stark::sim;

// What a GPU lets pass gives wrong results; what it stops at is a crash.
TEST(Finding, AKindSaysWhatAGpuMakesOfIt) {
  for (FindingKind K : {FindingKind::Race, FindingKind::Uninitialised,
                        FindingKind::InputChanged,
                        FindingKind::DivergentBarrier, FindingKind::WrongMask})
    EXPECT_EQ(effectOf(K), Effect::WrongResults) << nameOf(K);
  for (FindingKind K :
       {FindingKind::OutOfBounds, FindingKind::Misaligned, FindingKind::Stuck,
        FindingKind::Launch, FindingKind::Assert, FindingKind::Trap})
    EXPECT_EQ(effectOf(K), Effect::Stops) << nameOf(K);
  EXPECT_STREQ(nameOf(FindingKind::Trap), "trap");
}

TEST(Finding, WhatIsUnsupportedReadsAsASentence) {
  EXPECT_EQ(Unsupported({UnsupportedKind::DeviceSymbol, "f"}).text(),
            "device code that cannot be linked: f");
  EXPECT_EQ(Unsupported({UnsupportedKind::Ptx, "\"bra x\""}).text(),
            "inline PTX \"bra x\"");
}
