//===- SecretTest.cpp - Where keys come from, and where they do not go ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Net/Secret.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>

using namespace stark;

namespace {
class SecretTest : public ::testing::Test {
protected:
  SecretTest() : Temporary(llvm::cantFail(TemporaryFolder::create("s"))) {}
  ~SecretTest() override {
    unsetenv("STARK_TEST_KEY");
    unsetenv("STARK_TEST_KEY_FILE");
  }
  std::string file(const char *Text, mode_t Mode) {
    std::string Path = (Temporary.path() + "/key").str();
    EXPECT_FALSE(bool(writeFileAtomically(Path, Text)));
    chmod(Path.c_str(), Mode);
    setenv("STARK_TEST_KEY_FILE", Path.c_str(), 1);
    return Path;
  }
  static std::string found() {
    llvm::Expected<Secret> S = findSecret("STARK_TEST_KEY");
    return S ? S->reveal() : "error: " + llvm::toString(S.takeError());
  }
  TemporaryFolder Temporary;
};
} // namespace

TEST_F(SecretTest, FromTheVariableWithoutItsLineEnd) {
  EXPECT_EQ(found(), "") << "nothing is set";
  setenv("STARK_TEST_KEY", "abc\n", 1);
  EXPECT_EQ(found(), "abc");
  // No child inherits it, and who asks again has it still.
  EXPECT_EQ(getenv("STARK_TEST_KEY"), nullptr);
  EXPECT_EQ(found(), "abc");
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
}

TEST_F(SecretTest, AFileComesFirst) {
  setenv("STARK_TEST_KEY", "variable", 1);
  file("file\n", 0600);
  EXPECT_EQ(found(), "file");
}

TEST_F(SecretTest, AFileThatOthersMayReadIsRefused) {
  std::string Path = file("file\n", 0640);
  EXPECT_EQ(found(), "error: STARK_TEST_KEY_FILE: '" + Path +
                         "' may be read by others: got mode 640, wanted 600");
}

TEST_F(SecretTest, AKeyCannotSmuggleAHeader) {
  setenv("STARK_TEST_KEY", "abc\r\nx-other: 1", 1);
  EXPECT_NE(found().find("error: STARK_TEST_KEY: the key has a character"),
            std::string::npos);
  EXPECT_EQ(found().find("x-other"), std::string::npos);
}

TEST(RedactTest, KeysAndTheirShapes) {
  Secret Key("marked-key");
  EXPECT_EQ(redact("got marked-key, marked-key", Key),
            "got [redacted], [redacted]");
  EXPECT_EQ(redact("x sk-ant-REDACTED y", Key), "x [redacted] y");
  EXPECT_EQ(redact("task-force sk-short", Key), "task-force sk-short");
  EXPECT_EQ(redact("http://user:pw@host/x@y", Key),
            "http://[redacted]@host/x@y");
}
