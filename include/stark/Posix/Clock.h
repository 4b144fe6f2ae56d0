//===- Clock.h - What time it is, and waiting -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   whoever waits, measures or gives up -> Clock -> the machine's, or a test's
/// Code that decides by time asks a Clock that it was handed, so that its rules
/// are tested in no time and whatever the machine is busy with.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_CLOCK_H
#define STARK_POSIX_CLOCK_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace stark {

/// Time that never goes back; its origin means nothing.
class Clock {
public:
  using Duration = std::chrono::nanoseconds;
  using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

  virtual ~Clock() = default;
  virtual Time now() = 0;
  /// Returns when \p For has passed, or at once when it is not positive.
  virtual void sleep(Duration For) = 0;

  double microsecondsSince(Time Start) {
    return std::chrono::duration<double, std::micro>(now() - Start).count();
  }
  /// Whole ones; what is left of one is dropped.
  uint64_t millisecondsSince(Time Start) {
    return uint64_t(
        std::chrono::duration_cast<std::chrono::milliseconds>(now() - Start)
            .count());
  }
};

/// The machine's. May be used by several threads.
Clock &machineClock();

/// Stands still but for sleep() and advance(). May be used by several threads.
class FakeClock : public Clock {
public:
  Time now() override { return Time(Duration(PassedNs.load())); }
  void sleep(Duration For) override {
    if (For.count() > 0)
      advance(For);
  }
  void advance(Duration By) { PassedNs += By.count(); }

private:
  std::atomic<int64_t> PassedNs{0};
};

} // namespace stark

#endif
