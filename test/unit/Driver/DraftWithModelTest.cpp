//===- DraftWithModelTest.cpp - Answers, checked and sent back ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/DraftWithModel.h"
#include "stark/AST/SourceFile.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
constexpr const char *Source = R"(#include <cuda_runtime.h>
struct Box { float *x; int n; };
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}
__global__ void boxed(Box b) { b.x[threadIdx.x] += 1; }
__global__ void rows(float **x) { x[threadIdx.x][0] += 1; }
int main() {
  float *x, *y;
  int n = 4096;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
)";

std::string workload(llvm::StringRef N, llvm::StringRef More = "") {
  return ("```json\n{\"launch\": {\"kernel\": \"k\", \"grid\": \"ceildiv(n, "
          "256)\", \"block\": \"256\"}, \"sizes\": [{\"n\": " +
          N +
          "}], \"arguments\": {\"x\": {\"dtype\": \"f32\", \"shape\": "
          "[\"n\"]}, \"y\": {\"dtype\": \"f32\", \"shape\": [\"n\"], \"role\": "
          "\"output\"}, \"n\": {\"value\": \"n\"}" +
          More + "}}\n```\n")
      .str();
}

/// Gives the replies of a list; what it was asked is kept.
class Scripted : public ChatClient {
public:
  llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                     const CallControl &) override {
    Asked.push_back(R);
    if (Replies.empty())
      return suspended("no more replies");
    ChatReply Reply;
    Reply.Text = Replies.front();
    Reply.Provider = "test";
    Reply.Model = "m-1";
    Reply.Tokens.Input = 100;
    Reply.Tokens.Output = 10;
    Replies.erase(Replies.begin());
    if (Reply.Text == "fail")
      return failed("the call failed");
    return Reply;
  }
  std::string identity() const override { return "test"; }
  std::vector<std::string> Replies;
  std::vector<ChatRequest> Asked;
};

class DraftWithModelTest : public testing::Test {
protected:
  void SetUp() override {
    Folder.emplace(llvm::cantFail(TemporaryFolder::create("stark-test")));
    Path = (Folder->path() + "/k.cu").str();
    llvm::cantFail(writeFileAtomically(Path, Source));
    Options.Toolkit = "none";
    Parsed = llvm::cantFail(parseSourceFile(Path, Options));
    Asks = llvm::cantFail(loadDraftPrompt(STARK_SOURCE_DIR "/prompts"));
  }

  ModelDraftRequest request() {
    ModelDraftRequest R{{*Parsed, {}, Options, "k"}};
    R.Question.Draft = json("4096");
    R.Question.Notes = {"size 'n': 4096 is guessed"};
    R.Prove = false;
    return R;
  }
  static std::string json(llvm::StringRef N) {
    std::string Text = workload(N);
    return llvm::StringRef(Text).drop_front(8).drop_back(5).str();
  }
  /// Notes, a line each, or the error.
  std::string ask(const ModelDraftRequest &R) {
    llvm::Expected<ModelDraft> D = draftWithModel(R, Asks, Client, {});
    if (!D)
      return "error: " + llvm::toString(D.takeError());
    Made = *D;
    return llvm::join(D->Notes, "\n");
  }
  /// What was said to the answer before the last.
  std::string said() const { return Client.Asked.back().Messages.back().Text; }
  static testing::AssertionResult says(const std::string &Text,
                                       llvm::StringRef Part) {
    if (llvm::StringRef(Text).contains(Part))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << Text << "\nlacks: " << Part.str();
  }

  std::optional<TemporaryFolder> Folder;
  std::string Path;
  ParseOptions Options;
  std::unique_ptr<ParsedSource> Parsed;
  Prompt Asks;
  Scripted Client;
  ModelDraft Made;
};

TEST_F(DraftWithModelTest, TheRequestHasAllThatAnAnswerNeeds) {
  Client.Replies = {workload("4096")};
  ask(request());
  ASSERT_EQ(Client.Asked.size(), 1u);
  const ChatRequest &R = Client.Asked.front();
  EXPECT_EQ(R.Id, "0000-draft-1");
  EXPECT_EQ(R.Role, "draft");
  for (const char *Part :
       {"`k.cu`", "k<<<(n + 255) / 256, 256>>>(x, y, n);",
        "\"x\": {\"dtype\":\"f32\",\"shape\":[\"n\"]}",
        "size 'n': 4096 is guessed", "`void boxed(Box b)`, a kernel, line 8",
        "`void rows(float ** x)`, a kernel, line 9; no workload can give `x`"})
    EXPECT_TRUE(says(R.Messages.front().Text, Part));
}

TEST_F(DraftWithModelTest, WhatItChangedIsSaid) {
  Client.Replies = {workload("65536") + "- n: as in production\x1b[31m\n"};
  std::string Notes = ask(request());
  EXPECT_TRUE(says(Notes, "answered by test, m-1, 1 time; tokens in 100, out "
                          "10; cost unknown"));
  EXPECT_TRUE(says(Notes, "changed sizes[0]: n 4096 -> 65536"));
  EXPECT_TRUE(says(Notes, "it says: - n: as in production"));
  EXPECT_EQ(Notes.find('\x1b'), std::string::npos);
  EXPECT_TRUE(says(Made.Workload, "\"n\": 65536"));
}

TEST_F(DraftWithModelTest, ADraftThatStays) {
  Client.Replies = {workload("4096")};
  EXPECT_TRUE(says(ask(request()), "it changed nothing"));
}

// What cannot be used goes back with one error, as the next message of the
// conversation; the names of temporary folders are in none.
TEST_F(DraftWithModelTest, ErrorsGoBack) {
  Client.Replies = {"I do not know.",
                    workload("4096", ", \"z\": {\"value\": 1}"),
                    workload("8192")};
  std::string Notes = ask(request());
  ASSERT_EQ(Client.Asked.size(), 3u);
  EXPECT_EQ(Client.Asked[1].Id, "0000-draft-2");
  ASSERT_EQ(Client.Asked[2].Messages.size(), 5u);
  EXPECT_EQ(Client.Asked[2].Messages[1].Text, "I do not know.");
  EXPECT_TRUE(says(Client.Asked[2].Messages[2].Text,
                   "This answer cannot be used: the answer holds no workload"));
  EXPECT_TRUE(says(said(), "This answer cannot be used: workload.json: field "
                           "'arguments.z': workload names 'z', but k has x, y, "
                           "n"));
  EXPECT_TRUE(says(Notes, "n 4096 -> 8192"));
}

TEST_F(DraftWithModelTest, RoundsAreOver) {
  Client.Replies = {"No.", "No.", workload("8192")};
  ModelDraftRequest R = request();
  R.Rounds = 2;
  EXPECT_TRUE(says(ask(R),
                   "no answer passed; the last one: the answer holds no "
                   "workload, and says 'No.'"));
  EXPECT_EQ(Client.Asked.size(), 2u);
  EXPECT_EQ(Made.Workload, "");
}

TEST_F(DraftWithModelTest, HugeOnes) {
  Client.Replies = {workload("99999999999"), workload("4000000000"),
                    workload("100000000")};
  ask(request());
  EXPECT_TRUE(says(Client.Asked[1].Messages.back().Text, "cannot be used"));
  EXPECT_TRUE(says(said(), "cannot be used"));
  Client.Replies = {workload("1000000000"), "-"};
  ModelDraftRequest R = request();
  R.Rounds = 1;
  EXPECT_TRUE(says(ask(R), "its smallest size, 'n=1000000000', has arguments "
                           "of 7629 MiB; wanted one with \"check_only\" of "
                           "less than 16 MiB"));
}

// Whatever the types of its fields are.
TEST_F(DraftWithModelTest, OddTypes) {
  ModelDraftRequest R = request();
  R.Rounds = 1;
  for (const char *Text :
       {R"({"entry": 5, "sizes": "x", "arguments": [1]})",
        R"({"launch": [], "sizes": [1], "arguments": {"x": [[], {}]}})",
        R"({"launch": {"kernel": {}, "grid": [{}], "block": [[1]]},
            "sizes": {}, "arguments": "x", "symbols": 3})",
        R"({"entry": "k", "sizes": [null], "arguments": null,
            "degenerate": {"a": 1}})",
        R"({"launch": {"kernel": "k", "grid": "1", "block": "1"},
            "sizes": [{"n": 1e300}], "arguments": {"x": {"init": []}}})"}) {
    Client.Replies = {"```json\n" + std::string(Text) + "\n```\n"};
    EXPECT_TRUE(says(ask(R), "no answer passed; the last one: ")) << Text;
  }
}

TEST_F(DraftWithModelTest, AnotherEntryThanTheUsers) {
  ModelDraftRequest R = request();
  R.Question.IsFixed = true;
  R.Question.Entry = "boxed";
  R.Rounds = 1;
  Client.Replies = {workload("4096")};
  EXPECT_TRUE(says(ask(R), "the workload is of 'k', but the user asks for "
                           "'boxed'"));
}

// Nobody asked, nothing lost: the errors of the client are the caller's.
TEST_F(DraftWithModelTest, CallsThatFail) {
  Client.Replies = {"fail"};
  EXPECT_EQ(ask(request()), "error: the call failed");
  Client.Replies = {};
  EXPECT_EQ(ask(request()), "error: no more replies");
}

TEST_F(DraftWithModelTest, SizesThatMoveNothingAreAskedAboutOnce) {
  std::string Idle = workload("4096, \"m\": 3");
  Client.Replies = {Idle, Idle, workload("1")};
  std::string Notes = ask(request());
  EXPECT_EQ(Client.Asked.size(), 2u);
  EXPECT_TRUE(
      says(said(), "no shape, value or launch depends on the size 'm'"));
  EXPECT_TRUE(says(Notes, "it was asked, and this stays: no shape, value or "
                          "launch depends on the size 'm'"));
  // Not in the last round.
  Client.Asked.clear();
  Client.Replies = {Idle, Idle};
  ModelDraftRequest Once = request();
  Once.Rounds = 1;
  EXPECT_TRUE(says(ask(Once), "this says little: no shape, value or launch "
                              "depends on the size 'm'"));
  EXPECT_EQ(Client.Asked.size(), 1u);
  // The answer stays where the question cannot be asked.
  Client.Asked.clear();
  Client.Replies = {Idle, "fail"};
  EXPECT_TRUE(says(ask(request()), "it could not be asked once more: the call "
                                   "failed"));
  EXPECT_TRUE(says(Made.Workload, "\"m\": 3"));
}

TEST_F(DraftWithModelTest, WithoutADraft) {
  ModelDraftRequest R = request();
  R.Question.Draft.clear();
  R.Question.Notes.clear();
  R.Question.WhyNone = "'step' is overloaded";
  Client.Replies = {workload("4096")};
  ask(R);
  EXPECT_TRUE(says(Client.Asked.front().Messages.front().Text,
                   "There is none: 'step' is overloaded."));
  EXPECT_TRUE(says(Made.Workload, "\"n\": 4096"));
}

TEST_F(DraftWithModelTest, CallsAreHeldToWhatACandidateIs) {
  auto Forbidden = [&](const std::string &Text) {
    return llvm::cantFail(
        forbiddenInCall("#include \"k.cu\"\n" + Text, Path, Options));
  };
  EXPECT_EQ(Forbidden("void step(float *x, int n) {\n"
                      "  Box b{x, n};\n"
                      "  boxed<<<1, n>>>(b);\n}\n"),
            "");
  EXPECT_TRUE(says(Forbidden("#include \"/etc/passwd\"\n"), "line 2: "));
  for (const char *Text :
       {"#include <fstream>\n", "#include_next <cstdio>\n",
        "#define H \"/etc/passwd\"\n#include H\n",
        "const char T[] = {\n#embed \"/etc/passwd\"\n};\n",
        "#if __has_include(\"/etc/shadow\")\n#endif\n",
        "__attribute__((constructor)) void begin() {}\n",
        "void step() { asm(\"syscall\"); }\n", "#pragma comment(lib, \"x\")\n",
        "extern \"C\" int socket(int, int, int);\n"
        "int step() { return socket(1, 1, 0); }\n",
        "#include <thread>\nvoid step() { std::thread([] {}).detach(); }\n"})
    EXPECT_NE(Forbidden(Text), "") << Text;
  EXPECT_TRUE(says(Forbidden("#include \"../k.cu\"\n"), "line 2: "));
  EXPECT_TRUE(
      says(Forbidden("asm(\".incbin \\\"/etc/passwd\\\"\");\n"), "line 2: "));
  EXPECT_TRUE(says(Forbidden("extern \"C\" int system(const char *);\n"
                             "void step() { system(\"id\"); }\n"),
                   "line 3: "));
  EXPECT_TRUE(
      says(Forbidden("int Calls;\nvoid step() { ++Calls; }\n"), "line 2: "));
}

TEST_F(DraftWithModelTest, ACallSaysWhereItsSourceIs) {
  EXPECT_EQ(callName("a/b/k.cu"), "k.call.cu");
  EXPECT_EQ(
      callFor("#include \"k.cu\"\nint x;\n", "/a/b/k.cu", "/a/b/k.call.cu"),
      "#include \"k.cu\"\nint x;\n");
  EXPECT_EQ(
      callFor("# include \"k.cu\" // it\n", "/a/b/k.cu", "/a/c/k.call.cu"),
      "# include \"../b/k.cu\" // it\n");
  EXPECT_EQ(callFor("#include \"k.cu\"\n", "/a/b/k.cu", "/tmp/k.call.cu"),
            "#include \"/a/b/k.cu\"\n");
}

TEST(WorkloadChanges, ALineAField) {
  EXPECT_EQ(workloadChanges(R"({"sizes": [{"n": 1}], "bytes": "n",
      "launch": {"grid": "n", "block": "256"},
      "arguments": {"x": {"init": "zeros", "role": "inout"}, "y": {"value": 1}}})",
                            R"({"sizes": [{"n": 2, "m": 3}],
      "launch": {"grid": "n", "block": "128"}, "harden": false,
      "arguments": {"x": {"init": {"normal": [0, 2]}, "role": "inout"}}})"),
            (std::vector<std::string>{
                "sizes[0]: n 1 -> 2, m - -> 3", "launch.block: 256 -> 128",
                "harden: now false", "x.init: zeros -> {\"normal\":[0,2]}",
                "y: no longer {\"value\":1}"}));
}
} // namespace
