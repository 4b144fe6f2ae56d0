//===- FolderFixture.h - Tests with files of their own --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_TEST_UNIT_EVAL_FOLDERFIXTURE_H
#define STARK_TEST_UNIT_EVAL_FOLDERFIXTURE_H

#include "stark/Support/File.h"
#include "gtest/gtest.h"

namespace stark {

/// A folder that goes with the test.
class FolderFixture : public testing::Test {
protected:
  std::string path(llvm::StringRef Name) {
    return (Folder.path() + "/" + Name).str();
  }
  void write(llvm::StringRef Name, llvm::StringRef Text) {
    llvm::cantFail(writeFileAtomically(path(Name), Text));
  }
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("eval"));
};

} // namespace stark

#endif
