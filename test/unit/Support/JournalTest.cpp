//===- JournalTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Journal.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
struct JournalTest : testing::Test {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("journal"));
  std::string Path = Folder.path().str() + "/journal.jsonl";

  void write(int Count) {
    auto J =
        llvm::cantFail(Journal::open(Path, llvm::cantFail(readJournal(Path))));
    for (int I = 0; I < Count; ++I)
      llvm::cantFail(J->append("select", R"({"node": 1, "attempt": 2})"));
  }
};

// What was appended is read back, with its keys sorted.
TEST_F(JournalTest, RoundTrip) {
  write(2);
  write(1);
  JournalContent C = llvm::cantFail(readJournal(Path));
  ASSERT_EQ(C.Events.size(), 3u);
  EXPECT_EQ(C.Events[2].Number, 2u);
  EXPECT_EQ(C.Events[2].Body, R"({"attempt":2,"node":1})");
  EXPECT_EQ(C.Note, "");
}

// A kill in the middle of a write costs the torn line only, at any length.
TEST_F(JournalTest, TornLastLine) {
  write(2);
  std::string Whole = llvm::cantFail(readFile(Path));
  size_t First = Whole.find('\n') + 1;
  for (size_t Cut = First + 1; Cut < Whole.size(); ++Cut) {
    llvm::cantFail(writeFileAtomically(Path, Whole.substr(0, Cut)));
    JournalContent C = llvm::cantFail(readJournal(Path));
    ASSERT_EQ(C.Events.size(), 1u);
    EXPECT_NE(C.Note, "");
  }
  write(1);
  EXPECT_EQ(llvm::cantFail(readFile(Path)), Whole);
}

// Any other damage is an error that names the line.
TEST_F(JournalTest, CorruptLine) {
  write(3);
  std::string Whole = llvm::cantFail(readFile(Path));
  for (size_t At : {size_t(9), Whole.find('\n') + 10}) {
    std::string Damaged = Whole;
    Damaged[At] ^= 1;
    llvm::cantFail(writeFileAtomically(Path, Damaged));
    auto C = readJournal(Path);
    ASSERT_FALSE(bool(C)) << At;
    std::string Message = llvm::toString(C.takeError());
    EXPECT_NE(Message.find(At < 20 ? ":1: corrupt" : ":2: corrupt"),
              std::string::npos)
        << Message;
  }
}

// A missing line is seen, too.
TEST_F(JournalTest, MissingLine) {
  write(3);
  std::string Whole = llvm::cantFail(readFile(Path));
  llvm::cantFail(writeFileAtomically(Path, Whole.substr(Whole.find('\n') + 1)));
  auto C = readJournal(Path);
  ASSERT_FALSE(bool(C));
  EXPECT_NE(llvm::toString(C.takeError()).find("is event 1, wanted event 0"),
            std::string::npos);
}
} // namespace
