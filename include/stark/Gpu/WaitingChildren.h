//===- WaitingChildren.h - Children that wait for a job -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   while a job is compared: two new processes open the device -> the next job
/// takes them
/// To open it takes longer than to compare a job. Each serves one job, and has
/// loaded nothing of any before. Nothing is timed while one opens the device.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_WAITINGCHILDREN_H
#define STARK_GPU_WAITINGCHILDREN_H

#include <memory>
#include <string>
#include <vector>

namespace stark {
class Clock;
}

namespace stark::gpu {

struct ChildSpec;
class ChildProcess;

class WaitingChildren {
public:
  explicit WaitingChildren(Clock &Time);
  ~WaitingChildren();
  WaitingChildren(const WaitingChildren &) = delete;
  WaitingChildren &operator=(const WaitingChildren &) = delete;

  /// Has two wait that are as \p Spec says, and does not wait for them.
  void begin(const ChildSpec &Spec);
  /// Until those that were begun have the device. What fails is dropped: the
  /// next job starts its own, and says why it cannot.
  void await();
  /// One that is as \p Spec says, awaited; null: none is.
  std::unique_ptr<ChildProcess> take(const ChildSpec &Spec);
  /// Ends all.
  void drop();
  /// The driver takes a while to clear up after a process.
  void beginToEnd() const;

private:
  struct Waiting;
  Clock &Time;
  std::vector<Waiting> All;
};

} // namespace stark::gpu

#endif
