//===- WrittenTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Written.h"
#include <gtest/gtest.h>

using namespace stark::sim;

namespace {
/// Two arguments, the first an input and the second an output, and memory of
/// the program.
struct WrittenTest : ::testing::Test {
  std::vector<uint32_t> X = std::vector<uint32_t>(64, 1), Y = X, Own = X;
  Allocation In, Out, Scratch;
  WrittenInProfile Written;
  Probe P;

  WrittenTest() {
    auto Place = [](Allocation &A, std::vector<uint32_t> &Words) {
      A.Begin = reinterpret_cast<char *>(Words.data());
      A.End = A.Begin + Words.size() * 4;
    };
    Place(In, X);
    Place(Out, Y);
    Place(Scratch, Own);
    In.Constant = In.Given = true;
    In.Argument = 0;
    Out.Argument = 1;
    Written.Wanted = true;
    Written.beginLaunch();
    Written.beginCluster(0);
  }
  void load(const Allocation &A, uint64_t Word) {
    Written.note(A, Word * 4, 4, P, ProbeKind::Load);
  }
  void store(Allocation &A, uint64_t Word, uint32_t Value) {
    reinterpret_cast<uint32_t *>(A.Begin)[Word] = Value;
    if (Written.isOpen())
      Written.note(A, Word * 4, 4, P, ProbeKind::Store);
  }
  /// "1:3=7" of buffer, word and value.
  std::string taken() {
    std::string Text;
    for (const WrittenWord &W : Written.take())
      Text += std::to_string(W.Buffer) + ":" + std::to_string(W.Offset / 4) +
              "=" + std::to_string(W.Value) + " ";
    return Text;
  }
};
} // namespace

TEST_F(WrittenTest, WhatABlockLeavesIsKnownInTheOrderOfPlaces) {
  load(In, 3);
  store(Out, 9, 5);
  store(Out, 3, 6);
  store(Out, 3, 7);
  load(Out, 3);
  Written.endCluster();
  EXPECT_EQ(taken(), "1:3=7 1:9=5 ");
}

TEST_F(WrittenTest, ASecondRunOfABlockIsNotLookedAt) {
  store(Out, 3, 7);
  Written.endCluster();
  Written.beginCluster(0);
  store(Out, 3, 8);
  Written.endCluster();
  Written.beginCluster(1);
  store(Out, 4, 9);
  Written.endCluster();
  EXPECT_EQ(taken(), "1:3=7 1:4=9 ");
}

TEST_F(WrittenTest, NothingIsKnownOfWhatReadsOthersWork) {
  store(Out, 3, 7);
  load(Out, 4);
  Written.endCluster();
  EXPECT_EQ(taken(), "");
}

TEST_F(WrittenTest, MemoryOfTheProgramMayBeReadOnceTheBlockHasWrittenIt) {
  store(Scratch, 2, 4);
  load(Scratch, 2);
  store(Out, 3, 7);
  Written.endCluster();
  EXPECT_EQ(taken(), "1:3=7 ");
}

TEST_F(WrittenTest, ALaterLaunchMayWriteEverywhereAndReadsOnlyInputs) {
  store(Out, 3, 7);
  Written.endCluster();
  Written.beginLaunch();
  Written.beginCluster(0);
  load(In, 1);
  store(Out, 5, 8);
  Written.endCluster();
  EXPECT_EQ(taken(), "1:5=8 ");

  Out.Given = true;
  Written.beginLaunch();
  Written.beginCluster(0);
  load(Out, 5);
  store(Out, 5, 8);
  Written.endCluster();
  EXPECT_EQ(taken(), "");
}

TEST_F(WrittenTest, ValuesThatWereGivenMayBeReadInTheFirstLaunch) {
  Out.Given = true;
  load(Out, 5);
  store(Out, 5, 8);
  Written.endCluster();
  EXPECT_EQ(taken(), "1:5=8 ");
}

TEST_F(WrittenTest, WhatAtomicsShareIsNotKnown) {
  P.Updates = Update::Add;
  store(Out, 3, 7);
  Written.note(Scratch, 0, 4, P, ProbeKind::Atomic);
  Written.endCluster();
  EXPECT_EQ(taken(), "1:3=7 ");
  Written.beginCluster(1);
  Written.note(Out, 8, 4, P, ProbeKind::Atomic);
  Written.endCluster();
  EXPECT_EQ(taken(), "");
}

TEST_F(WrittenTest, AnAtomicWhoseResultIsUsedTellsOfOtherBlocks) {
  store(Out, 3, 7);
  P.Updates = Update::None;
  Written.note(Scratch, 0, 4, P, ProbeKind::Atomic);
  Written.endCluster();
  EXPECT_EQ(taken(), "");
}

TEST_F(WrittenTest, TheHostComesBetween) {
  store(Out, 3, 7);
  Written.endCluster();
  Written.hostPuts();
  EXPECT_EQ(taken(), "");
  Written.hostTakes();
  Written.beginLaunch();
  Written.beginCluster(0);
  store(Out, 3, 7);
  Written.endCluster();
  EXPECT_EQ(taken(), "");
}

TEST_F(WrittenTest, BytesOfAWordComeFromSeveralBlocks) {
  auto Byte = [this](uint64_t At, char Value) {
    Out.Begin[At] = Value;
    Written.note(Out, At, 1, P, ProbeKind::Store);
  };
  Y[2] = 0;
  Byte(8, 1);
  Byte(9, 2);
  Written.endCluster();
  Written.beginCluster(1);
  Byte(11, 4);
  Written.endCluster();
  std::vector<WrittenWord> Words = Written.take();
  ASSERT_EQ(Words.size(), 1u);
  EXPECT_EQ(Words[0].Bytes, 0xbu);
  EXPECT_EQ(Words[0].Value, 0x04000201u);
}

TEST_F(WrittenTest, OnlySoMuchIsKept) {
  std::vector<uint32_t> Many(2 * MostWrittenWords, 3);
  Out.Begin = reinterpret_cast<char *>(Many.data());
  Out.End = Out.Begin + Many.size() * 4;
  Out.Given = true;
  for (uint64_t W = 0; W < Many.size(); ++W)
    store(Out, W, uint32_t(W));
  Written.endCluster();
  EXPECT_EQ(Written.take().size(), MostWrittenWords);
}

TEST_F(WrittenTest, NothingIsNotedThatNobodyAsksFor) {
  Written.Wanted = false;
  Written.beginLaunch();
  Written.beginCluster(0);
  EXPECT_FALSE(Written.isOpen());
  store(Out, 3, 7);
  Written.endCluster();
  EXPECT_EQ(taken(), "");
}
