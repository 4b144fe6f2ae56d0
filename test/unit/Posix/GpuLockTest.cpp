//===- GpuLockTest.cpp - One process at a time on a GPU -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/GpuLock.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Process.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::posix;

namespace {
/// While it is asleep the test lets the other holder go.
class Waiting : public FakeClock {
public:
  void sleep(Duration For) override {
    FakeClock::sleep(For);
    if (++Sleeps == 3)
      Other.reset();
  }
  std::unique_ptr<FileLock> Other;
  unsigned Sleeps = 0;
};

class GpuLock : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/stark-gpu-XXXXXX";
    Folder = mkdtemp(Name);
    setenv("STARK_LOCK_DIR", (Folder / "locks").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(Folder); }
  std::unique_ptr<FileLock> lock(const char *Id) {
    return lockGpu(
        Id, Time, [&](const std::string &Why) { Told.push_back(Why); }, Error);
  }

  fs::path Folder;
  Waiting Time;
  std::vector<std::string> Told;
  std::string Error;
};
} // namespace

// A GPU that is in use is waited for, which is said once; another one is not.
TEST_F(GpuLock, WaitsForItsGpuAlone) {
  Time.Other = lock("GPU-1");
  ASSERT_TRUE(Time.Other) << Error;
  EXPECT_TRUE(lock("GPU-2")) << Error;
  EXPECT_EQ(Time.Sleeps, 0u);
  EXPECT_TRUE(lock("GPU-1")) << Error;
  EXPECT_EQ(Time.Sleeps, 3u);
  ASSERT_EQ(Told.size(), 1u);
  EXPECT_EQ(Told[0], "the GPU is waited for: '" + (Folder / "locks").string() +
                         "/GPU-1.lock' is in use by process " +
                         std::to_string(getpid()));
}

// What a worker says of its GPU names a file in the folder, and nothing else.
TEST_F(GpuLock, NamesNoOtherFolder) {
  EXPECT_TRUE(lock("../../GPU")) << Error;
  EXPECT_TRUE(fs::exists(Folder / "locks" / "______GPU.lock"));
  setenv("STARK_LOCK_DIR", "/dev/null/locks", 1);
  EXPECT_FALSE(lock("GPU-1"));
  EXPECT_EQ(Error, "cannot create folder '/dev/null/locks': Not a directory");
}
