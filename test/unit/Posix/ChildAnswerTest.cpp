//===- ChildAnswerTest.cpp - Limits on what a child may take --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/ChildAnswer.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Forked.h"
#include "stark/Posix/Process.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace stark;
using namespace stark::posix;

/// Takes memory for ever.
static void takeMemory() {
  for (;;) {
    void *Block = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (Block != MAP_FAILED)
      std::memset(Block, 1, 1 << 20);
    ::usleep(200);
  }
}

TEST(ChildAnswer, AnAnswerOfAnyLengthComesWhole) {
  for (size_t Length : {0, 1, 300000}) {
    ChildAnswer A =
        askChild([&] { return std::string(Length, 'x'); }, ChildLimits());
    EXPECT_EQ(A.End, ChildEnd::Answered);
    EXPECT_EQ(A.Text, std::string(Length, 'x'));
  }
}

TEST(ChildAnswer, ProcessorTimeHasAnEnd) {
  ChildLimits Limits;
  Limits.CpuMs = 100;
  auto Forever = []() -> std::string {
    for (;;)
      (void)::getppid();
  };
  EXPECT_EQ(askChild(Forever, Limits).End, ChildEnd::OutOfTime);
  // Nor may it sleep for ever.
  Limits.CpuMs = 10;
  auto Asleep = []() -> std::string {
    for (;;)
      ::pause();
  };
  EXPECT_EQ(askChild(Asleep, Limits).End, ChildEnd::Asleep);
}

// What waits for a thread that is not in the child is asked once more.
TEST(ChildAnswer, OneThatIsStuckIsAskedAnew) {
  void *At = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(At, MAP_FAILED);
  int *Asked = static_cast<int *>(At);
  ChildLimits Limits;
  Limits.IdleMs = 50;
  ChildAnswer A = askChild(
      [&]() -> std::string {
        if (!(*Asked)++)
          ::pause();
        return "done";
      },
      Limits);
  EXPECT_EQ(A.End, ChildEnd::Answered);
  EXPECT_EQ(A.Text, "done");
  EXPECT_EQ(*Asked, 2);
  ::munmap(At, sizeof(int));
}

// A lock that was held when the child was forked is nobody's there.
TEST(ChildAnswer, LocksOfOthersAreNotWaitedFor) {
  std::mutex Guard;
  std::unique_lock<std::mutex> Held(Guard);
  EXPECT_FALSE(isForked());
  ChildAnswer A = askChild(
      [&]() -> std::string {
        UnlessForked Lock(Guard);
        return isForked() ? "done" : "";
      },
      ChildLimits());
  EXPECT_EQ(A.Text, "done");
  Held.unlock();
  UnlessForked Lock(Guard);
  EXPECT_FALSE(Guard.try_lock());
}

TEST(ChildAnswer, MemoryHasAnEnd) {
  ChildLimits Limits;
  Limits.Bytes = 64 << 20;
  auto Body = []() -> std::string {
    takeMemory();
    return "";
  };
  EXPECT_EQ(askChild(Body, Limits).End, ChildEnd::OutOfMemory);
}

// Only the child's own crash says something about what it worked on.
TEST(ChildAnswer, CrashesAndKillsAreToldApart) {
  auto By = [](int Signal) {
    return askChild(
        [=]() -> std::string {
          ::signal(Signal, SIG_DFL);
          ::kill(::getpid(), Signal);
          return "";
        },
        ChildLimits());
  };
  ChildAnswer A = By(SIGSEGV);
  EXPECT_EQ(A.End, ChildEnd::Crashed);
  EXPECT_EQ(A.Signal, SIGSEGV);
  EXPECT_EQ(By(SIGKILL).End, ChildEnd::Killed);
  auto Leaves = []() -> std::string { ::_exit(3); };
  EXPECT_EQ(askChild(Leaves, ChildLimits()).End, ChildEnd::Crashed);
}

// What a program's own children take counts as well.
TEST(Process, MemoryOfAllThatItStartedHasALimit) {
  ProcessSpec Spec;
  Spec.Program = "sh";
  Spec.Arguments = {"-c", "sh -c 'x=y; while :; do x=$x$x; done'; true"};
  Spec.MemoryLimit = 100 << 20;
  ProcessResult Result;
  std::string Error;
  ASSERT_EQ(runProcess(Spec, machineClock(), Result, Error), Ran::ToAnEnd)
      << Error;
  EXPECT_TRUE(Result.OutOfMemory);
  EXPECT_FALSE(Result.ok());
}
