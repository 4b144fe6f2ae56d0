//===- ChildAnswer.h - What a child can say of what may end it ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   work that may never end, take all memory or crash -> a fork with limits
/// -> its answer, or what became of it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_CHILDANSWER_H
#define STARK_POSIX_CHILDANSWER_H

#include <cstdint>
#include <functional>
#include <string>

namespace stark::posix {

struct ChildLimits {
  /// Processor time. A busy machine makes no difference to it.
  uint64_t CpuMs = 30000;
  /// One that has not computed for so long is asked anew, once: it may wait for
  /// a lock that another thread of the caller's held when it was forked.
  uint64_t IdleMs = 60000;
  /// Resident bytes, beyond what the caller has itself.
  uint64_t Bytes = uint64_t(2) << 30;
};

enum class ChildEnd {
  Answered,
  OutOfTime,   ///< of the processor
  Asleep,      ///< for many times as long: it waits for what never comes
  OutOfMemory, ///< by its own limit
  Crashed,     ///< by a signal that says so, or it ended without an answer
  Killed,      ///< by somebody else, such as a machine without memory
  NotStarted,  ///< there can be no more processes
  Interrupted, ///< the user wants to stop (Interrupt.h)
};

struct ChildAnswer {
  ChildEnd End = ChildEnd::Answered;
  int Signal = 0;   ///< that it crashed by, 0 if none
  std::string Text; ///< the answer
};

/// Runs \p Body in a fork of this process. What it changes is lost but for what
/// it returns; what it prints is dropped. It may start no threads under
/// ThreadSanitizer. With threads under AddressSanitizer there is no fork, and
/// no limit.
ChildAnswer askChild(const std::function<std::string()> &Body,
                     const ChildLimits &Limits);

} // namespace stark::posix

#endif
