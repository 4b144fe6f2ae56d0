//===- SanitizerLogTest.cpp - What compute-sanitizer wrote ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SanitizerLog.h"
#include "gtest/gtest.h"

using namespace stark::gpu;
using Findings = std::vector<std::string>;

// As compute-sanitizer 2025.3.1 writes it.
TEST(SanitizerLog, Memcheck) {
  EXPECT_EQ(
      findingsIn("========= COMPUTE-SANITIZER\n"
                 "========= Invalid __global__ read of size 4 bytes\n"
                 "=========     at k(const float *, int)+0xb0 in k.cu:4\n"
                 "=========     by thread (2,0,0) in block (512,0,0)\n"
                 "=========     Access to 0x7f5018a8020c is out of bounds\n"
                 "=========     and is 1 bytes after the nearest allocation\n"
                 "=========     Saved host backtrace up to driver entry point\n"
                 "=========         Host Frame: main+0x10 in a.out\n"
                 "=========\n"
                 "========= Invalid __global__ read of size 4 bytes\n"
                 "=========     at k(const float *, int)+0xb0 in k.cu:4\n"
                 "=========     by thread (3,0,0) in block (512,0,0)\n"
                 "=========     Access to 0x7f5018a80210 is out of bounds\n"
                 "=========     and is 5 bytes after the nearest allocation\n"
                 "========= \n"
                 "========= ERROR SUMMARY: 2 errors\n"),
      Findings{"Invalid __global__ read of size 4 bytes\n"
               "  at k(const float *, int)+0xb0 in k.cu:4\n"
               "  by thread (2,0,0) in block (512,0,0)\n"
               "  Access to 0x7f5018a8020c is out of bounds\n"
               "  and is 1 bytes after the nearest allocation"});
}

TEST(SanitizerLog, RacecheckTellsErrorsFromWarnings) {
  std::string Log =
      "========= Error: Race reported between Write access at k(int *)+0xc0\n"
      "=========     and Read access at k(int *)+0x150 [4 hazards]\n"
      "========= \n"
      "========= Error: Race reported between Write access at k(int *)+0xc0\n"
      "=========     and Read access at k(int *)+0x150 [524300 hazards]\n"
      "========= \n"
      "========= Warning: Race reported between Write access at h()+0x10\n"
      "=========     and Write access at h()+0x20 [4 hazards]\n"
      "========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 "
      "warning)\n";
  EXPECT_EQ(findingsIn(Log),
            Findings{"Error: Race reported between Write access at k(int "
                     "*)+0xc0\n  and Read access at k(int *)+0x150 [4 "
                     "hazards]"});
}

TEST(SanitizerLog, OldPlacesAndOddCharacters) {
  EXPECT_EQ(findingsIn("========= Uninitialized __global__ memory read\n"
                       "=========     at 0x60 in k.cu:9:k\x1b[31m(int *)"),
            Findings{"Uninitialized __global__ memory read\n"
                     "  at 0x60 in k.cu:9:k?[31m(int *)"});
}

TEST(SanitizerLog, WhatItSaysOfItselfIsNoFinding) {
  std::string Log =
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Target application terminated before first "
      "instrumented API call\n"
      "========= ERROR SUMMARY: 0 errors\n";
  EXPECT_EQ(findingsIn(Log), Findings());
  EXPECT_EQ(complaintIn(Log), "Error: Target application terminated before "
                              "first instrumented API call");
  EXPECT_EQ(complaintIn("========= COMPUTE-SANITIZER\n"), "");
  for (const char *Odd : {"", "=========", "=========     at k()+0x1", "x\n"})
    EXPECT_EQ(findingsIn(Odd), Findings()) << Odd;
}
