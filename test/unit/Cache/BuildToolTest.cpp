//===- BuildToolTest.cpp - Which build a process belongs to ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildTool.h"
#include "stark/Support/File.h"
#include "llvm/ADT/Twine.h"
#include <gtest/gtest.h>
#include <unistd.h>

using namespace stark;

namespace {
/// A folder in the place of /proc.
class BuildToolTest : public testing::Test {
protected:
  void add(long Process, const std::string &Name, long Parent, long Began) {
    std::string At = Folder.path().str() + "/" + std::to_string(Process);
    ASSERT_FALSE(bool(createFolders(At)));
    std::string Text =
        (llvm::Twine(Process) + " (" + Name + ") S " + llvm::Twine(Parent) +
         " 5 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 " + llvm::Twine(Began) +
         " 1000 2 3\n")
            .str();
    ASSERT_FALSE(bool(writeFileAtomically(At + "/stat", Text)));
  }
  std::string find(long Process) const {
    return findBuildTool(Process, Folder.path());
  }
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("proc"));
};
} // namespace

// All steps of a build have one answer, which another build has not.
TEST_F(BuildToolTest, IsTheToolAboveAStep) {
  add(1, "init", 0, 3);
  add(40, "ninja", 1, 700);
  add(41, "sh", 40, 701);
  add(42, "stark-cache", 41, 702);
  add(43, "stark-cache", 40, 703);
  EXPECT_EQ(find(42), "40-700");
  EXPECT_EQ(find(43), "40-700");
  add(40, "ninja", 1, 900);
  EXPECT_EQ(find(42), "40-900");
}

// A make that calls others, or a build that configures one of its own, is one.
TEST_F(BuildToolTest, IsTheOutermost) {
  add(1, "init", 0, 3);
  add(40, "make", 1, 700);
  add(41, "make", 40, 701);
  add(42, "cmake", 41, 702);
  add(43, "ninja-build", 42, 702);
  add(44, "stark-cache", 43, 702);
  EXPECT_EQ(find(44), "40-700");
}

// A name may hold what a line is parted by.
TEST_F(BuildToolTest, ReadsAnyName) {
  add(40, "ninja", 1, 700);
  add(41, ") S 1 (make", 40, 701);
  add(42, "a b) c", 41, 702);
  EXPECT_EQ(find(42), "40-700");
}

// Where nothing can be told, nothing is; nor does a loop hang.
TEST_F(BuildToolTest, IsNoneElsewhere) {
  EXPECT_EQ(find(42), "");
  add(1, "init", 0, 3);
  add(42, "remake", 1, 4);
  EXPECT_EQ(find(42), "");
  add(50, "sh", 51, 4);
  add(51, "sh", 50, 4);
  EXPECT_EQ(find(50), "");
  EXPECT_EQ(findBuildTool(::getpid(), "/nowhere"), "");
}
