//===- Clock.cpp - What time it is, and waiting ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The machine's steady clock behind the seam.
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/Clock.h"
#include <thread>

using namespace stark;

namespace {
class MachineClock : public Clock {
public:
  Time now() override { return std::chrono::steady_clock::now(); }
  void sleep(Duration For) override { std::this_thread::sleep_for(For); }
};
} // namespace

Clock &stark::machineClock() {
  static MachineClock Machine;
  return Machine;
}
