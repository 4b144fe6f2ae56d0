//===- ProcessTest.cpp - Child groups and deadlines -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Process.h"
#include "stark/Posix/Clock.h"
#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace stark;
using namespace stark::posix;

static ExitStatus statusOf(const std::function<void()> &Body) {
  std::optional<ChildGroup> Child =
      ChildGroup::start(ChildGroup::Ties::WithParent, Body);
  while (!Child->ended())
    machineClock().sleep(std::chrono::milliseconds(1));
  return Child->status();
}

TEST(ChildGroup, SaysHowAChildEnded) {
  EXPECT_EQ(statusOf([] { _exit(7); }).ExitCode, 7);
  EXPECT_EQ(statusOf([] {}).ExitCode, 127);
  EXPECT_EQ(statusOf([] { raise(SIGKILL); }).Signal, SIGKILL);
}

// A child that never ends is ended with what it started: the pipe that both
// hold open comes to its end.
TEST(ChildGroup, KillEndsAllOfIt) {
  int Ends[2];
  ASSERT_EQ(pipe(Ends), 0);
  std::optional<ChildGroup> Child =
      ChildGroup::start(ChildGroup::Ties::None, [&] {
        if (fork() == 0 && write(Ends[1], "x", 1) == 1)
          pause();
        pause();
      });
  close(Ends[1]);
  char Byte;
  ASSERT_EQ(read(Ends[0], &Byte, 1), 1);
  EXPECT_FALSE(Child->ended());
  Child->kill();
  EXPECT_TRUE(Child->ended());
  EXPECT_EQ(Child->status().Signal, SIGKILL);
  EXPECT_EQ(read(Ends[0], &Byte, 1), 0);
  close(Ends[0]);
}

namespace {
/// Each look at it is a second later than the one before.
class HastyClock : public FakeClock {
public:
  Time now() override {
    advance(std::chrono::seconds(1));
    return FakeClock::now();
  }
};
} // namespace

// The deadline is the clock's to tell, and ends also what the program started.
TEST(RunProcess, TheDeadlineEndsTheGroup) {
  ProcessSpec Spec;
  Spec.Program = "sh";
  Spec.Arguments = {"-c", "sleep 600 & sleep 600"};
  Spec.TimeoutMs = 3000;
  ProcessResult Result;
  std::string Error;
  HastyClock Hasty;
  EXPECT_EQ(runProcess(Spec, Hasty, Result, Error), Ran::ToAnEnd);
  EXPECT_TRUE(Result.TimedOut);
  EXPECT_FALSE(Result.ok());
  EXPECT_EQ(Result.Signal, SIGKILL);

  // A clock that stands still gives all the time there is.
  FakeClock Still;
  Result = {};
  Spec.Arguments = {"-c", "sleep 0.05; echo done"};
  Spec.TimeoutMs = 1;
  EXPECT_EQ(runProcess(Spec, Still, Result, Error), Ran::ToAnEnd);
  EXPECT_FALSE(Result.TimedOut);
  EXPECT_EQ(Result.Out, "done\n");
}

TEST(FindProgram, LooksAlongPath) {
  EXPECT_EQ(findProgram("sh").substr(findProgram("sh").size() - 3), "/sh");
  EXPECT_EQ(findProgram("no-such-program"), "");
  EXPECT_EQ(findProgram("./here"), "./here");
  EXPECT_EQ(findProgram(""), "");
}
