//===- ChildProcess.h - A child that loads one library --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Starts this program again as a child, asks it things, and kills its whole
/// process group when an answer does not come in time.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_CHILDPROCESS_H
#define STARK_GPU_CHILDPROCESS_H

#include "Channel.h"
#include "stark/Posix/Libtorch.h"
#include "stark/Posix/Process.h"
#include <memory>
#include <string>
#include <vector>

namespace stark::gpu {

/// What a child is before it has an errand.
struct ChildSpec {
  int Device = 0;
  /// It is given that GPU alone, of those that this process sees: what is to be
  /// called there has no business with others, and each takes the driver a
  /// tenth of a second more.
  bool Alone = false;
  std::optional<posix::Libtorch> Torch = {}; ///< of a job with tensors
  /// A sanitizer or a profiler with its options, which starts the child; empty:
  /// none.
  std::vector<std::string> Under = {};
  /// CUPTI, which the child loads before it is locked down; empty: it does not.
  std::string Cupti = {};
  /// "NAME=value", beside what a child knows of the environment.
  std::vector<std::string> Environment = {};
};

/// What a child is there for; it does not know before.
struct Errand {
  uint64_t SharedBytes = 0; ///< of the memory for the outputs
  bool Reference = false;   ///< the source: stark_reference() when it has one
  std::string Job;          ///< job.json; empty: it only knows the device
  std::string Folder, Library; ///< of the job; a file there
};

/// The part of \p Visible (CUDA_VISIBLE_DEVICES, null where it is not set) that
/// is GPU number \p Device of it; empty: there is none.
std::string visibleDevice(const char *Visible, int Device);

class ChildProcess {
public:
  /// Null, with \p Error, when the child could not be started.
  static std::unique_ptr<ChildProcess> start(const ChildSpec &Spec, Clock &Time,
                                             std::string &Error);
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  /// send(), then receive().
  Answer ask(const Request &R, uint64_t TimeoutMs);
  void send(const Request &R) { Control.send(R); }
  /// Asks it to take \p E, once it has answered Hello or Rest; \p Flags:
  /// Command::Take. False with \p Error when there is no memory for the
  /// outputs, or a path is too long.
  bool send(const Errand &E, uint32_t Flags, std::string &Error);
  /// A child that does not answer is ended.
  Answer receive(uint64_t TimeoutMs);
  /// The driver takes a while to clear up after a process: several can at once.
  void beginToEnd() const { Group.beginToKill(); }
  /// Has it work on \p Cpu alone.
  void pinTo(int Cpu) const { Group.pinTo(Cpu); }
  /// The outputs that the child exported; read-only here.
  const char *shared() const { return Shared; }
  /// How it died, and the first bytes of what it printed.
  std::string describeDeath() const;
  /// Did it make a system call that is not allowed?
  bool madeForbiddenCall() const;
  /// Has it end by itself once it has done what it was asked for; false when it
  /// has not within \p TimeoutMs.
  bool finish(uint64_t TimeoutMs);

private:
  bool shareMemory(const Errand &E);
  ChildProcess(int Control, posix::ChildGroup Group, Clock &Time)
      : Control(Control, Time), Group(std::move(Group)), Time(Time) {}
  bool awaitItsOwnEnd(uint64_t TimeoutMs);

  Channel Control;
  posix::ChildGroup Group;
  Clock &Time;
  int Log = -1, Memory = -1; ///< what it printed; of the outputs
  const char *Shared = nullptr;
  uint64_t SharedBytes = 0;
};

} // namespace stark::gpu

#endif
