//===- SpoolTest.cpp - Working off a folder of jobs ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Spool.h"
#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::worker;

namespace {
class SpoolTest : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/stark-spool-XXXXXX";
    Folder = mkdtemp(Name);
    Options.Folder = Folder.string();
    Options.Judge = [this](const std::string &Job) {
      ++Judged;
      job::Result R;
      std::ifstream In(Job + "/job.json");
      std::getline(In, R.Id);
      R.End = R.Id.empty() ? job::Outcome::Infrastructure : End;
      R.Diagnostics = R.Id.empty() ? "job.json: not valid JSON" : "";
      return R;
    };
    Options.Probe = [this](DeviceFacts &, std::string &Error) {
      ++Probed;
      Error = DeviceWorks ? "" : "the GPU is gone";
      return DeviceWorks.load();
    };
  }
  void TearDown() override { fs::remove_all(Folder); }

  void add(const std::string &Id, const std::string &Text,
           const char *Place = "jobs") {
    fs::create_directories(Folder / Place / Id);
    std::ofstream(Folder / Place / Id / "job.json") << Text;
  }
  std::string outcomeOf(const std::string &Id) {
    std::ifstream In(Folder / "results" / (Id + ".json"));
    std::stringstream Text;
    Text << In.rdbuf();
    std::string Error;
    job::Result R = job::parseResult(Text.str(), Id, Error);
    EXPECT_EQ(Error.empty() ? R.Id : Id, Id);
    return Error.empty() ? job::outcomeName(R.End) : Error;
  }
  size_t left(const char *Place) {
    size_t Count = 0;
    for (auto &E : fs::directory_iterator(Folder / Place))
      Count += E.path().filename().string()[0] != '.';
    return Count;
  }

  fs::path Folder;
  SpoolOptions Options;
  job::Outcome End = job::Outcome::Correct;
  std::atomic<unsigned> Judged{0}, Probed{0};
  std::atomic<bool> DeviceWorks{true};
};
} // namespace

TEST_F(SpoolTest, EveryJobGetsAResult) {
  add("a", "a");
  add("b", "b");
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(outcomeOf("a"), "correct");
  EXPECT_EQ(outcomeOf("b"), "correct");
  EXPECT_EQ(left("jobs"), 0u);
  EXPECT_EQ(left("claimed"), 0u);
  EXPECT_TRUE(fs::exists(Folder / "device.json"));
}

TEST_F(SpoolTest, ACorruptJobDoesNotStopTheOthers) {
  add("bad", "");
  add("good", "good");
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(outcomeOf("bad"), "infrastructure");
  EXPECT_EQ(outcomeOf("good"), "correct");
}

TEST_F(SpoolTest, AJobUnderAnotherNameIsNotTaken) {
  add("one", "another");
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(outcomeOf("one"), "infrastructure");
}

TEST_F(SpoolTest, AHalfWrittenJobIsLeftAlone) {
  add(".coming", "coming");
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(Judged, 0u);
  EXPECT_TRUE(fs::exists(Folder / "jobs" / ".coming"));
}

TEST_F(SpoolTest, WhatADeadWorkerClaimedIsTakenUpAgain) {
  add("orphan", "orphan", "claimed");
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(outcomeOf("orphan"), "correct");
}

TEST_F(SpoolTest, AJobThatHasAResultIsNotRunAgain) {
  add("a", "a");
  workOffSpool(Options);
  add("a", "a");
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(Judged, 1u);
  EXPECT_EQ(left("jobs"), 0u);
}

TEST_F(SpoolTest, WithoutADeviceNoJobIsTouched) {
  add("a", "a");
  DeviceWorks = false;
  EXPECT_EQ(workOffSpool(Options), 1);
  EXPECT_EQ(left("jobs"), 1u);
  EXPECT_FALSE(fs::exists(Folder / "results" / "a.json"));
}

TEST_F(SpoolTest, AfterACrashTheDeviceIsTried) {
  add("a", "a");
  add("b", "b");
  End = job::Outcome::Crashed;
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_EQ(Probed, 3u); // at the start, and after each
  EXPECT_EQ(outcomeOf("b"), "crashed");
}

TEST_F(SpoolTest, ADeviceThatACrashBrokeEndsTheWork) {
  add("a", "a");
  add("b", "b");
  auto Judge = Options.Judge;
  Options.Judge = [&](const std::string &Job) {
    DeviceWorks = false;
    job::Result R = Judge(Job);
    R.End = job::Outcome::Crashed;
    return R;
  };
  EXPECT_EQ(workOffSpool(Options), 1);
  EXPECT_EQ(outcomeOf("a"), "crashed");
  EXPECT_EQ(left("jobs"), 1u); // b waits for a device that works
}

TEST_F(SpoolTest, ResultsMayGoElsewhere) {
  add("a", "a");
  Options.Results = (Folder / "out").string();
  EXPECT_EQ(workOffSpool(Options), 0);
  EXPECT_TRUE(fs::exists(Folder / "out" / "a.json"));
}

TEST_F(SpoolTest, OfSeveralWorkersOneHasAJob) {
  constexpr unsigned Jobs = 40;
  for (unsigned I = 0; I < Jobs; ++I)
    add("job" + std::to_string(I), "job" + std::to_string(I));
  std::vector<std::thread> Workers;
  for (unsigned I = 0; I < 4; ++I)
    Workers.emplace_back([&] { EXPECT_EQ(workOffSpool(Options), 0); });
  for (std::thread &T : Workers)
    T.join();
  EXPECT_EQ(Judged, Jobs);
  EXPECT_EQ(left("jobs"), 0u);
  for (unsigned I = 0; I < Jobs; ++I)
    EXPECT_EQ(outcomeOf("job" + std::to_string(I)), "correct");
}
