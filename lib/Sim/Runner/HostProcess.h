//===- HostProcess.h - stark-sim-host, as stark-sim sees it ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   HostLibraries -> a process that has loaded libtorch -> calls of it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOSTPROCESS_H
#define STARK_SIM_HOSTPROCESS_H

#include "stark/Posix/Process.h"
#include "stark/Sim/SimRunner.h"
#include "stark/SimHost/Protocol.h"

namespace stark::sim {

/// The end of a call that the caller holds.
struct HostedCall {
  int Messages = -1; ///< HostMessage
  int Fate = -1;     ///< a wait status, once the fork has ended
};

class HostProcess {
public:
  /// Null with \p Error. \p Folder: the job's.
  static std::unique_ptr<HostProcess> start(const std::string &Program,
                                            const HostLibraries &Libraries,
                                            const std::string &Folder,
                                            std::string &Error);
  ~HostProcess();
  HostProcess(const HostProcess &) = delete;
  HostProcess &operator=(const HostProcess &) = delete;

  /// Asks for a call; to be used by a child of this process, too. Nothing when
  /// the process is gone.
  std::optional<HostedCall> begin(const simhost::StartCall &Start,
                                  int Memory) const;

private:
  HostProcess(int Control, posix::ChildGroup Group)
      : Control(Control), Group(std::move(Group)) {}
  int Control;
  posix::ChildGroup Group;
};

} // namespace stark::sim

#endif
