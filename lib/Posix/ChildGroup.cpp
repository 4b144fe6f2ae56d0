//===- ChildGroup.cpp - A child and all that it starts --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   fork -> group, death signal, limits -> waitpid -> kill of the group
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/Forked.h"
#include "stark/Posix/Process.h"
#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace stark::posix;

static bool Forked = false;
bool stark::posix::isForked() { return Forked; }

static void tieToParent(pid_t Parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != Parent)
    ::_exit(126); // it died before the line above
  rlimit None = {0, 0};
  ::setrlimit(RLIMIT_CORE, &None);
}

std::optional<ChildGroup> ChildGroup::start(Ties To,
                                            const std::function<void()> &Body) {
  pid_t Parent = ::getpid();
  pid_t Id = ::fork();
  if (Id < 0)
    return std::nullopt;
  if (Id == 0) {
    Forked = true;
    ::setpgid(0, 0);
    if (To == Ties::WithParent)
      tieToParent(Parent);
    Body();
    ::_exit(127);
  }
  // Both do it: whoever comes first.
  ::setpgid(Id, Id);
  return ChildGroup(Id);
}

ChildGroup::ChildGroup(ChildGroup &&Other)
    : Id(Other.Id), Status(Other.Status) {
  Other.Id = -1;
}

ChildGroup &ChildGroup::operator=(ChildGroup &&Other) {
  std::swap(Id, Other.Id);
  std::swap(Status, Other.Status);
  return *this;
}

void ChildGroup::take(int Wait) {
  Status.Signal = WIFSIGNALED(Wait) ? WTERMSIG(Wait) : 0;
  Status.ExitCode = WIFEXITED(Wait) ? WEXITSTATUS(Wait) : 0;
  Id = -1;
}

void ChildGroup::pinTo(int Cpu) const {
  cpu_set_t Set;
  CPU_ZERO(&Set);
  CPU_SET(Cpu, &Set);
  if (Id > 0)
    ::sched_setaffinity(Id, sizeof(Set), &Set);
}

bool ChildGroup::ended() {
  int Wait = 0;
  if (Id <= 0)
    return true;
  if (::waitpid(Id, &Wait, WNOHANG) != Id)
    return false;
  ::kill(-Id, SIGKILL);
  take(Wait);
  return true;
}

void ChildGroup::beginToKill() const {
  if (Id <= 0)
    return;
  // The child itself as well: it may not have come to lead its group yet.
  ::kill(-Id, SIGKILL);
  ::kill(Id, SIGKILL);
}

void ChildGroup::kill() {
  if (Id <= 0)
    return;
  beginToKill();
  int Wait = 0;
  while (::waitpid(Id, &Wait, 0) < 0 && errno == EINTR)
    ;
  take(Wait);
}
