//===- LocalWorkerTest.cpp - A worker beside the tool ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalWorker.h"
#include "FolderFixture.h"
#include "stark/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>

using namespace stark;
using llvm::toString;

namespace {
/// What a worker with a GPU writes once it has opened it.
const char Opens[] =
    R"(echo '{"device": "NVIDIA H200", "arch": "sm_90", "driver": "580",
"memory_mib": 1, "l2_bytes": 1, "copy_gb_per_s": 1, "event_pair_us": 1,
"lockdown": "none"}' > $2/.device && mv $2/.device $2/device.json
)";

/// A shell plays the worker.
class LocalWorkerTest : public FolderFixture {
protected:
  llvm::Expected<std::unique_ptr<SpoolWorkers>> make(const std::string &Does,
                                                     bool Tensors = false) {
    write("worker", "#!/bin/sh\n" + Does);
    llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::setPermissions(
        path("worker"), llvm::sys::fs::all_read | llvm::sys::fs::owner_exe)));
    TemporaryFolder Spool = llvm::cantFail(TemporaryFolder::create("spool"));
    Where = Spool.path().str();
    return makeLocalWorker(path("worker"), std::move(Spool), Tensors, Device,
                           machineClock());
  }
  std::string contents(const std::string &Name) {
    return llvm::cantFail(readFile(Where + "/" + Name));
  }
  /// Until the worker has left a file; the suite's own limit ends it.
  void await(const std::string &Name) {
    while (!llvm::sys::fs::exists(Where + "/" + Name))
      machineClock().sleep(std::chrono::milliseconds(1));
  }
  std::string Where;
  gpu::DeviceFacts Device;
};
} // namespace

TEST_F(LocalWorkerTest, SaysWhichGpuItHasAndLivesAsLongAsTheEvaluator) {
  std::string Says = Opens;
  auto Worker = make("echo \"$*\" > $2/arguments; echo $$ > $2/id\n" + Says +
                     "exec cat > /dev/null");
  ASSERT_TRUE(bool(Worker));
  EXPECT_EQ((*Worker)->identity(), "cuda:NVIDIA H200");
  EXPECT_EQ(Device.Arch, "sm_90");
  EXPECT_EQ(contents("arguments"), "--spool " + Where + " --serve\n");
  EXPECT_FALSE(bool((*Worker)->attend()));
  pid_t Id = std::stoi(contents("id"));
  EXPECT_EQ(::kill(Id, 0), 0);
  Worker->reset();
  EXPECT_NE(::kill(Id, 0), 0);
  EXPECT_FALSE(llvm::sys::fs::exists(Where));
}

TEST_F(LocalWorkerTest, IsToldOfJobsAndOfTensors) {
  std::string Says = Opens;
  auto Worker = make("echo \"$*\" > $2/arguments\n" + Says +
                         "while read Line; do echo told >> $2/told; done",
                     /*Tensors=*/true);
  ASSERT_TRUE(bool(Worker));
  EXPECT_EQ(contents("arguments"), "--spool " + Where + " --serve --tensors\n");
  (*Worker)->posted();
  await("told");
}

TEST_F(LocalWorkerTest, SaysWhyThereIsNoGpu) {
  EXPECT_EQ(
      toString(
          make("echo 'error: no usable GPU: none' >&2; exit 1").takeError()),
      "no usable GPU: none");
  EXPECT_EQ(toString(make("exit 3").takeError()),
            "stark-worker ended with exit code 3");
  EXPECT_NE(
      toString(
          make("echo '{}' > $2/device.json; exec cat > /dev/null").takeError())
          .find("device.json"),
      std::string::npos);
}

TEST_F(LocalWorkerTest, IsStartedAgainFiveTimes) {
  std::string Says = Opens;
  auto Worker = make("echo started >> $2/starts\n" + Says + "kill -9 $$");
  ASSERT_TRUE(bool(Worker));
  std::string Error;
  while (Error.empty()) {
    if (llvm::Error E = (*Worker)->attend())
      Error = toString(std::move(E));
    machineClock().sleep(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(Error,
            "stark-worker was ended by a signal (Killed), 6 times in all");
  EXPECT_EQ(llvm::StringRef(contents("starts")).count("started"), 6u);
}

TEST_F(LocalWorkerTest, TellsThatItWaitsForTheGpu) {
  std::string Says = Opens;
  auto Worker =
      make("echo 'note: the GPU is waited for: in use' >&2\n" + Says +
           "read Line; echo 'job correct'; touch $2/had; exec cat > /dev/null");
  ASSERT_TRUE(bool(Worker));
  EXPECT_EQ((*Worker)->waitsFor(), "the GPU is waited for: in use");
  (*Worker)->posted();
  await("had");
  EXPECT_EQ((*Worker)->waitsFor(), "");
}
