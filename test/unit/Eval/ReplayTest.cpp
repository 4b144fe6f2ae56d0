//===- ReplayTest.cpp - Verdicts from a journal --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderFixture.h"
#include "stark/Eval/Evaluator.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/Journal.h"

using namespace stark;

namespace {
class ReplayTest : public FolderFixture {
protected:
  void SetUp() override {
    Log = llvm::cantFail(Journal::open(path("journal.jsonl"), {}));
  }
  void add(llvm::StringRef Text, llvm::StringRef Purpose, VerdictKind Kind) {
    Verdict V;
    V.Kind = Kind;
    llvm::cantFail(Log->append(
        "verdict", ("{\"attempt\":1,\"candidate\":\"" + sha256(Text) +
                    "\",\"node\":1,\"purpose\":\"" + Purpose +
                    "\",\"verdict\":" + printVerdict(V) + "}")
                       .str()));
  }
  std::string ask(Evaluator &E, std::string Text,
                  Purpose Why = Purpose::Attempt) {
    Candidate C;
    C.Node = 7;
    C.Why = Why;
    C.Text = std::move(Text);
    llvm::Expected<Verdict> V = E.evaluate(C);
    return V ? verdictName(V->Kind).str() : llvm::toString(V.takeError());
  }
  std::unique_ptr<Journal> Log;
};
} // namespace

TEST_F(ReplayTest, VerdictsAreFoundByTextAndPurpose) {
  add("a", "attempt", VerdictKind::Wrong);
  add("b", "attempt", VerdictKind::Correct);
  add("b", "confirm", VerdictKind::Unstable);
  auto E = llvm::cantFail(makeReplayEvaluator(Folder.path(), "cuda:GPU"));
  EXPECT_EQ(ask(*E, "b"), "correct");
  EXPECT_EQ(ask(*E, "a"), "wrong");
  EXPECT_EQ(ask(*E, "b", Purpose::Confirm), "unstable");
}

TEST_F(ReplayTest, ATextThatWasJudgedTwiceHasBothInOrder) {
  add("a", "attempt", VerdictKind::TimedOut);
  add("a", "attempt", VerdictKind::Correct);
  auto E = llvm::cantFail(makeReplayEvaluator(Folder.path(), "cuda:GPU"));
  EXPECT_EQ(ask(*E, "a"), "timed-out");
  EXPECT_EQ(ask(*E, "a"), "correct");
  EXPECT_EQ(ask(*E, "a"), "correct");
}

TEST_F(ReplayTest, ATextThatWasNotJudgedIsAnError) {
  add("a", "attempt", VerdictKind::Correct);
  auto E = llvm::cantFail(makeReplayEvaluator(Folder.path(), "cuda:GPU"));
  std::string Error = ask(*E, "z");
  EXPECT_NE(Error.find("has no verdict for node 7 (attempt, candidate "),
            std::string::npos)
      << Error;
}

TEST_F(ReplayTest, TheRunsOwnJudgeIsNamed) {
  auto E = llvm::cantFail(makeReplayEvaluator(Folder.path(), "cuda:GPU"));
  EXPECT_EQ(E->identity(), "cuda:GPU");
}

TEST_F(ReplayTest, ADamagedEventIsNamed) {
  llvm::cantFail(Log->append("verdict", "{\"candidate\":3}"));
  auto E = makeReplayEvaluator(Folder.path(), "cuda:GPU");
  ASSERT_FALSE(bool(E));
  EXPECT_EQ(llvm::toString(E.takeError()),
            path("journal.jsonl") +
                ", event 0: field 'body.candidate': got 3, wanted a string");
}

TEST_F(ReplayTest, AFolderWithoutAJournalIsAnError) {
  auto E = makeReplayEvaluator(path("nowhere"), "cuda:GPU");
  ASSERT_FALSE(bool(E));
  EXPECT_NE(llvm::toString(E.takeError()).find("nowhere/journal.jsonl"),
            std::string::npos);
}
