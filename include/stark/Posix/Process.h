//===- Process.h - Child processes with a deadline ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Every child leads a process group of its own, and the whole group is
/// killed: by a deadline, by the user, or when nobody needs it any more.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_PROCESS_H
#define STARK_POSIX_PROCESS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace stark {
class Clock;
}

namespace stark::posix {

/// How a process ended.
struct ExitStatus {
  int Signal = 0;   ///< the one that ended it, 0 if none
  int ExitCode = 0; ///< meaningful when Signal is 0
};

/// A child process and all that it starts: killed when the object goes.
class ChildGroup {
public:
  enum class Ties {
    None,
    WithParent, ///< dies when this thread does, and leaves no core file
  };
  /// The child runs \p Body, which should end it; exit code 127 when it does
  /// not. Nothing, with errno, when there can be no more processes.
  static std::optional<ChildGroup> start(Ties To,
                                         const std::function<void()> &Body);
  ChildGroup(ChildGroup &&Other);
  ChildGroup &operator=(ChildGroup &&Other);
  ~ChildGroup() { kill(); }

  /// Looks, without waiting, whether the child has ended by itself. What it
  /// left running is killed then.
  bool ended();
  /// Ends what has not ended.
  void kill();
  /// Has it end, and does not wait for that.
  void beginToKill() const;
  /// What the child and all that it started have in memory now; 0 once it is
  /// gone.
  uint64_t residentBytes() const;
  /// Processor time of the child alone, so far.
  uint64_t cpuMs() const;
  /// Has what its first thread does, and starts from now on, run on \p Cpu
  /// alone.
  void pinTo(int Cpu) const;
  /// Once it has ended, by itself or not.
  const ExitStatus &status() const { return Status; }

private:
  explicit ChildGroup(pid_t Id) : Id(Id) {}
  void take(int Wait);

  pid_t Id = -1; ///< of the leader; -1 once it is gone
  ExitStatus Status;
};

struct ProcessSpec {
  std::string Program;                ///< a path, or a name to find on PATH
  std::vector<std::string> Arguments; ///< without the program's name
  std::string WorkingFolder;          ///< empty: the caller's
  /// "NAME=value" entries; unset: the caller's environment without anything
  /// that looks like a key or token.
  std::optional<std::vector<std::string>> Environment;
  uint64_t TimeoutMs = 0;   ///< 0: none
  uint64_t MemoryLimit = 0; ///< bytes of it and all that it starts; 0: none
  /// It clears up: that the user wants to stop does not end it, a deadline
  /// does.
  bool ClearsUp = false;
  size_t OutputLimit = size_t(1) << 20; ///< bytes kept of each stream
  int Input = -1; ///< what becomes its standard input; -1: /dev/null
};

struct ProcessResult {
  int ExitCode = 0; ///< meaningful when Signal is 0
  int Signal = 0;   ///< the signal that ended it, 0 if none
  bool TimedOut = false;
  bool OutOfMemory = false; ///< it was killed at the limit
  std::string Out, Err;     ///< each cut at OutputLimit, with a note when cut
  uint64_t WallMs = 0;
  bool ok() const {
    return !TimedOut && !OutOfMemory && Signal == 0 && ExitCode == 0;
  }
};

enum class Ran {
  ToAnEnd,     ///< its own or the deadline's: the result says which
  NotStarted,  ///< there is no such program, or there can be no more processes
  Interrupted, ///< the user wants to stop (Interrupt.h): it was killed
};

/// Runs a program with no input; \p Result is good when it ran to an end, else
/// \p Error says what was not. \p Time decides the deadline.
Ran runProcess(const ProcessSpec &Spec, Clock &Time, ProcessResult &Result,
               std::string &Error);

/// Starts a program and does not wait for it; what it prints is added to the
/// file \p Log. Its limits and whether it clears up are the caller's to see to.
/// Nothing, with \p Error, when it cannot be started.
std::optional<ChildGroup> startProgram(const ProcessSpec &Spec,
                                       const std::string &Log,
                                       std::string &Error);

/// What this process has in memory now.
uint64_t ownResidentBytes();

/// The environment of the caller, less what could hold a secret (names with
/// KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL in them), for a program whose
/// temporary files are to go with \p Folder.
std::vector<std::string> environmentWithin(const std::string &Folder);

/// The program that \p Name means on PATH; itself when it has a slash, empty
/// when there is none.
std::string findProgram(const std::string &Name);

} // namespace stark::posix

#endif
