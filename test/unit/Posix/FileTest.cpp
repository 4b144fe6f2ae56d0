//===- FileTest.cpp - Files and locks without LLVM ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/File.h"
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace stark::posix;

namespace {
class PosixFile : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/stark-file-XXXXXX";
    Folder = mkdtemp(Name);
  }
  void TearDown() override { fs::remove_all(Folder); }
  std::string path(const char *Name) { return (Folder / Name).string(); }

  fs::path Folder;
  std::string Error;
};
} // namespace

TEST_F(PosixFile, WhatIsWrittenIsReadWithMissingFoldersMade) {
  std::string Bytes("a\0b", 3);
  ASSERT_TRUE(writeFileAtomically(path("x/y/z"), Bytes, Error)) << Error;
  EXPECT_EQ(readFile(path("x/y/z"), Error), Bytes);
  // The user's mask decides who may read it.
  mode_t Mask = ::umask(0);
  ::umask(Mask);
  EXPECT_EQ(unsigned(fs::status(path("x/y/z")).permissions()), 0666u & ~Mask);
}

// A write that fails says why, and leaves the old file alone.
TEST_F(PosixFile, AFailureNamesThePath) {
  ASSERT_TRUE(writeFileAtomically(path("file"), "old", Error)) << Error;
  EXPECT_FALSE(writeFileAtomically(path("file/in"), "new", Error));
  EXPECT_EQ(Error, "cannot write '" + path("file/in") + "': Not a directory");
  EXPECT_FALSE(createFolders(path("file/in/it"), Error));
  EXPECT_EQ(Error, "cannot create folder '" + path("file/in/it") +
                       "': Not a directory");
  EXPECT_EQ(readFile(path("none"), Error), std::nullopt);
  EXPECT_EQ(Error,
            "cannot read '" + path("none") + "': No such file or directory");
  EXPECT_EQ(readFile(path(""), Error), std::nullopt);
  EXPECT_EQ(Error,
            "cannot read '" + path("") + "': got a folder, wanted a file");
  // Nobody writes to the pipe, and the device never ends.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(readFile(path("pipe"), Error));
  EXPECT_EQ(Error,
            "cannot read '" + path("pipe") + "': got a pipe, wanted a file");
  fs::remove(path("pipe"));
  // Nor is what no memory would hold.
  ASSERT_EQ(::truncate(path("file").c_str(), 3), 0);
  EXPECT_EQ(readFile(path("file"), Error, 3), "old");
  EXPECT_FALSE(readFile(path("file"), Error, 2));
  EXPECT_EQ(Error, "'" + path("file") + "' is larger than 2 bytes");
  EXPECT_FALSE(readFile("/dev/zero", Error));
  EXPECT_EQ(Error, "cannot read '/dev/zero': got a device, wanted a file");
  EXPECT_EQ(readFile(path("file"), Error), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(Folder), {}), 1);
}

// What is no file takes the bytes and stays what it is: a device that became a
// file would be the end of every program that needs it.
TEST_F(PosixFile, APipeIsWrittenToAndNotReplaced) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  int From = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(From, 0);
  EXPECT_TRUE(writeFileAtomically(path("pipe"), "bytes", Error)) << Error;
  char Bytes[16];
  EXPECT_EQ(::read(From, Bytes, sizeof(Bytes)), 5);
  ::close(From);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(std::distance(fs::directory_iterator(Folder), {}), 1);
}

// The second lock fails at once and says who holds the first.
TEST_F(PosixFile, ALockIsExclusive) {
  auto First = lockFile(path("lock"), Error);
  ASSERT_TRUE(First) << Error;
  EXPECT_FALSE(lockFile(path("lock"), Error));
  EXPECT_EQ(Error, "'" + path("lock") + "' is in use by process " +
                       std::to_string(getpid()));
  First.reset();
  EXPECT_TRUE(lockFile(path("lock"), Error));
}
