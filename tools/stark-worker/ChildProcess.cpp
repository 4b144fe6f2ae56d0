//===- ChildProcess.cpp - A child and its deadline -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   fork -> group, limits, death signal -> exec of this program with --child
///
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace stark;
using namespace stark::worker;
using SteadyClock = std::chrono::steady_clock;

namespace {
/// What a child may know of the environment: where the driver is, and which
/// device is meant.
std::vector<std::string> childEnvironment() {
  std::vector<std::string> Kept = {"LC_ALL=C", "CUDA_CACHE_DISABLE=1",
                                   "CUDA_MODULE_LOADING=EAGER"};
  for (const char *Name :
       {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
    if (const char *Value = getenv(Name))
      Kept.push_back(std::string(Name) + "=" + Value);
  return Kept;
}

void limit(int Resource, rlim_t Value) {
  rlimit L = {Value, Value};
  setrlimit(decltype(RLIMIT_CORE)(Resource), &L);
}
} // namespace

uint64_t worker::secretNumber() {
  uint64_t Out = 0;
  while (getrandom(&Out, sizeof(Out), 0) != sizeof(Out))
    ;
  return Out;
}

std::unique_ptr<ChildProcess> ChildProcess::start(const ChildSpec &Spec,
                                                  std::string &Error) {
  std::unique_ptr<ChildProcess> C(new ChildProcess);
  int Pair[2] = {-1, -1}, Memory = -1;
  auto Fail = [&](const char *What) {
    Error = std::string("cannot start a child: ") + What + ": " +
            std::strerror(errno);
    for (int D : {Pair[1], Memory})
      if (D >= 0)
        close(D);
    return nullptr;
  };
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Pair) != 0)
    return Fail("socketpair");
  C->Control = Pair[0];
  C->Log = memfd_create("stark-printed", MFD_CLOEXEC);
  if (C->Log < 0)
    return Fail("memfd_create");
  Memory = memfd_create("stark-outputs", MFD_CLOEXEC);
  if (Memory < 0)
    return Fail("memfd_create");
  if (Spec.SharedBytes) {
    if (ftruncate(Memory, off_t(Spec.SharedBytes)) != 0)
      return Fail("memory for the outputs");
    void *At =
        mmap(nullptr, Spec.SharedBytes, PROT_READ, MAP_SHARED, Memory, 0);
    if (At == MAP_FAILED)
      return Fail("mmap");
    C->Shared = static_cast<const char *>(At);
    C->SharedBytes = Spec.SharedBytes;
  }

  // Everything that allocates is done before the fork.
  std::vector<std::string> Words = {
      "stark-worker",   "--child",
      "--control",      "3",
      "--shared",       "4",
      "--shared-bytes", std::to_string(Spec.SharedBytes),
      "--device",       std::to_string(Spec.Device)};
  if (!Spec.Folder.empty())
    Words.insert(Words.end(),
                 {"--job", Spec.Folder, "--library", Spec.Library});
  if (Spec.Reference)
    Words.push_back("--reference");
  std::vector<std::string> Environment = childEnvironment();
  std::vector<char *> Argv, Envp;
  for (std::string &W : Words)
    Argv.push_back(W.data());
  for (std::string &E : Environment)
    Envp.push_back(E.data());
  Argv.push_back(nullptr);
  Envp.push_back(nullptr);

  pid_t Parent = getpid();
  C->Id = fork();
  if (C->Id < 0)
    return Fail("fork");
  if (C->Id == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(126); // it died before the line above
    limit(RLIMIT_CORE, 0);
    int Null = open("/dev/null", O_RDONLY);
    // Out of the way of 0 to 4 first, so that none is overwritten unread.
    int From[4] = {fcntl(C->Log, F_DUPFD, 10), fcntl(Pair[1], F_DUPFD, 10),
                   fcntl(Memory, F_DUPFD, 10), fcntl(Null, F_DUPFD, 10)};
    dup2(From[3], 0);
    dup2(From[0], 1);
    dup2(From[0], 2);
    dup2(From[1], 3);
    dup2(From[2], 4);
    for (int D : From)
      close(D);
    execve("/proc/self/exe", Argv.data(), Envp.data());
    _exit(127);
  }
  setpgid(C->Id, C->Id);
  close(Pair[1]);
  close(Memory);
  return C;
}

ChildProcess::~ChildProcess() {
  end(nullptr);
  if (Shared)
    munmap(const_cast<char *>(Shared), SharedBytes);
  if (Log >= 0)
    close(Log);
}

void ChildProcess::end(Answer *Into) {
  if (Control >= 0)
    close(Control);
  Control = -1;
  if (Id <= 0)
    return;
  int Wait = 0;
  // A child that has died by itself leaves its own cause of death; give it a
  // moment between closing the pair and being gone.
  pid_t Gone = 0;
  for (unsigned I = 0; Into && I < 200 && Gone == 0; ++I) {
    Gone = waitpid(Id, &Wait, WNOHANG);
    if (Gone == 0)
      usleep(10000);
  }
  kill(-Id, SIGKILL);
  if (Gone != Id) {
    kill(Id, SIGKILL);
    waitpid(Id, &Wait, 0);
  }
  if (Into) {
    Into->Signal = WIFSIGNALED(Wait) ? WTERMSIG(Wait) : 0;
    Into->ExitCode = WIFEXITED(Wait) ? WEXITSTATUS(Wait) : 0;
  }
  Id = -1;
}

Answer ChildProcess::ask(const Request &R, uint64_t TimeoutMs) {
  send(R);
  return receive(TimeoutMs);
}

void ChildProcess::send(Request R) {
  R.Nonce = Nonce = secretNumber();
  Sent = SteadyClock::now();
  // A child that is gone is noticed when its answer is waited for.
  if (Control >= 0)
    (void)!::send(Control, &R, sizeof(R), MSG_NOSIGNAL);
}

Answer ChildProcess::receive(uint64_t TimeoutMs) {
  Answer A;
  if (Control < 0)
    return A;
  auto PassedUs = [&] {
    return std::chrono::duration<double, std::micro>(SteadyClock::now() - Sent)
        .count();
  };
  for (;;) {
    double LeftMs = double(TimeoutMs) - PassedUs() / 1000;
    if (LeftMs <= 0) {
      A.What = Answer::TimedOut;
      end(nullptr);
      return A;
    }
    pollfd P = {Control, POLLIN, 0};
    int Ready = poll(&P, 1, int(std::min(LeftMs + 1, 3600e3)));
    if (Ready < 0 && errno != EINTR) {
      end(&A);
      return A;
    }
    if (Ready <= 0)
      continue;
    ssize_t Got = recv(Control, &A.R, sizeof(A.R), MSG_TRUNC);
    if (Got <= 0) {
      end(&A);
      return A;
    }
    // A record of another size or with another nonce is none of the harness's:
    // it was made by the library, and is not listened to.
    if (Got != sizeof(A.R) || A.R.Nonce != Nonce)
      continue;
    A.R.Text[sizeof(A.R.Text) - 1] = 0;
    A.What = Answer::Replied;
    A.WallUs = PassedUs();
    return A;
  }
}

std::string ChildProcess::printed() const {
  char Bytes[2048];
  ssize_t Got = pread(Log, Bytes, sizeof(Bytes), 0);
  return Got > 0 ? std::string(Bytes, size_t(Got)) : "";
}
