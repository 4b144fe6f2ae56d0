//===- RemoteStateTest.cpp - How long a failure counts --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteState.h"
#include "stark/Cache/KernelCache.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace stark;

namespace {
constexpr char Remote[] = "http://cache.example/team";

class RemoteStateTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("STARK_CACHE_DIR", Folder.path().str().c_str(), 1);
    ASSERT_FALSE(bool(createFolders(userCacheFolder() + "/.remote")));
  }
  void TearDown() override { ::unsetenv("STARK_CACHE_DIR"); }

  static RemoteState of(const char *Build) {
    return RemoteState(Remote, RemoteWay::Fetch, Build);
  }
  /// As if it had been written so many minutes ago.
  void write(const char *Ending, int MinutesAgo, const std::string &Rest) {
    auto When = std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::system_clock::now().time_since_epoch()) -
                std::chrono::minutes(MinutesAgo);
    std::string Path = userCacheFolder() + "/.remote/" +
                       sha256(Remote).substr(0, 16) + ".fetch" + Ending;
    ASSERT_FALSE(bool(writeFileAtomically(Path, std::to_string(When.count()) +
                                                    " " + Rest + "\n")));
  }

  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("remote"));
};
} // namespace

// The first process to see it fail says so, whichever build it is of.
TEST_F(RemoteStateTest, OneWarns) {
  EXPECT_FALSE(of("7-1").isDown());
  EXPECT_TRUE(of("7-1").fail());
  EXPECT_FALSE(of("7-1").fail());
  EXPECT_FALSE(of("8-1").fail());
  EXPECT_TRUE(of("").isDown());
  of("7-1").forget();
  EXPECT_FALSE(of("7-1").isDown());
}

// A build that goes on for an hour does not lose a second time-out; another
// build asks again after ten minutes, as does who knows of no build.
TEST_F(RemoteStateTest, ABuildLosesItsTimeoutOnce) {
  write(".down", 60, "0 7-1");
  EXPECT_TRUE(of("7-1").isDown());
  EXPECT_FALSE(of("7-2").isDown());
  EXPECT_FALSE(of("").isDown());
  write(".down", 9, "0 7-1");
  EXPECT_TRUE(of("7-2").isDown());
  write(".down", -60, "0 7-2");
  EXPECT_FALSE(of("7-1").isDown());
}

// What slow answers took is a build's for as long as it lasts.
TEST_F(RemoteStateTest, ABuildHasOnePurse) {
  write("", 60, "3000 7-1");
  EXPECT_EQ(of("7-1").leftMs(5000), 2000u);
  EXPECT_EQ(of("7-2").leftMs(5000), 5000u);
  of("7-1").answered(1100);
  EXPECT_EQ(of("7-1").leftMs(5000), 1000u);
  EXPECT_EQ(of("7-2").leftMs(5000), 4000u);
}

// Two that know of no build are not one.
TEST_F(RemoteStateTest, NoBuildIsNoName) {
  write(".down", 60, "0 -");
  EXPECT_FALSE(of("").isDown());
}

// A file that somebody damaged says nothing.
TEST_F(RemoteStateTest, DamageSaysNothing) {
  write(".down", 0, "no number");
  EXPECT_FALSE(of("7-1").isDown());
  write("", 0, "99999999999999999999 7-1");
  EXPECT_EQ(of("7-1").leftMs(5000), 5000u);
}
