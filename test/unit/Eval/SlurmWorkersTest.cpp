//===- SlurmWorkersTest.cpp - How many workers Slurm is asked for ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlurmWorkers.h"
#include "FolderFixture.h"
#include "stark/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace stark;

namespace {
/// What a cluster would do, by hand.
struct Cluster {
  std::vector<SlurmQueue::Worker> Queued;
  std::vector<unsigned> Arrays; ///< their sizes
  unsigned Looks = 0, Cancelled = 0;
  std::string Refusal, Silence; ///< of sbatch, of squeue
};

class FakeQueue : public SlurmQueue {
public:
  explicit FakeQueue(Cluster &Of) : Of(Of) {}
  llvm::Expected<std::vector<Worker>> workers() override {
    ++Of.Looks;
    if (!Of.Silence.empty())
      return failed(Of.Silence);
    return Of.Queued;
  }
  llvm::Expected<std::string> submit(unsigned Count) override {
    if (!Of.Refusal.empty())
      return failed(Of.Refusal);
    Of.Arrays.push_back(Count);
    std::string Job = std::to_string(Of.Arrays.size());
    for (unsigned I = 0; I < Count; ++I)
      Of.Queued.push_back({Job + "_" + std::to_string(I), "PENDING", "None"});
    return Job;
  }
  llvm::Error cancel() override {
    ++Of.Cancelled;
    return llvm::Error::success();
  }

private:
  Cluster &Of;
};

class SlurmWorkersTest : public FolderFixture {
protected:
  void SetUp() override {
    llvm::cantFail(createFolders(path("results")));
    Asked.Partition = "gpu";
    Asked.Workers = 4;
    Workers = makeSlurmWorkers(std::make_unique<FakeQueue>(Has), Asked,
                               Folder.path(), Time);
  }
  void post(unsigned Count, llvm::StringRef Place = "jobs/") {
    for (unsigned I = 0; I < Count; ++I)
      llvm::cantFail(createFolders(path(Place) + std::to_string(I)));
    Workers->posted();
  }
  /// As a worker does, at a time of its own.
  void finish(const std::string &Job) {
    write("results/" + Job + ".json", "{}");
    llvm::cantFail(llvm::errorCodeToError(setTime(++Results)));
    llvm::sys::fs::remove_directories(path("jobs/" + Job));
  }
  std::error_code setTime(unsigned Seconds) {
    int File;
    if (std::error_code E =
            llvm::sys::fs::openFileForRead(path("results"), File))
      return E;
    std::error_code E = llvm::sys::fs::setLastAccessAndModificationTime(
        File, llvm::sys::TimePoint<>(std::chrono::seconds(Seconds)));
    llvm::sys::Process::SafelyCloseFileDescriptor(File);
    return E;
  }
  /// What comes of waiting for so long.
  std::string attend(std::chrono::seconds For = std::chrono::seconds(0)) {
    for (Clock::Time End = Time.now() + For;; Time.sleep(LookEvery)) {
      if (llvm::Error E = Workers->attend())
        return llvm::toString(std::move(E));
      if (Time.now() >= End)
        return "";
    }
  }
  void run() {
    for (SlurmQueue::Worker &W : Has.Queued)
      W.State = "RUNNING";
  }

  static constexpr std::chrono::milliseconds LookEvery{100};
  using Sizes = std::vector<unsigned>;
  Cluster Has;
  SlurmJobs Asked;
  FakeClock Time;
  unsigned Results = 0;
  std::unique_ptr<SpoolWorkers> Workers;
};
} // namespace

TEST_F(SlurmWorkersTest, AllJobsAtHandGetOneArrayWithinTheLimit) {
  EXPECT_EQ(attend(), "");
  EXPECT_EQ(Has.Looks, 0u); // without a job Slurm is not asked anything
  post(3);
  llvm::cantFail(createFolders(path("jobs/.coming")));
  EXPECT_EQ(attend(), "");
  EXPECT_EQ(Has.Arrays, Sizes{3});
  EXPECT_EQ(attend(std::chrono::seconds(310)), "");
  post(9); // does not wait until Slurm would be asked again
  EXPECT_EQ(attend(std::chrono::seconds(2)), "");
  EXPECT_EQ(Has.Arrays, (Sizes{3, 1}));
  EXPECT_EQ(attend(std::chrono::seconds(300)), "");
  EXPECT_EQ(Has.Arrays, (Sizes{3, 1}));
}

// One that is judged counts as one that waits: its worker may be lost.
TEST_F(SlurmWorkersTest, AClaimedJobWantsAWorker) {
  post(2, "claimed/");
  finish("1"); // its worker clears up
  EXPECT_EQ(attend(), "");
  EXPECT_EQ(Has.Arrays, Sizes{1});
}

TEST_F(SlurmWorkersTest, SlurmIsAskedMoreAndMoreSeldom) {
  post(1);
  EXPECT_EQ(attend(), "");
  run();
  EXPECT_EQ(attend(std::chrono::seconds(600)), "");
  EXPECT_LE(Has.Looks, 26u);
  EXPECT_GE(Has.Looks, 20u);
}

TEST_F(SlurmWorkersTest, AnotherRunFindsThoseThatAreQueued) {
  Has.Queued = {{"7_0", "RUNNING", "None"}, {"7_1", "PENDING", "Priority"}};
  post(2);
  EXPECT_EQ(attend(), "");
  EXPECT_EQ(Has.Arrays, Sizes{});
}

TEST_F(SlurmWorkersTest, AWorkerThatIsLostIsSubmittedAgain) {
  post(2);
  EXPECT_EQ(attend(), "");
  run();
  EXPECT_EQ(attend(std::chrono::seconds(60)), "");
  Has.Queued.pop_back();
  EXPECT_EQ(attend(std::chrono::seconds(31)), "");
  EXPECT_EQ(Has.Arrays, (Sizes{2, 1}));
}

// A cluster on which no worker comes to anything is not asked for ever, nor in
// a hurry.
TEST_F(SlurmWorkersTest, WorkersThatEndWithoutAResultAreAnErrorInTheEnd) {
  post(1);
  Clock::Time Start = Time.now();
  std::string Said;
  while (Said.empty()) {
    Said = attend(std::chrono::seconds(1));
    Has.Queued.clear();
    if (!Has.Arrays.empty())
      write("slurm/" + std::to_string(Has.Arrays.size()) + "_0.log",
            "error: no CUDA driver\x1b[2J\n");
    ASSERT_LE(Has.Arrays.size(), 5u);
  }
  EXPECT_EQ(Has.Arrays.size(), 5u);
  EXPECT_GE(Time.now() - Start, std::chrono::seconds(2 + 4 + 8));
  EXPECT_EQ(Said, "slurm: 5 times in a row all workers ended without a "
                  "result; the last, job 5, said in " +
                      path("slurm/5_0.log") + ":\nerror: no CUDA driver?[2J");
}

TEST_F(SlurmWorkersTest, AResultBetweenMakesTheLossesNoRow) {
  post(20);
  for (unsigned I = 0; I < 12; ++I) {
    ASSERT_EQ(attend(std::chrono::seconds(40)), "") << I;
    finish(std::to_string(I));
    Has.Queued.clear();
  }
  EXPECT_EQ(Has.Arrays, Sizes(12, 4));
}

TEST_F(SlurmWorkersTest, WhatSlurmRefusesIsAnErrorUnlessSomeWorkAnyway) {
  post(1);
  Has.Refusal = "slurm: sbatch failed: invalid partition specified: nope";
  EXPECT_EQ(attend(), Has.Refusal);
  Has.Refusal.clear();
  EXPECT_EQ(attend(std::chrono::seconds(2)), "");
  Has.Refusal = "slurm: sbatch failed: QOSMaxSubmitJobPerUserLimit";
  post(4);
  EXPECT_EQ(attend(std::chrono::seconds(120)), "");
  Has.Refusal.clear();
  EXPECT_EQ(attend(std::chrono::seconds(40)), "");
  EXPECT_EQ(Has.Arrays, (Sizes{1, 3}));
}

TEST_F(SlurmWorkersTest, AControllerMayBeAwayForAWhile) {
  post(1);
  EXPECT_EQ(attend(), "");
  Has.Silence = "slurm: squeue failed: Unable to contact slurm controller";
  EXPECT_EQ(attend(std::chrono::seconds(10)), "");
  Has.Silence.clear();
  EXPECT_EQ(attend(std::chrono::seconds(60)), "");
  Has.Silence = "slurm: squeue failed: Unable to contact slurm controller";
  EXPECT_EQ(attend(std::chrono::seconds(300)), Has.Silence);
}

TEST_F(SlurmWorkersTest, SaysWhyNoneIsAtWork) {
  post(2);
  EXPECT_EQ(attend(), "");
  EXPECT_EQ(Workers->waitsFor(), "");
  Has.Queued[0].Reason = "Resources";
  EXPECT_EQ(attend(std::chrono::seconds(2)), "");
  EXPECT_EQ(Workers->waitsFor(),
            "Slurm has not started job 1_0 (PENDING, Resources) yet");
  Has.Queued[1].State = "RUNNING";
  EXPECT_EQ(attend(std::chrono::seconds(30)), "");
  EXPECT_EQ(Workers->waitsFor(), "");
}

// Slurm holds what it could not start; it would be waited for for ever.
TEST_F(SlurmWorkersTest, AJobThatIsHeldIsAnError) {
  post(1);
  EXPECT_EQ(attend(), "");
  Has.Queued[0].Reason = "launch failed requeued held";
  EXPECT_EQ(attend(std::chrono::seconds(2)),
            "slurm: job 1_0 (PENDING, launch failed requeued held) is held; "
            "`scontrol release` or `scancel` it, then run the same command "
            "again");
}

TEST_F(SlurmWorkersTest, ThoseThatNobodyNeedsAreCancelled) {
  post(1);
  EXPECT_EQ(attend(), "");
  Workers.reset();
  EXPECT_EQ(Has.Cancelled, 0u); // a job waits: the same command goes on

  Workers = makeSlurmWorkers(std::make_unique<FakeQueue>(Has), Asked,
                             Folder.path(), Time);
  EXPECT_EQ(attend(), "");
  finish("0");
  Workers.reset();
  EXPECT_EQ(Has.Cancelled, 1u);

  Workers = makeSlurmWorkers(std::make_unique<FakeQueue>(Has), Asked,
                             Folder.path(), Time);
  EXPECT_EQ(attend(), "");
  Workers.reset();
  EXPECT_EQ(Has.Cancelled, 1u); // it had none
}
