//===- ChildProcess.cpp - A child that loads one library ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   socket pair, memory files -> child group -> exec of this program with
/// --child
///
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace stark;
using namespace stark::gpu;

namespace {
/// Where the child finds its end of the pair and the memory for the outputs.
constexpr int ControlInChild = 3, SharedInChild = 4;
/// A child that has died by itself leaves its own cause of death; it gets this
/// long between closing the pair and being gone.
constexpr uint64_t DeathPatienceMs = 2000;
constexpr std::chrono::milliseconds DeathLook(10);

/// What one child inherits and what stays here of it; closed unless released.
struct Inheritance {
  int Ours = -1, Theirs = -1, Log = -1, Memory = -1;

  ~Inheritance() {
    for (int D : {Ours, Theirs, Log, Memory})
      if (D >= 0)
        close(D);
  }
  /// What failed, with errno; empty when all is well.
  const char *open();
};

/// In a child that is given it alone there is but one.
std::string onlyDevice(const ChildSpec &Spec) {
  return Spec.Alone ? visibleDevice(getenv("CUDA_VISIBLE_DEVICES"), Spec.Device)
                    : "";
}

/// What a child may know of the environment: where the driver is, and which
/// device is meant.
std::vector<std::string> childEnvironment(const ChildSpec &Spec) {
  // libtorch has thousands of kernels, of which a job needs few.
  std::vector<std::string> Kept = {"LC_ALL=C", "CUDA_CACHE_DISABLE=1",
                                   Spec.Torch ? "CUDA_MODULE_LOADING=LAZY"
                                              : "CUDA_MODULE_LOADING=EAGER"};
  if (Spec.Torch)
    Kept.push_back("LD_LIBRARY_PATH=" + Spec.Torch->searchPath());
  std::string Only = onlyDevice(Spec);
  if (!Only.empty())
    Kept.push_back("CUDA_VISIBLE_DEVICES=" + Only);
  for (const char *Name :
       {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
    if (const char *Value = getenv(Name);
        Value && !(Spec.Torch && !std::strcmp(Name, "LD_LIBRARY_PATH")) &&
        !(!Only.empty() && !std::strcmp(Name, "CUDA_VISIBLE_DEVICES")))
      Kept.push_back(std::string(Name) + "=" + Value);
  Kept.insert(Kept.end(), Spec.Environment.begin(), Spec.Environment.end());
  return Kept;
}

/// For a program that is told by name what to start.
std::string ownPath() {
  std::error_code Error;
  std::string Path = std::filesystem::read_symlink("/proc/self/exe", Error);
  return Path.empty() ? "/proc/self/exe" : Path;
}

std::vector<std::string> childArguments(const ChildSpec &Spec) {
  std::vector<std::string> Words = Spec.Under;
  Words.insert(Words.end(),
               {Words.empty() ? "stark-worker" : ownPath(), "--child",
                "--control", std::to_string(ControlInChild), "--shared",
                std::to_string(SharedInChild), "--device",
                std::to_string(onlyDevice(Spec).empty() ? Spec.Device : 0)});
  if (!Spec.Under.empty())
    Words.push_back("--sanitized");
  if (!Spec.Cupti.empty())
    Words.insert(Words.end(), {"--records", Spec.Cupti});
  if (Spec.Torch) {
    std::string Files;
    for (const std::string &File : Spec.Torch->libraryFiles())
      Files += (Files.empty() ? "" : ":") + File;
    Words.insert(Words.end(), {"--preload", Files});
  }
  return Words;
}

std::vector<char *> pointersTo(std::vector<std::string> &Words) {
  std::vector<char *> Pointers;
  for (std::string &W : Words)
    Pointers.push_back(W.data());
  Pointers.push_back(nullptr);
  return Pointers;
}

/// In the child: descriptors to their places, then \p Program.
void become(const Inheritance &Own, const char *Program, char *const *Argv,
            char *const *Envp) {
  int Null = open("/dev/null", O_RDONLY);
  // Out of the way of 0 to 4 first, so that none is overwritten unread.
  int From[4] = {fcntl(Own.Log, F_DUPFD, 10), fcntl(Own.Theirs, F_DUPFD, 10),
                 fcntl(Own.Memory, F_DUPFD, 10), fcntl(Null, F_DUPFD, 10)};
  dup2(From[3], 0);
  dup2(From[0], 1);
  dup2(From[0], 2);
  dup2(From[1], ControlInChild);
  dup2(From[2], SharedInChild);
  for (int D : From)
    close(D);
  execve(Program, Argv, Envp);
}
} // namespace

const char *Inheritance::open() {
  int Pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Pair) != 0)
    return "socketpair";
  Ours = Pair[0];
  Theirs = Pair[1];
  Log = memfd_create("stark-printed", MFD_CLOEXEC);
  Memory = memfd_create("stark-outputs", MFD_CLOEXEC);
  if (Log < 0 || Memory < 0)
    return "memfd_create";
  return "";
}

std::string gpu::visibleDevice(const char *Visible, int Device) {
  if (!Visible)
    return std::to_string(Device);
  std::stringstream Parts(Visible);
  std::string Part;
  for (int I = 0; I <= Device; ++I)
    if (!std::getline(Parts, Part, ','))
      return "";
  return Part;
}

std::unique_ptr<ChildProcess>
ChildProcess::start(const ChildSpec &Spec, Clock &Time, std::string &Error) {
  auto Fail = [&](const char *What) {
    Error = std::string("cannot start a child: ") + What + ": " +
            std::strerror(errno);
    return nullptr;
  };
  Inheritance Own;
  if (const char *What = Own.open(); *What)
    return Fail(What);
  // Everything that allocates is done before the fork.
  std::vector<std::string> Words = childArguments(Spec),
                           Environment = childEnvironment(Spec);
  std::vector<char *> Argv = pointersTo(Words), Envp = pointersTo(Environment);
  const char *Program = Spec.Under.empty() ? "/proc/self/exe" : Argv[0];
  std::optional<posix::ChildGroup> Group =
      posix::ChildGroup::start(posix::ChildGroup::Ties::WithParent, [&] {
        become(Own, Program, Argv.data(), Envp.data());
      });
  if (!Group)
    return Fail("fork");
  std::unique_ptr<ChildProcess> C(
      new ChildProcess(std::exchange(Own.Ours, -1), std::move(*Group), Time));
  C->Log = std::exchange(Own.Log, -1);
  C->Memory = std::exchange(Own.Memory, -1);
  return C;
}

/// Which begins with the job, until outputs are written over it. False with
/// errno.
bool ChildProcess::shareMemory(const Errand &E) {
  if (Shared)
    munmap(const_cast<char *>(std::exchange(Shared, nullptr)), SharedBytes);
  SharedBytes = E.SharedBytes;
  if (ftruncate(Memory, off_t(std::max(E.SharedBytes, E.Job.size()))) != 0)
    return false;
  for (size_t Done = 0; Done < E.Job.size();) {
    ssize_t Count =
        pwrite(Memory, E.Job.data() + Done, E.Job.size() - Done, off_t(Done));
    if (Count <= 0)
      return false;
    Done += size_t(Count);
  }
  if (!SharedBytes)
    return true;
  void *At = mmap(nullptr, SharedBytes, PROT_READ, MAP_SHARED, Memory, 0);
  if (At == MAP_FAILED)
    return false;
  // Some gigabytes are faulted in; where that is not to be had it goes on.
  madvise(At, SharedBytes, MADV_HUGEPAGE);
  Shared = static_cast<const char *>(At);
  return true;
}

bool ChildProcess::send(const Errand &E, uint32_t Flags, std::string &Error) {
  ErrandRecord Sent;
  Sent.SharedBytes = E.SharedBytes;
  Sent.JobBytes = E.Job.size();
  Sent.Reference = E.Reference;
  if (E.Folder.size() >= sizeof(Sent.Folder) ||
      E.Library.size() >= sizeof(Sent.Library)) {
    Error = "the path of the job's folder is too long: " + E.Folder;
    return false;
  }
  std::strcpy(Sent.Folder, E.Folder.c_str());
  std::strcpy(Sent.Library, E.Library.c_str());
  if (!shareMemory(E)) {
    Error = std::string("there is no memory for the outputs: ") +
            std::strerror(errno);
    return false;
  }
  Request R;
  R.What = Command::Take;
  R.Flags = Flags;
  Control.send(R);
  Control.sendPart(Sent);
  return true;
}

ChildProcess::~ChildProcess() {
  Group.kill();
  if (Shared)
    munmap(const_cast<char *>(Shared), SharedBytes);
  close(Log);
  close(Memory);
}

Answer ChildProcess::ask(const Request &R, uint64_t TimeoutMs) {
  send(R);
  return receive(TimeoutMs);
}

Answer ChildProcess::receive(uint64_t TimeoutMs) {
  Answer A = Control.receive(TimeoutMs);
  if (A.What == Answer::Replied)
    return A;
  Control.close();
  if (A.What == Answer::Closed)
    awaitItsOwnEnd(DeathPatienceMs);
  Group.kill();
  return A;
}

bool ChildProcess::awaitItsOwnEnd(uint64_t TimeoutMs) {
  Clock::Time Start = Time.now();
  bool Ended;
  while (!(Ended = Group.ended()) && Time.millisecondsSince(Start) < TimeoutMs)
    Time.sleep(DeathLook);
  return Ended;
}

bool ChildProcess::finish(uint64_t TimeoutMs) {
  Control.close();
  return awaitItsOwnEnd(TimeoutMs);
}

bool ChildProcess::madeForbiddenCall() const {
  return Group.status().Signal == SIGSYS;
}

std::string ChildProcess::describeDeath() const {
  int Signal = Group.status().Signal;
  std::string Text;
  if (Signal == SIGSYS)
    Text = "the entry made a system call that is not allowed (a new process or "
           "program, or reaching into another process)";
  else if (Signal == SIGSEGV || Signal == SIGBUS)
    Text = std::string("the host code of the entry crashed: ") +
           strsignal(Signal) + "; device pointers cannot be read on the host";
  else if (Signal)
    Text = std::string("the entry ended the process: ") + strsignal(Signal);
  else
    Text = "the entry ended the process with exit code " +
           std::to_string(Group.status().ExitCode);
  char Printed[600];
  ssize_t Count = pread(Log, Printed, sizeof(Printed), 0);
  if (Count <= 0)
    return Text;
  // What was printed reaches a prompt: keep it to text.
  for (char *C = Printed; C != Printed + Count; ++C)
    if ((unsigned char)*C < 32 && *C != '\n' && *C != '\t')
      *C = '?';
  return Text + "\nIt printed:\n" + std::string(Printed, size_t(Count));
}
