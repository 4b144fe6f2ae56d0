//===- KeyHostTest.cpp - Where a configuration may send a key -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Models.h"
#include "stark/LLM/Provider.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace stark;

static std::string problem(const std::string &Provider, const std::string &Url,
                           const std::string &Key = "") {
  ModelTable Table = llvm::cantFail(ModelTable::load(""));
  ProviderSettings S;
  S.Provider = Provider;
  S.BaseUrl = Url;
  S.KeyVariable = Key;
  return llvm::toString(checkKeyHost(S, Table));
}

// A file that came with somebody's sources names hosts and keys: a key goes to
// its provider's own, or to this machine.
TEST(KeyHost, AKeyGoesToItsProviderAlone) {
  EXPECT_EQ(problem("anthropic", ""), "");
  EXPECT_EQ(problem("anthropic", "https://API.anthropic.com/v1"), "");
  EXPECT_EQ(problem("anthropic", "http://127.0.0.1:9000"), "");
  EXPECT_EQ(problem("anthropic", "https://evil.example.com"),
            "the configuration would send the key in ANTHROPIC_API_KEY to "
            "'evil.example.com'; where that is meant, set "
            "STARK_KEY_HOSTS=ANTHROPIC_API_KEY=evil.example.com");
  // Nor any other variable of the environment, or another provider's key.
  EXPECT_NE(problem("anthropic", "", "AWS_SECRET_ACCESS_KEY"), "");
  EXPECT_NE(problem("openai", "", "ANTHROPIC_API_KEY"), "");
  EXPECT_NE(problem("anthropic", "https://api.anthropic.com.example.com"), "");
}

TEST(KeyHost, TheUsersEnvironmentMayNameOthers) {
  setenv("STARK_KEY_HOSTS", "A=b, ANTHROPIC_API_KEY=proxy.example.com", 1);
  EXPECT_EQ(problem("anthropic", "https://proxy.example.com/v1"), "");
  EXPECT_NE(problem("anthropic", "https://other.example.com/v1"), "");
  EXPECT_NE(problem("openai", "https://proxy.example.com/v1"), "");
  unsetenv("STARK_KEY_HOSTS");
}
