//===- ProviderSpecTest.cpp - Specs of providers ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/ProviderSpec.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <gtest/gtest.h>

using namespace stark;
using Kind = ProviderSpec::Kind;

static std::string problem(llvm::StringRef Text, llvm::StringRef Models = "",
                           ErrorKind Kind = ErrorKind::Usage) {
  llvm::Expected<ProviderSpec> Spec = parseProviderSpec(Text, Models);
  if (Spec)
    return "";
  llvm::Error E = Spec.takeError();
  EXPECT_EQ(errorKind(E), Kind);
  return llvm::toString(std::move(E));
}

// What is parsed prints as it was written, and each kind has its argument.
TEST(ProviderSpec, EachKindPrintsAsItWasWritten) {
  const std::pair<const char *, ProviderSpec> Cases[] = {
      {"rules", {Kind::Rules, ""}},
      {"exchange:talk", {Kind::Exchange, "talk"}},
      {"replay:run/a:b", {Kind::Replay, "run/a:b"}},
      {"config:team.json", {Kind::Config, "team.json"}},
      {"anthropic", {Kind::Http, "anthropic"}},
      {"llama.cpp", {Kind::Http, "llama.cpp"}},
  };
  for (const auto &[Text, Wanted] : Cases) {
    llvm::Expected<ProviderSpec> Spec = parseProviderSpec(Text, "");
    ASSERT_TRUE(bool(Spec)) << llvm::toString(Spec.takeError());
    EXPECT_EQ(*Spec, Wanted) << Text;
    EXPECT_EQ(printProviderSpec(*Spec), Text);
    EXPECT_EQ(Spec->replayedRun(), Wanted.Of == Kind::Replay ? "run/a:b" : "");
  }
}

TEST(ProviderSpec, UnknownOnesAreUsage) {
  for (const char *Text :
       {"", "exchange", "exchange:", "oracle:x", "rules:x", "Anthropic"}) {
    std::string Got = problem(Text);
    EXPECT_EQ(Got.find(std::string("provider: got '") + Text +
                       "', wanted rules, exchange:DIR, replay:RUN, config:FILE "
                       "or one of anthropic, openai, "),
              0u)
        << Got;
  }
}

// A user's table of models brings providers of its own, and its errors.
TEST(ProviderSpec, NamesComeFromTheTableOfModels) {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("models"));
  std::string File = Folder.path().str() + "/models.json";
  EXPECT_EQ(problem("rules", File), "") << "rules need no table";
  EXPECT_EQ(problem("ours", File, ErrorKind::Failed)
                .find("cannot read '" + File + "'"),
            0u);
  ASSERT_FALSE(bool(writeFileAtomically(
      File, R"({"version": 1, "as_of": "2026-11-22", "providers": [
                {"name": "ours", "dialect": "openai-chat"}]})")));
  EXPECT_NE(problem("ours"), "");
  EXPECT_EQ(problem("ours", File), "");
}
