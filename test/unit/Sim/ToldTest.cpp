//===- ToldTest.cpp - What a child tells its parent -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner/Told.h"
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using stark::sim::Told;

/// How a child ends that writes \p Value, hidden from it or not.
static int write(const Told<int> &To, int Value, bool Hidden) {
  pid_t Child = fork();
  if (Child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    rlimit None = {0, 0};
    setrlimit(RLIMIT_CORE, &None);
    if (Hidden)
      To.hide();
    *To = Value;
    _exit(0);
  }
  int How = 0;
  waitpid(Child, &How, 0);
  return How;
}

TEST(Told, OnlyWhereItIsNotHidden) {
  Told<int> Memory;
  ASSERT_TRUE(bool(Memory));
  EXPECT_EQ(write(Memory, 7, /*Hidden=*/false), 0);
  EXPECT_EQ(*Memory, 7);
  int How = write(Memory, 8, /*Hidden=*/true);
  EXPECT_TRUE(WIFSIGNALED(How) && WTERMSIG(How) == SIGSEGV);
  EXPECT_EQ(*Memory, 7);
  Memory.hide();
  Memory.show();
  EXPECT_EQ(*Memory, 7);
}
