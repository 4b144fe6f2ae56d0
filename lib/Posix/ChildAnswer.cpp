//===- ChildAnswer.cpp - What a child can say of what may end it ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/ChildAnswer.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Posix/Pipe.h"
#include "stark/Posix/Process.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <poll.h>
#include <unistd.h>

using namespace stark;
using namespace stark::posix;

/// How long to wait for an answer before the limits are looked at.
static constexpr int LookEveryMs = 10;
/// Whoever sleeps so many times as long as it may compute will not wake up.
static constexpr uint64_t SleepFactor = 20;

/// In the child: a crash is nothing but a crash, and nobody reads of it.
static void becomeQuiet() {
  for (int Signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS,
                     SIGINT, SIGTERM, SIGHUP})
    ::signal(Signal, SIG_DFL);
  int Null = ::open("/dev/null", O_RDWR);
  for (int Stream : {0, 1, 2})
    ::dup2(Null, Stream);
}

static void writeAll(int File, const std::string &Text) {
  for (size_t Done = 0; Done < Text.size();) {
    ssize_t Count = ::write(File, Text.data() + Done, Text.size() - Done);
    if (Count < 0 && errno != EINTR)
      return;
    Done += Count > 0 ? size_t(Count) : 0;
  }
}

namespace {
/// The parent's side of it.
class Asked {
public:
  Asked(ChildGroup Child, int From, const ChildLimits &Limits)
      : Child(std::move(Child)), From(From), Limits(Limits),
        Before(ownResidentBytes()) {}

  ChildAnswer wait(uint64_t MostIdleMs) {
    ChildAnswer Answer;
    Clock::Time Start = machineClock().now(), Moved = Start;
    uint64_t CpuMs = 0;
    while (!read(Answer.Text)) {
      if (uint64_t Now = Child.cpuMs(); Now != CpuMs) {
        CpuMs = Now;
        Moved = machineClock().now();
      }
      Answer.End = interruptFlag() ? ChildEnd::Interrupted
                   : Child.residentBytes() > Before + Limits.Bytes
                       ? ChildEnd::OutOfMemory
                   : CpuMs > Limits.CpuMs ? ChildEnd::OutOfTime
                   : machineClock().millisecondsSince(Start) >
                               SleepFactor * Limits.CpuMs ||
                           machineClock().millisecondsSince(Moved) > MostIdleMs
                       ? ChildEnd::Asleep
                       : ChildEnd::Answered;
      if (Answer.End != ChildEnd::Answered)
        return Answer; // and the child ends with this
    }
    while (!Child.ended())
      ::poll(nullptr, 0, 1);
    Answer.Signal = Child.status().Signal;
    if (Answer.Signal == SIGKILL)
      Answer.End = ChildEnd::Killed;
    else if (Answer.Signal || Child.status().ExitCode)
      Answer.End = ChildEnd::Crashed;
    return Answer;
  }

private:
  /// Whether the child has closed its end.
  bool read(std::string &Into) {
    pollfd Polled = {From, POLLIN, 0};
    if (::poll(&Polled, 1, LookEveryMs) <= 0)
      return false;
    char Buffer[1 << 14];
    ssize_t Count = ::read(From, Buffer, sizeof(Buffer));
    if (Count > 0)
      Into.append(Buffer, size_t(Count));
    return Count == 0 || (Count < 0 && errno != EINTR && errno != EAGAIN);
  }

  ChildGroup Child;
  int From;
  const ChildLimits &Limits;
  uint64_t Before;
};
} // namespace

/// GCC 12's AddressSanitizer does not unlock its allocator in a fork of a
/// process with threads, so a child might wait for ever.
static bool isForkSafe() {
#if defined(__SANITIZE_ADDRESS__)
  std::filesystem::directory_iterator Threads("/proc/self/task");
  return std::distance(begin(Threads), end(Threads)) == 1;
#else
  return true;
#endif
}

static ChildAnswer askOnce(const std::function<std::string()> &Body,
                           const ChildLimits &Limits, uint64_t MostIdleMs) {
  ChildAnswer None;
  None.End = ChildEnd::NotStarted;
  Pipe Ends;
  if (!Ends.open())
    return None;
  std::optional<ChildGroup> Child =
      ChildGroup::start(ChildGroup::Ties::WithParent, [&] {
        becomeQuiet();
        Ends.closeReadEnd();
        writeAll(Ends.writeEnd(), Body());
        ::_exit(0);
      });
  Ends.closeWriteEnd();
  return Child
             ? Asked(std::move(*Child), Ends.readEnd(), Limits).wait(MostIdleMs)
             : None;
}

ChildAnswer posix::askChild(const std::function<std::string()> &Body,
                            const ChildLimits &Limits) {
  if (!isForkSafe())
    return {ChildEnd::Answered, 0, Body()};
  ChildAnswer First = askOnce(Body, Limits, Limits.IdleMs);
  return First.End == ChildEnd::Asleep
             ? askOnce(Body, Limits, SleepFactor * Limits.CpuMs)
             : First;
}
