//===- ModelsTest.cpp - What models take and cost -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Models.h"
#include "stark/Support/File.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
class ModelsTest : public ::testing::Test {
protected:
  ModelsTest()
      : Temporary(llvm::cantFail(TemporaryFolder::create("m"))),
        Table(llvm::cantFail(ModelTable::load(""))) {}

  ModelFacts facts(const char *Provider, const char *Model) {
    const ProviderFacts *P = Table.provider(Provider);
    EXPECT_TRUE(P) << Provider;
    return Table.model(*P, Model);
  }
  std::string file(const char *Text) {
    std::string Path = (Temporary.path() + "/models.json").str();
    EXPECT_FALSE(bool(writeFileAtomically(Path, Text)));
    return Path;
  }
  std::string problem(const char *Text) {
    llvm::Expected<ModelTable> T = ModelTable::load(file(Text));
    if (T)
      return "";
    std::string All = llvm::toString(T.takeError());
    return All.substr(All.find("models.json") + 13);
  }

  TemporaryFolder Temporary;
  ModelTable Table;
};
} // namespace

TEST_F(ModelsTest, SnapshotsAreTheirModelAndSuccessorsAreNot) {
  EXPECT_EQ(facts("anthropic", "claude-sonnet-4-6").Cost->Input, 3000);
  EXPECT_EQ(facts("anthropic", "claude-sonnet-4-5-20250929").Cost->Input, 3000);
  EXPECT_EQ(facts("openai", "gpt-4o-2024-08-06").Cost->Output, 10000);
  // A name that only begins like one has no known price.
  EXPECT_FALSE(facts("anthropic", "claude-sonnet-5-7").Cost);
  EXPECT_FALSE(facts("openai", "gpt-4o-audio-preview").Cost);
  EXPECT_EQ(facts("anthropic", "claude-sonnet-5-5").Cost->CacheRead, 100);
}

TEST_F(ModelsTest, TemperatureIsOfTheModel) {
  EXPECT_EQ(facts("anthropic", "claude-sonnet-4-6").Temperature, true);
  EXPECT_EQ(facts("anthropic", "claude-sonnet-4-6").ApiVersion, "2023-06-01");
  EXPECT_EQ(facts("anthropic", "claude-opus-9").Temperature, false);
  EXPECT_EQ(facts("anthropic", "claude-opus-9").ApiVersion, "2026-10-21");
  EXPECT_EQ(facts("openai", "gpt-5.9").Temperature, false);
  EXPECT_EQ(facts("openai", "gpt-4.1").Temperature, std::nullopt);
}

TEST_F(ModelsTest, SchemasAreOfTheModelOrTheServer) {
  EXPECT_EQ(facts("anthropic", "claude-sonnet-4-6").Schema, true);
  EXPECT_EQ(facts("openai", "gpt-5.9").Schema, true);
  EXPECT_EQ(facts("openai", "gpt-4-0613").Schema, std::nullopt);
  EXPECT_EQ(facts("llama.cpp", "anything").Schema, true);
  EXPECT_EQ(facts("anthropic-compatible", "qwen").Schema, std::nullopt);
}

TEST_F(ModelsTest, AServerOfOnesOwnHasNoPrice) {
  EXPECT_FALSE(facts("openai-compatible", "gpt-4o").Cost);
}

TEST_F(ModelsTest, CostsAreWholeAndUnknownOnesAreUnknown) {
  ModelFacts M = facts("anthropic", "claude-sonnet-4-6");
  Usage U;
  U.Input = 1000;
  U.Output = 100;
  EXPECT_EQ(costOf(M, U), 1000 * 3 + 100 * 15);
  U.CacheRead = 1000; // 0.30
  U.CacheWrite = 100; // 3.75
  EXPECT_EQ(costOf(M, U), 3000 + 1500 + 300 + 375);
  U.Output.reset();
  EXPECT_EQ(costOf(M, U), std::nullopt);
  EXPECT_EQ(
      costOf(facts("anthropic", "claude-sonnet-5-7"), Usage{1, {}, {}, 1, {}}),
      std::nullopt);
}

TEST_F(ModelsTest, ALongPromptReprisesTheWholeCall) {
  ModelFacts M = facts("anthropic", "claude-haiku-5-5");
  EXPECT_EQ(costOf(M, Usage{100000, {}, {}, 0, {}}), 10000);
  EXPECT_EQ(costOf(M, Usage{100001, {}, {}, 0, {}}), 50001);
}

TEST_F(ModelsTest, AUsersFileComesFirst) {
  std::string Path = file(
      R"({"version":1,"as_of":"2027-01-01","providers":[{"name":"mine","dialect":"openai-chat","base_url":"http://127.0.0.1:1/v1","key_optional":true,"schema":true}],
          "models":[{"id":"gpt-4o","price":{"input":1,"output":2}}]})");
  Table = llvm::cantFail(ModelTable::load(Path));
  EXPECT_EQ(facts("openai", "gpt-4o").Cost->Input, 1000);
  EXPECT_EQ(facts("mine", "x").Schema, true);
  EXPECT_EQ(Table.asOf(), "2027-01-01");
  EXPECT_TRUE(Table.provider("anthropic"));
}

TEST_F(ModelsTest, ErrorsNameFileAndField) {
  EXPECT_EQ(problem("{"), "is not JSON; wanted a table of models");
  EXPECT_EQ(problem(R"({"version":2,"as_of":"x"})"),
            "field 'version': got 2, wanted 1");
  EXPECT_EQ(
      problem(
          R"({"version":1,"as_of":"x","providers":[{"name":"a","dialect":"soap"}]})"),
      "field 'providers[0].dialect': got 'soap', wanted anthropic, "
      "openai-chat, openai-responses or gemini");
  EXPECT_EQ(
      problem(
          R"({"version":1,"as_of":"x","models":[{"id":"a","price":{"input":-1,"output":0}}]})"),
      "field 'models[0].price.input': got -1, wanted USD per million tokens");
}
