//===- HeldBackTest.cpp - Is the device's clock lowered? ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeldBack.h"
#include <gtest/gtest.h>

using namespace stark::gpu;

// Heat and power make a sample worthless; an idle device, or clocks that the
// user has set, do not. The numbers are those of nvml.h.
TEST(HeldBack, ByHeatOrPower) {
  for (uint64_t Reason : {0x4, 0x8, 0x20, 0x40, 0x80, 0x41})
    EXPECT_TRUE(isHeldBack(Reason)) << Reason;
  for (uint64_t Reason : {0x0, 0x1, 0x2, 0x10, 0x100})
    EXPECT_FALSE(isHeldBack(Reason)) << Reason;
}

TEST(HeldBack, NoSuchDevice) { EXPECT_EQ(watchClocks("GPU-none"), nullptr); }
