//===- FileTest.cpp -------------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/File.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
struct FileTest : testing::Test {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("file"));
  std::string path(const char *Name) {
    return Folder.path().str() + "/" + Name;
  }
};

// A file that cannot be written leaves the old one and no temporary behind.
TEST_F(FileTest, FailedWriteLeavesNothing) {
  llvm::cantFail(writeFileAtomically(path("a"), "old"));
  // The name of a folder cannot be replaced by a file.
  llvm::cantFail(createFolders(path("d/e")));
  llvm::Error E = writeFileAtomically(path("d"), "new");
  EXPECT_NE(llvm::toString(std::move(E)).find("cannot write"),
            std::string::npos);
  std::error_code Code;
  int Count = 0;
  for (llvm::sys::fs::directory_iterator I(Folder.path(), Code), End; I != End;
       I.increment(Code))
    ++Count;
  EXPECT_EQ(Count, 2);
  EXPECT_EQ(llvm::cantFail(readFile(path("a"))), "old");
}

TEST_F(FileTest, ReadingAFolderIsAnError) {
  auto Text = readFile(Folder.path());
  ASSERT_FALSE(bool(Text));
  EXPECT_NE(llvm::toString(Text.takeError()).find("got a folder"),
            std::string::npos);
}

// The second lock fails at once and says so.
TEST_F(FileTest, LockIsExclusive) {
  auto First = llvm::cantFail(lockFolder(Folder.path()));
  auto Second = lockFolder(Folder.path());
  ASSERT_FALSE(bool(Second));
  EXPECT_NE(llvm::toString(Second.takeError()).find("in use by another"),
            std::string::npos);
  First.reset();
  EXPECT_TRUE(llvm::cantFail(lockFolder(Folder.path())) != nullptr);
}

// Fields are framed: moving a byte from one to the next changes the digest.
TEST(Digest, FieldsAreFramed) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb41"
                           "0ff61f20015ad");
  EXPECT_NE(DigestBuilder().add("a", "bc").finish(),
            DigestBuilder().add("ab", "c").finish());
}

// The kind survives added context, and decides the exit code.
TEST(Error, KindSurvivesContext) {
  llvm::Error E = withContext(suspended("waits"), "here");
  EXPECT_EQ(exitCodeFor(E), 75);
  EXPECT_EQ(llvm::toString(std::move(E)), "here: waits");
  llvm::Error None = llvm::Error::success();
  EXPECT_EQ(exitCodeFor(None), 0);
}
} // namespace
