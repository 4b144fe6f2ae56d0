//===- Interrupt.cpp - The user wants it to stop -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Interrupt.h"
#include <csignal>
#include <unistd.h>

static std::atomic<bool> Flag = false;
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only set what needs no lock");

const std::atomic<bool> &stark::interruptFlag() { return Flag; }

static void onSignal(int) {
  if (Flag.exchange(true))
    ::_exit(130);
}

void stark::watchInterrupts() {
  struct sigaction Action = {};
  Action.sa_handler = onSignal;
  sigemptyset(&Action.sa_mask);
  Action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &Action, nullptr);
  ::sigaction(SIGTERM, &Action, nullptr);
  // A file that reaches its size limit is an error of the write, not the end.
  ::signal(SIGXFSZ, SIG_IGN);
}
