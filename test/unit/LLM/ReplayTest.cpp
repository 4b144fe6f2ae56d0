//===- ReplayTest.cpp - Replies from the journal of a run -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Transcript.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Journal.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
class ReplayTest : public ::testing::Test {
protected:
  ReplayTest() : Run(llvm::cantFail(TemporaryFolder::create("run"))) {
    write("replies/0001-plan-1.md", "The plan.\n");
    ChatReply Reply;
    Reply.Model = "some-model";
    Reply.WallMs = 1234;
    Recorded = printReply(Reply);
    record("replies/0001-plan-1.md");
  }

  std::string path(const std::string &Name) {
    return (Run.path() + "/" + Name).str();
  }
  void write(const std::string &Name, const std::string &Text) {
    ASSERT_FALSE(bool(writeFileAtomically(path(Name), Text)));
  }
  /// A journal of one reply, among other events.
  void record(const std::string &File) {
    auto J = llvm::cantFail(Journal::open(path("journal.jsonl"), {}));
    ASSERT_FALSE(bool(J->append("select", R"({"node":0})")));
    ASSERT_FALSE(bool(
        J->append("reply", R"({"id":"0001-plan-1","digest":")" +
                               request().digest() + R"(","file":")" + File +
                               R"(","text_digest":")" + sha256("The plan.\n") +
                               R"(","reply":)" + Recorded + "}")));
  }
  static ChatRequest request() {
    ChatRequest R;
    R.Id = "0001-plan-1";
    R.Role = "plan";
    R.Messages = {{ChatMessage::Speaker::User, "user"}};
    return R;
  }
  llvm::Expected<std::unique_ptr<ChatClient>> client() {
    return makeReplayClient(Run.path(), "anthropic:some-model");
  }
  std::string problem(const ChatRequest &R) {
    auto Client = client();
    if (!Client)
      return llvm::toString(Client.takeError());
    llvm::Expected<ChatReply> Reply = (*Client)->complete(R, {});
    EXPECT_FALSE(bool(Reply));
    return Reply ? std::string() : llvm::toString(Reply.takeError());
  }

  TemporaryFolder Run;
  std::string Recorded;
};
} // namespace

// A replay is that run again: same provider, same reply to the last field.
TEST_F(ReplayTest, GivesTheReplyAsRecorded) {
  auto Client = llvm::cantFail(client());
  EXPECT_EQ(Client->identity(), "anthropic:some-model");
  ChatReply Reply = llvm::cantFail(Client->complete(request(), {}));
  EXPECT_EQ(Reply.Text, "The plan.\n");
  EXPECT_EQ(printReply(Reply), Recorded);
}

// A request that a newer tool words otherwise gets the reply of its place, and
// whoever asked is told what was answered.
TEST_F(ReplayTest, DriftedRequestIsToldSo) {
  auto Client = llvm::cantFail(client());
  EXPECT_EQ(llvm::cantFail(Client->complete(request(), {})).AnsweredDigest, "");
  ChatRequest Changed = request();
  Changed.System = "another";
  ChatReply Reply = llvm::cantFail(Client->complete(Changed, {}));
  EXPECT_EQ(Reply.Text, "The plan.\n");
  EXPECT_EQ(Reply.AnsweredDigest, request().digest());
}

TEST_F(ReplayTest, MissingReplyIsAnError) {
  ChatRequest Later = request();
  Later.Id = "0002-code-1";
  EXPECT_EQ(problem(Later),
            "run '" + Run.path().str() +
                "' holds no reply to request '0002-code-1' (digest " +
                Later.digest().substr(0, 12) + ")");
}

TEST_F(ReplayTest, ChangedTextIsNoticed) {
  write("replies/0001-plan-1.md", "Another plan.\n");
  EXPECT_EQ(problem(request()), "'" + path("replies/0001-plan-1.md") +
                                    "' was changed: its digest is " +
                                    sha256("Another plan.\n").substr(0, 12) +
                                    ", the run recorded " +
                                    sha256("The plan.\n").substr(0, 12));
}

// A journal may not make the tool read files outside the run.
TEST_F(ReplayTest, FileOutsideTheRunIsRefused) {
  record("replies/../../secret.md");
  EXPECT_EQ(problem(request()),
            path("journal.jsonl") +
                ":2: field 'body.file': got 'replies/../../secret.md', wanted "
                "replies/ID.md");
}

// What was not answered then because a budget was spent ends the replay, too.
TEST_F(ReplayTest, EndsAsTheRunDid) {
  auto EndWith = [&](const std::string &Body) {
    record("replies/0001-plan-1.md");
    auto Content = llvm::cantFail(readJournal(path("journal.jsonl")));
    auto J = llvm::cantFail(Journal::open(path("journal.jsonl"), Content));
    EXPECT_FALSE(bool(J->append("end", Body)));
    ChatRequest Later = request();
    Later.Id = "0002-plan-1";
    return problem(Later);
  };
  EXPECT_EQ(EndWith(R"({"ended_by":"budget","why":"no money"})"), "no money");
  // The field decides, where there is one.
  EXPECT_NE(EndWith(R"({"ended_by":"search","why":"budget spent: usd"})"),
            "budget spent: usd");
  // Runs of before say it in words.
  EXPECT_EQ(EndWith(R"({"attempts":1,"why":"budget spent: usd","winner":-1})"),
            "budget spent: usd");
  EXPECT_EQ(EndWith(R"({"why":"1 attempt"})").find("run '"), 0u);
  EXPECT_EQ(EndWith(R"({"ended_by":"boredom","why":"1 attempt"})"),
            path("journal.jsonl") + ":3: field 'body.ended_by': got 'boredom', "
                                    "wanted search or budget");
}
