//===- ChildProcess.h - A child and its deadline -------------------------===//
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

#ifndef STARK_WORKER_CHILDPROCESS_H
#define STARK_WORKER_CHILDPROCESS_H

#include "Protocol.h"
#include <chrono>
#include <memory>
#include <sys/types.h>

namespace stark::worker {

struct ChildSpec {
  std::string Folder, Library; ///< empty: a child that only knows the device
  bool Reference = false;
  uint64_t SharedBytes = 0;
  int Device = 0;
};

struct Answer {
  enum Kind { Replied, TimedOut, Died } What = Died;
  Reply R;
  int Signal = 0, ExitCode = 0; ///< of Died
  double WallUs = 0;            ///< as the supervisor's clock has it
};

class ChildProcess {
public:
  /// Null, with \p Error, when the child could not be started.
  static std::unique_ptr<ChildProcess> start(const ChildSpec &Spec,
                                             std::string &Error);
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  /// send(), then receive().
  Answer ask(const Request &R, uint64_t TimeoutMs);
  void send(Request R);
  Answer receive(uint64_t TimeoutMs);
  /// The outputs that the child exported; read-only here.
  const char *shared() const { return Shared; }
  /// The first bytes of what the child printed.
  std::string printed() const;

private:
  ChildProcess() = default;
  void end(Answer *Into);

  pid_t Id = -1;
  int Control = -1, Log = -1;
  uint64_t Nonce = 0; ///< of the request that is being answered
  std::chrono::steady_clock::time_point Sent;
  const char *Shared = nullptr;
  uint64_t SharedBytes = 0;
};

/// From the kernel's generator: seeds and nonces that no library can foresee.
uint64_t secretNumber();

} // namespace stark::worker

#endif
