//===- DraftRequestTest.cpp - What a model is shown of a program
//-----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyFixture.h"
#include "stark/Agent/DraftAgent.h"
#include "stark/Draft/Draft.h"
#include "stark/Support/File.h"

using namespace stark;

namespace {
/// What is asked of the draft of "k" of \p Text, which is at \p Path.
std::string shown(const std::string &Text, bool WithCallers = false) {
  TemporaryFolder Folder =
      llvm::cantFail(TemporaryFolder::create("stark-test"));
  std::string Path = (Folder.path() + "/k.cu").str();
  auto Write = [&](llvm::StringRef Name, llvm::StringRef Bytes) {
    llvm::cantFail(
        writeFileAtomically((Folder.path() + "/" + Name).str(), Bytes));
  };
  Write("k.cu", Text);
  Write("launch.cu", "__global__ void k(float *x);\n"
                     "void launch(float *x) { k<<<1, 32>>>(x); }\n");
  Write("program.cpp", "void launch(float *x);\n"
                       "int main() { const int Rows = 77; launch(0); }\n");
  ParseOptions Options;
  Options.Toolkit = "none";
  auto Source = llvm::cantFail(parseSource(Path, Text, Options));
  std::vector<std::unique_ptr<ParsedSource>> Callers;
  if (WithCallers)
    Callers = findCallers(*Source, Options);
  DraftQuestion Q{*Source, Callers, Options, "k"};
  std::optional<Signature> Entry;
  if (!entryCandidates(*Source).empty())
    Q.Of = &Entry.emplace(llvm::cantFail(findEntry(*Source, "k")));
  Q.Draft = "{\"launch\": {\"kernel\": \"k\"}, \"bytes\": \"4 * n\"}";
  Q.Notes = {"\"bytes\" counts x", "not proved in the simulator: crashed: x",
             "'" + Path + "' is long"};
  Q.Found = "crashed\n" + std::string("x[5]");
  Prompt P = llvm::cantFail(loadDraftPrompt(STARK_SOURCE_DIR "/prompts"));
  return llvm::cantFail(makeDraftRequest(P, Q)).Messages.front().Text;
}

const std::string Kernel = "__global__ void k(float *x) { x[threadIdx.x] = 1; "
                           "}\n";

testing::AssertionResult lacks(const std::string &Text, llvm::StringRef Part) {
  if (!llvm::StringRef(Text).contains(Part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << Text << "\nhas: " << Part.str();
}

TEST(DraftRequest, WhatTheToolKnowsBestIsLeftOut) {
  std::string Text = shown("//================ 180\n" + Kernel);
  EXPECT_TRUE(lacks(Text, "\"bytes\""));
  EXPECT_TRUE(lacks(Text, "not proved in the simulator"));
  EXPECT_TRUE(lacks(Text, "===="));
  EXPECT_TRUE(says(Text, "crashed\nx[5]"));
  EXPECT_TRUE(says(Text, "- 'k.cu' is long"));
}

// Of a long file what the entry and main() reach, without other kernels.
TEST(DraftRequest, LongFilesAreCutDown) {
  std::string Filler;
  for (int I = 0; I < 400; ++I)
    Filler += "int filler" + std::to_string(I) + "(int a) {\n  return a + " +
              std::to_string(I) + ";\n}\n";
  std::string Text =
      shown("__device__ float half(float x) {\n  return x / 2;\n}\n" + Filler +
            "__global__ void k(float *x) {\n  x[threadIdx.x] = half(1);\n}\n" +
            "__global__ void other(float *x) {\n  x[threadIdx.x] = 3;\n}\n" +
            "int rows() {\n  return 4711;\n}\n" +
            "int main() {\n  k<<<1, rows()>>>(0);\n  other<<<1, 1>>>(0);\n}\n");
  for (const char *Part :
       {"x / 2", "half(1)", "4711", "k<<<1, rows()>>>", "are not shown here]"})
    EXPECT_TRUE(says(Text, Part));
  EXPECT_TRUE(lacks(Text, "filler7"));
  EXPECT_TRUE(lacks(Text, "x[threadIdx.x] = 3"));
  EXPECT_LT(Text.size(), 6000u);
}

TEST(DraftRequest, NothingToBeCalled) {
  EXPECT_TRUE(
      says(shown("int main() {}\n"), "Nothing that the file itself defines"));
}

// A kernel's launcher is called with somebody else's sizes.
TEST(DraftRequest, CallersOfCallers) {
  std::string Text = shown(Kernel, /*WithCallers=*/true);
  EXPECT_TRUE(says(Text, "`launch.cu`, a file of the same project that calls "
                         "it:"));
  EXPECT_TRUE(says(Text, "`program.cpp`, a file of the same project that calls "
                         "`launch.cu`:"));
  EXPECT_TRUE(says(Text, "Rows = 77"));
}
} // namespace
