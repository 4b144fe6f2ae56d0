//===- Host.cpp - The process that has libtorch ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   StartCall -> fork; a fork that ends, or whose caller is gone -> reaped
/// libtorch takes longer to load than a small call to run, so it is loaded
/// once; no thread runs before a fork.
///
//===----------------------------------------------------------------------===//

#include "stark/SimHost/Host.h"
#include "HostCall.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace stark;
using namespace stark::simhost;

namespace {
/// A fork, and whom to tell of its end.
struct Fork {
  pid_t Id = -1;
  int Caller = -1;
};

class Host {
public:
  Host(int Control, int Ends) : Control(Control), Ends(Ends) {}
  ~Host();
  void serve();

private:
  bool begin();
  void reap();
  void dropAbandoned(const std::vector<pollfd> &Polled);
  void end(Fork &F);

  int Control, Ends;
  std::vector<Fork> Forks;
};
} // namespace

Host::~Host() {
  for (Fork &F : Forks)
    end(F);
}

void Host::end(Fork &F) {
  kill(-F.Id, SIGKILL);
  kill(F.Id, SIGKILL);
  while (waitpid(F.Id, nullptr, 0) < 0 && errno == EINTR)
    ;
  close(F.Caller);
}

/// False when nobody asks any more.
bool Host::begin() {
  StartCall Start;
  int Files[StartDescriptors];
  if (!receiveRecord(Control, &Start, sizeof(Start), Files, StartDescriptors))
    return false;
  Start.Library[sizeof(Start.Library) - 1] = 0;
  pid_t Parent = getpid(), Id = fork();
  if (Id == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(126);
    sigset_t None;
    sigemptyset(&None);
    sigprocmask(SIG_SETMASK, &None, nullptr);
    close(Control);
    close(Ends);
    for (Fork &F : Forks)
      close(F.Caller);
    close(Files[2]);
    runCall(Start, Files[0], Files[1]);
  }
  setpgid(Id, Id);
  close(Files[0]);
  close(Files[1]);
  if (Id > 0)
    Forks.push_back({Id, Files[2]});
  else
    close(Files[2]);
  return true;
}

void Host::reap() {
  signalfd_siginfo Ignored;
  while (read(Ends, &Ignored, sizeof(Ignored)) > 0)
    ;
  for (size_t I = 0; I < Forks.size();) {
    int How = 0;
    if (waitpid(Forks[I].Id, &How, WNOHANG) != Forks[I].Id) {
      ++I;
      continue;
    }
    sendRecord(Forks[I].Caller, &How, sizeof(How));
    close(Forks[I].Caller);
    Forks.erase(Forks.begin() + long(I));
  }
}

/// \p Polled: their callers' sockets, after two others.
void Host::dropAbandoned(const std::vector<pollfd> &Polled) {
  for (size_t I = Polled.size(); I-- > 2;)
    if (Polled[I].revents & (POLLHUP | POLLERR)) {
      end(Forks[I - 2]);
      Forks.erase(Forks.begin() + long(I - 2));
    }
}

void Host::serve() {
  for (;;) {
    std::vector<pollfd> Polled = {{Control, POLLIN, 0}, {Ends, POLLIN, 0}};
    for (const Fork &F : Forks)
      Polled.push_back({F.Caller, 0, 0});
    if (poll(Polled.data(), Polled.size(), -1) < 0) {
      if (errno == EINTR)
        continue;
      return;
    }
    dropAbandoned(Polled);
    if (Polled[1].revents)
      reap();
    if (Polled[0].revents && !begin())
      return;
  }
}

int simhost::runHost(const HostOptions &Options) {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  std::stringstream Files(Options.Preload);
  for (std::string File; std::getline(Files, File, ':');)
    if (!dlopen(File.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      const char *Why = dlerror();
      std::fprintf(stderr, "error: libtorch cannot be loaded: %s\n",
                   Why ? Why : File.c_str());
      return 1;
    }
  sigset_t Child;
  sigemptyset(&Child);
  sigaddset(&Child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &Child, nullptr);
  int Ends = signalfd(-1, &Child, SFD_NONBLOCK | SFD_CLOEXEC);
  if (Ends < 0)
    return 1;
  Host(Options.Control, Ends).serve();
  return 0;
}
