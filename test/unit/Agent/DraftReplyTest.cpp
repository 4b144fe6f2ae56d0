//===- DraftReplyTest.cpp - What of a model's workload is taken -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyFixture.h"
#include "stark/Agent/DraftAgent.h"

using namespace stark;

namespace {
constexpr const char *Plain =
    R"({"entry": "launch", "sizes": [{"n": 1024}],
 "arguments": {"x": {"dtype": "f32", "shape": ["n"]},
               "y": {"dtype": "f32", "shape": ["n"], "role": "output"},
               "n": {"value": "n"}}})";

constexpr const char *Call = "#include \"k.cu\"\n\n"
                             "void step(float *x, int n) {\n"
                             "  P p{x, n};\n"
                             "  k<<<1, 256>>>(p);\n"
                             "}\n";

std::string json(llvm::StringRef Text) {
  return ("```json\n" + Text + "\n```\n").str();
}
std::string cuda(llvm::StringRef Text) {
  return ("```cuda\n" + Text + "```\n").str();
}

/// The answer, or "re-ask: ..." as its workload.
DraftAnswer read(const std::string &Reply) {
  llvm::Expected<DraftAnswer> A = readDraft(Reply, "k.cu");
  if (A)
    return *A;
  DraftAnswer Not;
  Not.Workload = "re-ask: " + llvm::toString(A.takeError());
  return Not;
}

std::string workload(const std::string &Reply) { return read(Reply).Workload; }

/// \p Plain with \p More as its first field.
std::string with(llvm::StringRef More) {
  return json(("{" + More + ", " + llvm::StringRef(Plain).drop_front()).str());
}

TEST(DraftReply, WorkloadAndWhatWasChanged) {
  DraftAnswer A = read(json(Plain) + "\n- n: 1024, as main() has it\n");
  EXPECT_TRUE(says(A.Workload, "\"entry\": \"launch\""));
  EXPECT_EQ(A.Changes, "- n: 1024, as main() has it");
  EXPECT_EQ(A.Call, "");
  EXPECT_EQ(A.Fault, "");
}

TEST(DraftReply, LenientAsAnyReplyIs) {
  // Comments, trailing commas, no fence, thoughts before it, an earlier try.
  EXPECT_TRUE(
      says(workload("<think>{\"entry\": 1}</think>" + std::string(Plain)),
           "\"launch\""));
  EXPECT_TRUE(says(workload(json(R"({"entry": "old", "sizes": [{}],
    "arguments": {}, // none
  })") + "Better:\n" + json(Plain)),
                   "\"launch\""));
  EXPECT_TRUE(
      says(workload("```\n" + std::string(Plain) + "\n```\n"), "\"launch\""));
}

TEST(DraftReply, LaunchOfNumbersAndLists) {
  std::string Text = workload(json(
      R"j({"launch": {"kernel": "k", "grid": ["ceildiv(n, 16)", "m"],
                      "block": 256},
           "sizes": [{"n": 1, "m": 2}], "arguments": {}})j"));
  EXPECT_TRUE(says(Text, "\"grid\": \"ceildiv(n, 16), m\""));
  EXPECT_TRUE(says(Text, "\"block\": \"256\""));
}

TEST(DraftReply, NoWorkload) {
  EXPECT_EQ(workload(""), "re-ask: the answer is empty; wanted one ```json "
                          "block with the whole workload");
  EXPECT_EQ(workload("I cannot say."),
            "re-ask: the answer holds no workload, and says 'I cannot say.'; "
            "wanted one ```json block with the whole workload");
  EXPECT_TRUE(says(workload(json("{\"title\": \"x\"}")), "holds no workload"));
  EXPECT_TRUE(
      says(workload(json("{\"entry\": \"launch\", \"sizes\": [")), "re-ask: "));
  EXPECT_TRUE(says(workload(json(std::string(100000, '['))), "re-ask: "));
  EXPECT_TRUE(says(workload(json("{\"sizes\": " + std::string(5000, '[') +
                                 std::string(5000, ']') + "}")),
                   "re-ask: "));
}

// What a judge is told to let pass is the user's to say.
TEST(DraftReply, NoFieldsThatLoosenAJudge) {
  for (const char *Field :
       {"\"tolerance\": {\"f32\": 0.9}", "\"margin\": 1",
        "\"reference\": \"other\"", "\"precision\": \"any\"",
        "\"magnitude\": [1, 2]", "\"envelope\": \"between\"",
        "\"weights\": \"/etc/passwd\"", "\"imported\": {}",
        "\"unknown\": true"})
    EXPECT_TRUE(
        says(workload(with(Field)), "re-ask: the workload has the field"))
        << Field;
  EXPECT_TRUE(says(workload(with("\"degenerate\": true")),
                   "re-ask: the workload says \"degenerate\" and has outputs"));
}

// The tool counts them itself.
TEST(DraftReply, BytesAreDropped) {
  std::string Text = workload(with("\"bytes\": \"999999 * n\""));
  EXPECT_TRUE(says(Text, "\"launch\""));
  EXPECT_FALSE(llvm::StringRef(Text).contains("bytes"));
}

TEST(DraftReply, NoFiles) {
  EXPECT_EQ(workload(json(R"({"entry": "launch", "sizes": [{"n": 4}],
    "arguments": {"x": {"dtype": "f32", "shape": ["n"],
                        "init": {"npy": "/home/me/.ssh/id"}}}})")),
            "re-ask: 'x' names a file of values; wanted an init that draws "
            "them");
  // An argument may be called so.
  EXPECT_TRUE(says(workload(json(R"({"entry": "launch", "sizes": [{"n": 4}],
    "arguments": {"weights": {"dtype": "f32", "shape": ["n"]},
                  "npy": {"value": 1}}})")),
                   "\"weights\""));
}

TEST(DraftReply, NoFloods) {
  std::string Sizes, Arguments;
  for (int I = 0; I < 300; ++I) {
    Sizes += std::string(I ? "," : "") + "{\"n\": " + std::to_string(I) + "}";
    Arguments += std::string(I ? "," : "") + "\"a" + std::to_string(I) +
                 "\": {\"value\": 1}";
  }
  EXPECT_TRUE(
      says(workload(json("{\"sizes\": [" + Sizes + "], \"arguments\": {}}")),
           "has 300 sizes, wanted at most 16"));
  EXPECT_TRUE(says(
      workload(json("{\"sizes\": [{}], \"arguments\": {" + Arguments + "}}")),
      "has 300 arguments, wanted at most 256"));
  EXPECT_TRUE(says(workload(json("{\"sizes\": [{}], \"arguments\": {\"x\": "
                                 "{\"value\": \"" +
                                 std::string(70000, '1') + "\"}}}")),
                   "bytes, wanted at most 65536"));
}

TEST(DraftReply, CallOfItsOwn) {
  DraftAnswer A = read(cuda(Call) + json(Plain) + "- P is given by x and n\n");
  EXPECT_EQ(A.Call, Call);
  EXPECT_TRUE(says(A.Workload, "\"launch\""));
  EXPECT_EQ(A.Changes, "- P is given by x and n");
  // A snippet in what it says is no call.
  EXPECT_EQ(read(json(Plain) + "As in\n" + cuda("k<<<1, 1>>>(p);\n")).Call, "");
}

TEST(DraftReply, CallsThatAreNone) {
  EXPECT_TRUE(
      says(workload(cuda("#include <cstdio>\nvoid f() {}\n") + json(Plain)),
           "re-ask: the ```cuda block does not include the source; "
           "wanted '#include \"k.cu\"' as a line of it"));
  EXPECT_TRUE(says(
      workload(cuda("#include \"other/k.cu\"\nvoid f() {}\n") + json(Plain)),
      "does not include the source"));
  EXPECT_TRUE(
      says(workload(cuda("#include \"k.cu\"\nvoid f() {\n") + json(Plain)),
           "the call is not whole"));
  EXPECT_TRUE(says(
      workload(cuda("#include \"k.cu\"\nvoid f() {\n  ...\n}\n") + json(Plain)),
      "the call leaves code out"));
  EXPECT_TRUE(says(
      workload(cuda("#include \"k.cu\"\n//" + std::string(70000, 'x') + "\n") +
               json(Plain)),
      "the call has 70"));
}

TEST(DraftReply, FaultOfTheProgram) {
  DraftAnswer A = read(json(Plain) + "- nothing\n\n**Fault of the program:** "
                                     "it reads x[n].\n");
  EXPECT_EQ(A.Fault, "it reads x[n].");
  EXPECT_EQ(A.Changes, "- nothing");
  EXPECT_EQ(read(json(Plain) + "Fault of the program: none\n").Fault, "");
  EXPECT_EQ(read(json(Plain) + "A fault of the program is not known.\n").Fault,
            "");
}
} // namespace
