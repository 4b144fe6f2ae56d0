//===- ReplyFixture.h - A source, and what answers about it come to -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_TEST_UNIT_AGENT_REPLYFIXTURE_H
#define STARK_TEST_UNIT_AGENT_REPLYFIXTURE_H

#include "stark/AST/Parse.h"
#include "stark/Agent/Agent.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

namespace stark {

inline const char *const BaseText = R"cpp(#include <cstdio>
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}
// Starts it.
void launch(const float *x, float *y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
)cpp";

/// A whole file that is as good as the source.
inline const char *const Good = R"cpp(#include <cstdio>
__global__ void k(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i];
}
void launch(const float *x, float *y, int n) { k<<<1, 256>>>(x, y, n); }
)cpp";

class ReplyTest : public testing::Test {
protected:
  void SetUp() override {
    static std::shared_ptr<ParsedSource> Parsed = [] {
      ParseOptions Options;
      Options.Toolkit = "none";
      return std::shared_ptr<ParsedSource>(
          llvm::cantFail(parseSource("/none/k.cu", BaseText, Options)));
    }();
    T.SourceText = BaseText;
    T.Entry.Name = T.Load.Entry = "launch";
    Base = Parsed;
    All = findSites(*Base);
    In.Of = &T;
    In.Base = Base.get();
    In.BaseSites = &All;
    In.Given = &Given;
  }
  void anchors(const std::vector<std::string> &Ids) {
    Given.Anchors = llvm::cantFail(groundSites(*Base, All, Ids));
  }
  /// What a code agent's answer comes to: a candidate, or "re-ask: ...".
  std::string code(const std::string &Answer) {
    llvm::Expected<std::string> Text = readCode(In, Answer);
    return Text ? *Text : "re-ask: " + llvm::toString(Text.takeError());
  }
  static std::string file(const std::string &Text) {
    return "Done.\n\n```cuda file\n" + Text + "```\n";
  }
  static std::string with(std::string Text, llvm::StringRef Old,
                          llvm::StringRef New) {
    size_t At = Text.find(Old.str());
    EXPECT_NE(At, std::string::npos) << Old.str();
    return Text.replace(At, Old.size(), New.str());
  }
  /// Advice of a plan, or the re-ask.
  std::string plan(const std::string &Answer) {
    llvm::Expected<Instruction> I = readPlan(In, Answer);
    return I ? I->Title + " | " + I->Advice
             : "re-ask: " + llvm::toString(I.takeError());
  }
  static std::string marked(const std::string &Text) {
    return "```cuda\n" + Text + "```\n";
  }

  Task T;
  std::shared_ptr<ParsedSource> Base;
  Sites All;
  Instruction Given;
  AgentInput In;
};

/// \p Text as a JSON string.
inline std::string asJson(llvm::StringRef Text) {
  std::string Out = "\"";
  for (char C : Text)
    Out += C == '\n'   ? "\\n"
           : C == '"'  ? "\\\""
           : C == '\\' ? "\\\\"
                       : std::string(1, C);
  return Out + "\"";
}

/// \p Begin is how it begins, \p Part what it holds somewhere.
inline testing::AssertionResult says(const std::string &Text,
                                     llvm::StringRef Part) {
  if (llvm::StringRef(Text).contains(Part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << Text << "\nlacks: " << Part.str();
}
} // namespace stark

#endif
