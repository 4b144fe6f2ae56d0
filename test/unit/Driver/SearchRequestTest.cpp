//===- SearchRequestTest.cpp ----------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/SearchRequest.h"
#include "stark/Support/File.h"
#include "gtest/gtest.h"

using namespace stark;

static llvm::Expected<std::unique_ptr<ChatClient>>
replay(const std::string &Folder) {
  return makeAnsweringClient({ProviderSpec::Kind::Replay, Folder}, {},
                             machineClock());
}

// A replay is its run again, so it goes by the name of who answered then.
TEST(SearchRequestTest, ReplayIsNamedAfterItsRun) {
  std::string Folder = std::string(STARK_EXAMPLES) + "/runs/softmax";
  RunIdentity Then = llvm::cantFail(readIdentity(Folder));
  ASSERT_FALSE(Then.Provider.empty());
  EXPECT_EQ(llvm::cantFail(replay(Folder))->identity(), Then.Provider);
}

TEST(SearchRequestTest, NoRunIsNamed) {
  TemporaryFolder Empty = llvm::cantFail(TemporaryFolder::create("run"));
  auto Client = replay(Empty.path().str());
  ASSERT_FALSE(bool(Client));
  EXPECT_EQ(llvm::toString(Client.takeError()),
            "cannot replay: cannot read '" + Empty.path().str() +
                "/run.json': No such file or directory");
}
