//===- KernelBenchTest.cpp ------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/KernelBench.h"
#include "stark/Support/File.h"
#include "gtest/gtest.h"
#include <map>

using namespace stark;

namespace {
std::vector<KernelBenchTask> find(const TemporaryFolder &Clone,
                                  llvm::StringRef Subset) {
  llvm::Expected<std::vector<KernelBenchTask>> Tasks =
      findKernelBenchTasks(Clone.path(), Subset);
  if (Tasks)
    return std::move(*Tasks);
  ADD_FAILURE() << llvm::toString(Tasks.takeError());
  return {};
}

std::map<unsigned, unsigned> countByLevel(const TemporaryFolder &Clone,
                                          llvm::StringRef Subset) {
  std::map<unsigned, unsigned> Counts;
  for (const KernelBenchTask &T : find(Clone, Subset))
    ++Counts[T.Level];
  return Counts;
}

void write(const TemporaryFolder &Clone, unsigned Level,
           const std::string &Name) {
  std::string File = (Clone.path() + "/KernelBench/level").str() +
                     std::to_string(Level) + "/" + Name + ".py";
  llvm::Error E = writeFileAtomically(File, "", /*Flush=*/false);
  EXPECT_FALSE(bool(E));
}
} // namespace

// The representative subset has 18, 8 and 9 tasks, the paper's 14, 8 and 8.
TEST(KernelBench, Subsets) {
  llvm::Expected<TemporaryFolder> Clone =
      TemporaryFolder::create("kernelbench");
  ASSERT_TRUE(bool(Clone));
  for (auto [Level, Most] : {std::pair(1, 100), {2, 100}, {3, 50}, {4, 20}})
    for (int Id = 1; Id <= Most; ++Id)
      write(*Clone, Level, std::to_string(Id) + "_x");
  using Counts = std::map<unsigned, unsigned>;
  EXPECT_EQ(countByLevel(*Clone, "representative"),
            (Counts{{1, 18}, {2, 8}, {3, 9}}));
  EXPECT_EQ(countByLevel(*Clone, "paper"), (Counts{{1, 14}, {2, 8}, {3, 8}}));
  EXPECT_EQ(countByLevel(*Clone, "all"), (Counts{{1, 100}, {2, 100}, {3, 50}}));
  std::vector<KernelBenchTask> Two = find(*Clone, "2/33,1/3");
  ASSERT_EQ(Two.size(), 2u);
  EXPECT_EQ(Two[0].Name, "level2-33_x");
  EXPECT_EQ(Two[1].Group, "level 1");
  // Two files of one id are not guessed between.
  write(*Clone, 1, "3_y");
  llvm::Expected<std::vector<KernelBenchTask>> Tasks =
      findKernelBenchTasks(Clone->path(), "1/1");
  ASSERT_FALSE(bool(Tasks));
  EXPECT_NE(llvm::toString(Tasks.takeError()).find("are both task 1/3"),
            std::string::npos);
}
