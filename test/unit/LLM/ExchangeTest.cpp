//===- ExchangeTest.cpp - Requests as files, answers as files -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Transcript.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

using namespace stark;
namespace fs = llvm::sys::fs;

namespace {
class ExchangeTest : public ::testing::Test {
protected:
  ExchangeTest() : Temporary(llvm::cantFail(TemporaryFolder::create("x"))) {}

  static ChatRequest request(const char *Id = "0001-plan-1") {
    ChatRequest R;
    R.Id = Id;
    R.Role = "plan";
    R.System = "system";
    R.Messages = {{ChatMessage::Speaker::User, "user"}};
    R.Temperature = 0.8;
    return R;
  }

  std::string file(const std::string &Where, const std::string &Name) {
    return (Temporary.path() + "/" + Where + "/" + Name).str();
  }
  void answer(const std::string &Text, const ChatRequest &R = request()) {
    ASSERT_FALSE(bool(writeFileAtomically(
        file("answers", requestFileStem(R) + ".md"), Text)));
  }
  llvm::Expected<ChatReply> ask(const ChatRequest &R = request(),
                                uint64_t WaitMs = 0,
                                const CallControl &Control = {}) {
    ExchangeOptions Options;
    Options.WaitMs = WaitMs;
    return llvm::cantFail(makeExchangeClient(Temporary.path(), Options, Time))
        ->complete(R, Control);
  }
  std::pair<ErrorKind, std::string> failure(const ChatRequest &R = request()) {
    llvm::Expected<ChatReply> Reply = ask(R);
    EXPECT_FALSE(bool(Reply));
    if (Reply)
      return {};
    llvm::Error E = Reply.takeError();
    ErrorKind Kind = errorKind(E);
    return {Kind, llvm::toString(std::move(E))};
  }

  TemporaryFolder Temporary;
  FakeClock Time;
};

/// After three looks it does something.
class ThirdLook : public FakeClock {
public:
  explicit ThirdLook(std::function<void()> Do) : Do(std::move(Do)) {}
  void sleep(Duration For) override {
    FakeClock::sleep(For);
    if (++Looks == 3)
      Do();
  }
  unsigned Looks = 0;

private:
  std::function<void()> Do;
};
} // namespace

// With no answer the run suspends, and says which file waits and what to do.
TEST_F(ExchangeTest, SuspendsUntilAnswered) {
  auto [Kind, Text] = failure();
  std::string Stem = requestFileStem(request());
  EXPECT_EQ(Kind, ErrorKind::Suspended);
  EXPECT_EQ(Text, "waiting for an answer to '" + file("pending", Stem + ".md") +
                      "': write it to '" + file("answers", Stem + ".md") +
                      "' and run the same command again");
  EXPECT_TRUE(fs::exists(file("pending", Stem + ".md")));
  EXPECT_TRUE(fs::exists(file("pending", Stem + ".json")));

  answer("The plan.\r\nSecond line.\r\n");
  llvm::Expected<ChatReply> Reply = ask();
  ASSERT_TRUE(bool(Reply)) << llvm::toString(Reply.takeError());
  EXPECT_EQ(Reply->Text, "The plan.\nSecond line.\n");
  EXPECT_EQ(Reply->Provider, "exchange");
  EXPECT_EQ(Reply->Model, "unknown");
  EXPECT_EQ(Reply->Applied, std::vector<std::string>{"temperature=unknown"});
  EXPECT_FALSE(Reply->CostMicroUsd);
  EXPECT_FALSE(Reply->Tokens.Input);
  // Nothing waits any more, and the request is kept.
  EXPECT_FALSE(fs::exists(file("pending", Stem + ".md")));
  EXPECT_FALSE(fs::exists(file("pending", Stem + ".json")));
  EXPECT_TRUE(fs::exists(file("answered", Stem + ".md")));
  // A run that was killed before it noted the reply asks again.
  Reply = ask();
  ASSERT_TRUE(bool(Reply)) << llvm::toString(Reply.takeError());
  EXPECT_EQ(Reply->Text, "The plan.\nSecond line.\n");
}

TEST_F(ExchangeTest, FrontMatterTellsModelAndUsage) {
  answer("---\nmodel: some-model\ndigest: " + request().digest() +
         "\nid: 0001-plan-1\ninput_tokens: 1200\noutput_tokens: 80\n"
         "temperature: 0.8\n---\nThe plan.\n");
  llvm::Expected<ChatReply> Reply = ask();
  ASSERT_TRUE(bool(Reply)) << llvm::toString(Reply.takeError());
  EXPECT_EQ(Reply->Text, "The plan.\n");
  EXPECT_EQ(Reply->Model, "some-model");
  EXPECT_EQ(Reply->Tokens.Input, 1200u);
  EXPECT_EQ(Reply->Tokens.Output, 80u);
  EXPECT_EQ(Reply->Applied, std::vector<std::string>{"temperature=0.8"});
}

// A rule that opens an answer is no front matter.
TEST_F(ExchangeTest, RuledAnswerIsText) {
  std::string Text = "---\nA plan: with a colon\n---\nmore\n";
  answer(Text);
  llvm::Expected<ChatReply> Reply = ask();
  ASSERT_TRUE(bool(Reply)) << llvm::toString(Reply.takeError());
  EXPECT_EQ(Reply->Text, Text);
}

TEST_F(ExchangeTest, BrokenFrontMatterIsNamed) {
  std::string Path = file("answers", requestFileStem(request()) + ".md");
  answer("---\nmodel: m\ninput_tokens: many\n---\n");
  EXPECT_EQ(failure().second, "answer '" + Path +
                                  "': front matter 'input_tokens': got "
                                  "'many', wanted a number of 0 or more");
  answer("---\nmodel: m\ntokens: 1\n---\n");
  EXPECT_NE(failure().second.find("unknown key 'tokens', wanted one of model"),
            std::string::npos);
}

// An answer for another request is an error that names both.
TEST_F(ExchangeTest, AnswerForAnotherRequestIsAnError) {
  std::string Right = request().digest().substr(0, 12);
  std::string Stem = "0001-plan-1-0123456789ab";
  ASSERT_FALSE(
      bool(writeFileAtomically(file("answers", Stem + ".md"), "A plan.")));
  auto [Kind, Text] = failure();
  EXPECT_EQ(Kind, ErrorKind::Failed);
  EXPECT_EQ(Text, "answer '" + file("answers", Stem + ".md") +
                      "' is for another request: it has digest "
                      "'0123456789ab', wanted '" +
                      Right + "' of '" +
                      file("pending", "0001-plan-1-" + Right + ".md") + "'");

  answer("---\nmodel: m\ndigest: 0123456789ab\n---\nA plan.");
  EXPECT_EQ(failure().second,
            "answer '" + file("answers", "0001-plan-1-" + Right + ".md") +
                "' is for another request: it has digest '0123456789ab', "
                "wanted '" +
                Right + "'");
  answer("---\nid: 0002-plan-1\n---\nA plan.");
  EXPECT_EQ(failure().second,
            "answer '" + file("answers", "0001-plan-1-" + Right + ".md") +
                "' is for request '0002-plan-1', wanted one for "
                "'0001-plan-1'");
}

// Two runs may share a folder: the other's answers are not this one's.
TEST_F(ExchangeTest, AnswerToAKnownRequestIsLeftAlone) {
  ChatRequest Other = request();
  Other.System = "another system";
  EXPECT_EQ(failure(Other).first, ErrorKind::Suspended);
  answer("other", Other);
  EXPECT_EQ(failure().first, ErrorKind::Suspended);
  answer("mine");
  EXPECT_EQ(llvm::cantFail(ask()).Text, "mine");
  EXPECT_EQ(llvm::cantFail(ask(Other)).Text, "other");
}

// A file that is being written is not taken.
TEST_F(ExchangeTest, UnfinishedAnswersAreIgnored) {
  std::string Stem = requestFileStem(request());
  answer("");
  EXPECT_EQ(failure().first, ErrorKind::Suspended);
  for (const char *Suffix : {".md.tmp", ".md.part", ".md.XYZ.tmp", ".md~"})
    ASSERT_FALSE(
        bool(writeFileAtomically(file("answers", Stem + Suffix), "half a pl")));
  EXPECT_EQ(failure().first, ErrorKind::Suspended);
}

TEST_F(ExchangeTest, HostileBytesAreRepairedOrRefused) {
  std::string Path = file("answers", requestFileStem(request()) + ".md");
  answer(std::string("\xEF\xBB\xBF"
                     "caf\xE9 \0 end",
                     13));
  llvm::Expected<ChatReply> Reply = ask();
  ASSERT_TRUE(bool(Reply)) << llvm::toString(Reply.takeError());
  EXPECT_EQ(Reply->Text, "caf\xEF\xBF\xBD \xEF\xBF\xBD end");
  EXPECT_EQ(Reply->Applied.back(), "encoding=repaired");

  answer(std::string("\xFF\xFEx\0", 4));
  EXPECT_EQ(failure().second,
            "answer '" + Path + "' is UTF-16 text, wanted UTF-8");
  answer(std::string(10 * 1024 * 1024 + 1, 'x'));
  EXPECT_EQ(failure().second, "answer '" + Path +
                                  "' has 10485761 bytes, wanted at most "
                                  "10485760");
  // A pipe would never end.
  ASSERT_FALSE(fs::remove(Path));
  ASSERT_EQ(::mkfifo(Path.c_str(), 0600), 0);
  EXPECT_EQ(failure().second, "answer '" + Path + "': wanted a regular file");
}

// It waits as long as it was told to, and looks often.
TEST_F(ExchangeTest, WaitsByTheClock) {
  llvm::Expected<ChatReply> Reply = ask(request(), 60'100);
  ASSERT_FALSE(bool(Reply));
  llvm::Error E = Reply.takeError();
  EXPECT_EQ(errorKind(E), ErrorKind::Suspended);
  llvm::consumeError(std::move(E));
  EXPECT_EQ(Time.now().time_since_epoch(), std::chrono::milliseconds(60'100));

  ThirdLook Comes([&] { answer("the plan\n"); });
  ExchangeOptions Options;
  Options.WaitMs = 60'000;
  auto Client =
      llvm::cantFail(makeExchangeClient(Temporary.path(), Options, Comes));
  EXPECT_EQ(llvm::cantFail(Client->complete(request(), {})).Text, "the plan\n");
  EXPECT_EQ(Comes.Looks, 3u);
}

// An interrupt ends the wait at the next look.
TEST_F(ExchangeTest, AnInterruptEndsTheWait) {
  std::atomic<bool> Cancelled = false;
  ThirdLook Comes([&] { Cancelled = true; });
  CallControl Control;
  Control.Cancelled = &Cancelled;
  ExchangeOptions Options;
  Options.WaitMs = 60'000;
  auto Client =
      llvm::cantFail(makeExchangeClient(Temporary.path(), Options, Comes));
  llvm::Expected<ChatReply> Reply = Client->complete(request(), Control);
  ASSERT_FALSE(bool(Reply));
  llvm::Error E = Reply.takeError();
  EXPECT_EQ(errorKind(E), ErrorKind::Interrupted);
  llvm::consumeError(std::move(E));
  EXPECT_EQ(Comes.Looks, 3u);
}

// Two requests may wait at once; each gets its own answer.
TEST_F(ExchangeTest, WaitsForTwoAtOnce) {
  ChatRequest A = request("0001-plan-1"), B = request("0002-plan-1");
  auto Client = llvm::cantFail(makeExchangeClient(
      Temporary.path(), ExchangeOptions{/*WaitMs=*/20000}, machineClock()));
  std::string Said[2];
  std::thread First(
      [&] { Said[0] = llvm::cantFail(Client->complete(A, {})).Text; });
  std::thread Second(
      [&] { Said[1] = llvm::cantFail(Client->complete(B, {})).Text; });
  answer("to B", B);
  answer("to A", A);
  First.join();
  Second.join();
  EXPECT_EQ(Said[0], "to A");
  EXPECT_EQ(Said[1], "to B");
}

TEST_F(ExchangeTest, CancelledCallEnds) {
  std::atomic<bool> Cancelled = true;
  CallControl Control;
  Control.Cancelled = &Cancelled;
  llvm::Expected<ChatReply> Reply = ask(request(), 60000, Control);
  ASSERT_FALSE(bool(Reply));
  llvm::Error E = Reply.takeError();
  EXPECT_EQ(errorKind(E), ErrorKind::Interrupted);
  llvm::consumeError(std::move(E));
}

TEST_F(ExchangeTest, ReplyIsStreamedToTheCaller) {
  answer("text");
  std::string Seen;
  CallControl Control;
  Control.OnText = [&](llvm::StringRef Delta) { Seen += Delta; };
  EXPECT_TRUE(bool(ask(request(), 0, Control)));
  EXPECT_EQ(Seen, "text");
}

// A folder that cannot be made is one clear error.
TEST_F(ExchangeTest, UnusableFolderIsNamed) {
  auto Client = makeExchangeClient("/dev/null/x", {}, Time);
  ASSERT_FALSE(bool(Client));
  EXPECT_EQ(llvm::toString(Client.takeError()),
            "cannot create folder '/dev/null/x/pending': Not a directory");
}
