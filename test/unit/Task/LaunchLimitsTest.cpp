//===- LaunchLimitsTest.cpp - What no device launches ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/BlockLimits.h"
#include "stark/Support/File.h"
#include "stark/Task/Task.h"
#include <gtest/gtest.h>

using namespace stark;

/// Of a kernel with so large a block; empty: nothing.
static std::string problemOf(uint64_t Threads, uint64_t SharedBytes) {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("task"));
  std::string Source = (Folder.path() + "/k.cu").str(),
              Workload = (Folder.path() + "/k.workload.json").str();
  llvm::cantFail(
      writeFileAtomically(Source, "__global__ void k(float *y) { *y = 1; }\n"));
  llvm::cantFail(writeFileAtomically(
      Workload, R"({"launch": {"kernel": "k", "grid": "1", "block": ")" +
                    std::to_string(Threads) + R"(", "shared_bytes": ")" +
                    std::to_string(SharedBytes) + R"("}, "sizes": [{}],
                 "arguments": {"y": {"dtype": "f32", "shape": [1],
                                     "role": "output"}}})"));
  ParseOptions Parse;
  Parse.Toolkit = "none";
  llvm::Expected<Task> T = loadTask(Source, Workload, Parse);
  return T ? "" : llvm::toString(T.takeError());
}

// A block may have what some GPU gives it, and no more.
TEST(LaunchLimits, AreThoseOfTheLargestGpu) {
  EXPECT_EQ(problemOf(MostThreadsOfBlock, MostSharedOfBlock), "");
  EXPECT_NE(problemOf(MostThreadsOfBlock, MostSharedOfBlock + 1)
                .find("launch.shared_bytes is 232449, wanted 0 to 232448"),
            std::string::npos);
  EXPECT_NE(problemOf(MostThreadsOfBlock + 1, 0)
                .find("launch.block.x is 1025, wanted 1 to 1024"),
            std::string::npos);
}
