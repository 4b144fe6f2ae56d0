//===- WaitingChildren.h - Children that wait for a job -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   two new processes open the device -> the next job takes them
/// Where that is there already they do so while the one before it is compared;
/// else once that is over, since two processes that open the device make
/// whatever another asks of the driver take two or three times as long. A new
/// one serves one job, and has loaded nothing of any before. Nothing is timed
/// while one opens the device.
///
///   job -> the source's process rests -> the next job of the same source
/// The driver opens the device for one process at a time, whichever GPU it is
/// for; a candidate always gets a new one.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_WAITINGCHILDREN_H
#define STARK_GPU_WAITINGCHILDREN_H

#include <memory>
#include <string>
#include <vector>

namespace stark {
class Clock;
namespace posix {
struct Libtorch;
}
} // namespace stark

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
  /// What the next job is likely to take is as that of the last was, or, before
  /// any, as this says; \p Torch: for entries that take tensors, else null.
  void expect(int Device, const posix::Libtorch *Torch);
  /// Have all that are likely to be taken begun? Also where nothing is known.
  bool ready() const;
  /// begin() of what is likely to be taken.
  void begin();
  /// Until those that were begun have the device, and those that ended have
  /// left it. What fails is dropped: the next job starts its own, and says why
  /// it cannot.
  void await();
  /// A new one that is as \p Spec says, awaited; null: none is.
  std::unique_ptr<ChildProcess> take(const ChildSpec &Spec);
  /// One that rests, as \p Spec says and with \p Library, awaited; null: none
  /// does. One that rests with another is ended.
  std::unique_ptr<ChildProcess> takeRested(const ChildSpec &Spec,
                                           const std::string &Library);
  /// Has \p Child, which is as \p Spec says and has nothing left to answer,
  /// give back what its job took. \p Library: the SHA-256 of what it has
  /// loaded.
  void rest(std::unique_ptr<ChildProcess> Child, const ChildSpec &Spec,
            const std::string &Library);
  /// Ends all.
  void drop();
  /// The driver takes a while to clear up after a process.
  void beginToEnd() const;

private:
  struct Waiting;
  void awaitBegun();
  std::unique_ptr<ChildProcess> take(const std::string &Kind,
                                     const std::string &Library);
  size_t missing() const;

  Clock &Time;
  std::unique_ptr<ChildSpec> Next; ///< likely; null: nothing is known
  std::vector<Waiting> All;
  std::vector<std::unique_ptr<ChildProcess>> Ending;
};

} // namespace stark::gpu

#endif
