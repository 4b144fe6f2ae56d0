//===- RemoteSpecTest.cpp ------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteSpec.h"
#include "gtest/gtest.h"

using namespace stark;

static std::string problem(const char *Text) {
  llvm::Expected<RemoteSpec> Spec = parseRemoteSpec(Text);
  return Spec ? "" : llvm::toString(Spec.takeError());
}

TEST(RemoteSpecTest, IsRead) {
  RemoteSpec Spec = llvm::cantFail(parseRemoteSpec(
      "https://cache.example/team/|read-only|timeout=0.5|bearer-file=/t"));
  EXPECT_EQ(Spec.Url, "https://cache.example/team");
  EXPECT_TRUE(Spec.ReadOnly);
  EXPECT_EQ(Spec.TimeoutMs, 500u);
  EXPECT_EQ(Spec.BearerFile, "/t");
  EXPECT_EQ(llvm::cantFail(parseRemoteSpec("file:///shared")).Url,
            "file:///shared");
}

// What is not understood is an error, never a guess.
TEST(RemoteSpecTest, IsNotGuessed) {
  for (const char *Text :
       {"", "cache.example", "ftp://a/b", "file://host/folder", "http://",
        "http://a/b?c", "http://a b/", "http://a\n/", "gopher://a/"})
    EXPECT_NE(problem(Text).find("wanted http://HOST"), std::string::npos)
        << Text << ": " << problem(Text);
  EXPECT_EQ(problem("http://a/|timeout=0"),
            "STARK_REMOTE: got 'timeout=0', wanted timeout=SECONDS, more than "
            "0 and at most 600");
  EXPECT_NE(problem("http://a/|bearer-file=a|basic-file=b"), "");
}

// A password is refused where others would see it, and not repeated.
TEST(RemoteSpecTest, HasNoPassword) {
  for (const char *Text :
       {"http://me:marked@host/", "redis://:marked@host:1/0",
        "http://a/|bearer-token=marked", "http://a/|password=marked"}) {
    EXPECT_NE(problem(Text), "") << Text;
    EXPECT_EQ(problem(Text).find("marked"), std::string::npos) << problem(Text);
  }
}
