//===- WorkersTest.cpp - A worker for each GPU of a machine --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Gpu/Workers.h"
#include "ChildProcess.h"
#include "stark/Posix/Clock.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::gpu;
using Names = std::vector<std::string>;

static Names chosen(const std::string &Asked, const std::string &Visible,
                    unsigned Count, std::string *Why = nullptr) {
  std::string Error;
  Names Found = chooseGpus(Asked, Visible, Count, Error);
  EXPECT_EQ(Found.empty(), !Error.empty());
  if (Why)
    *Why = Error;
  return Found;
}

TEST(Workers, WhichGpus) {
  EXPECT_EQ(chosen("all", "", 2), Names({"0", "1"}));
  EXPECT_EQ(chosen("2", "", 4), Names({"0", "1"}));
  EXPECT_EQ(chosen("0,2", "", 4), Names({"0", "2"}));
  EXPECT_EQ(chosen("1,", "", 4), Names({"1"}));
  EXPECT_EQ(chosen("all", "3,GPU-ab-c,MIG-1", 8),
            Names({"3", "GPU-ab-c", "MIG-1"}));
  EXPECT_EQ(chosen("2,0", "3,GPU-ab-c,MIG-1", 8), Names({"MIG-1", "3"}));
}

TEST(Workers, WhichGpusThereAreNot) {
  std::string Why;
  for (const char *Asked : {"3", "0", "2,", "x", "0,x", "-1", "0,0", ",", "",
                            "99999999999999999999"})
    EXPECT_EQ(chosen(Asked, "", 2), Names()) << Asked;
  EXPECT_EQ(chosen("all", "", 0), Names());
  chosen("0,5", "7,8", 0, &Why);
  EXPECT_EQ(Why, "--gpus got '5', but 2 GPUs are visible; wanted all, a number "
                 "of GPUs, or places from 0, as 0,2");
}

TEST(Workers, TheOneGpuThatAChildSees) {
  EXPECT_EQ(visibleDevice(nullptr, 3), "3");
  EXPECT_EQ(visibleDevice("3,GPU-ab-c,MIG-1", 0), "3");
  EXPECT_EQ(visibleDevice("3,GPU-ab-c,MIG-1", 2), "MIG-1");
  EXPECT_EQ(visibleDevice("3,GPU-ab-c", 2), "");
  EXPECT_EQ(visibleDevice("", 0), "");
}

namespace {
/// Shells in the place of workers.
class WorkersRun : public testing::Test {
public:
  void SetUp() override {
    char Name[] = "/tmp/stark-workers-XXXXXX";
    Folder = mkdtemp(Name);
    Options.Gpus = {"0", "GPU-1"};
    Options.Program = "/bin/sh";
    Options.Warn = [this](const std::string &Line) { Said += Line + "\n"; };
  }
  void TearDown() override { fs::remove_all(Folder); }
  bool run(const std::string &Script) {
    Options.Arguments = {"-c", "cd " + Folder.string() + "; " + Script};
    return runWorkers(Options, machineClock(), Error);
  }
  std::string read(const std::string &Name) {
    std::ifstream In(Folder / Name);
    return {std::istreambuf_iterator<char>(In), {}};
  }
  WorkersOptions Options;
  fs::path Folder;
  std::string Said, Error;
};
} // namespace

TEST_F(WorkersRun, EachSeesItsOwn) {
  EXPECT_TRUE(run("echo $CUDA_VISIBLE_DEVICES > of-$CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(read("of-0"), "0\n");
  EXPECT_EQ(read("of-GPU-1"), "GPU-1\n");
  EXPECT_EQ(Said, "");
}

TEST_F(WorkersRun, OneThatIsKilledIsStartedAgain) {
  EXPECT_TRUE(run("[ $CUDA_VISIBLE_DEVICES = 0 ] || exit 0; "
                  "[ -e again ] && exit 0; touch again; kill -9 $$"));
  EXPECT_EQ(Said, "the worker of GPU 0 was ended by a signal (Killed); it is "
                  "started again\n");
}

TEST_F(WorkersRun, OneThatFailsIsNot) {
  EXPECT_FALSE(run("[ $CUDA_VISIBLE_DEVICES = 0 ] || exit 1; touch done"));
  EXPECT_EQ(Error, "the worker of GPU GPU-1 failed");
  EXPECT_TRUE(fs::exists(Folder / "done"));
}
