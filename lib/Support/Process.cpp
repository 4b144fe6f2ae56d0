//===- Process.cpp - Child processes with a deadline
//------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Process.h"
#include "stark/Support/Error.h"
#include "stark/Support/Interrupt.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace stark;

extern char **environ;

namespace {
/// A pipe whose ends close themselves.
struct Pipe {
  int Ends[2] = {-1, -1};
  bool open() { return ::pipe2(Ends, O_CLOEXEC) == 0; }
  void closeEnd(int I) {
    if (Ends[I] >= 0)
      ::close(Ends[I]);
    Ends[I] = -1;
  }
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }
};

using Clock = std::chrono::steady_clock;

uint64_t millisecondsSince(Clock::time_point Start) {
  return uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                      Clock::now() - Start)
                      .count());
}
} // namespace

std::vector<std::string> stark::environmentWithoutSecrets() {
  std::vector<std::string> Kept;
  for (char **Entry = environ; *Entry; ++Entry) {
    llvm::StringRef Text = *Entry;
    std::string Name = Text.split('=').first.upper();
    bool Secret = false;
    for (llvm::StringRef Word :
         {"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"})
      Secret |= llvm::StringRef(Name).contains(Word);
    if (!Secret)
      Kept.push_back(Text.str());
  }
  return Kept;
}

std::string stark::findProgram(llvm::StringRef Name) {
  llvm::ErrorOr<std::string> Found = llvm::sys::findProgramByName(Name);
  return Found ? *Found : std::string();
}

std::string stark::programFolder() {
  static int Anchor;
  std::string Program = llvm::sys::fs::getMainExecutable(nullptr, &Anchor);
  return llvm::sys::path::parent_path(Program).str();
}

/// Reads what is there; false at the end of the stream.
static bool drain(int Descriptor, std::string &Into, size_t Limit,
                  uint64_t &Dropped) {
  char Buffer[1 << 16];
  ssize_t Count = ::read(Descriptor, Buffer, sizeof(Buffer));
  if (Count < 0)
    return errno == EINTR || errno == EAGAIN;
  if (Count == 0)
    return false;
  size_t Room = Limit - std::min(Limit, Into.size());
  size_t Kept = std::min(size_t(Count), Room);
  Into.append(Buffer, Kept);
  Dropped += size_t(Count) - Kept;
  return true;
}

llvm::Expected<ProcessResult> stark::runProcess(const ProcessSpec &Spec) {
  std::string Program = llvm::StringRef(Spec.Program).contains('/')
                            ? Spec.Program
                            : findProgram(Spec.Program);
  if (Program.empty())
    return failed("cannot run '" + Spec.Program + "': not found on PATH");

  // Everything that allocates is done before the fork.
  std::vector<std::string> Environment =
      Spec.Environment ? *Spec.Environment : environmentWithoutSecrets();
  std::vector<char *> Argv{const_cast<char *>(Program.c_str())}, Envp;
  for (const std::string &A : Spec.Arguments)
    Argv.push_back(const_cast<char *>(A.c_str()));
  for (const std::string &E : Environment)
    Envp.push_back(const_cast<char *>(E.c_str()));
  Argv.push_back(nullptr);
  Envp.push_back(nullptr);

  Pipe Out, Err, Status;
  if (!Out.open() || !Err.open() || !Status.open())
    return failed("cannot run '" + Program + "': " + std::strerror(errno));

  Clock::time_point Start = Clock::now();
  pid_t Child = ::fork();
  if (Child < 0)
    return failed("cannot run '" + Program + "': " + std::strerror(errno));
  if (Child == 0) {
    ::setpgid(0, 0);
    int Null = ::open("/dev/null", O_RDONLY);
    ::dup2(Null, 0);
    ::dup2(Out.Ends[1], 1);
    ::dup2(Err.Ends[1], 2);
    if (Spec.WorkingFolder.empty() || ::chdir(Spec.WorkingFolder.c_str()) == 0)
      ::execve(Program.c_str(), Argv.data(), Envp.data());
    int Code = errno;
    (void)!::write(Status.Ends[1], &Code, sizeof(Code));
    ::_exit(127);
  }
  ::setpgid(Child, Child);
  Out.closeEnd(1);
  Err.closeEnd(1);
  Status.closeEnd(1);

  int StartCode = 0;
  ssize_t Count;
  do
    Count = ::read(Status.Ends[0], &StartCode, sizeof(StartCode));
  while (Count < 0 && errno == EINTR);
  if (Count == sizeof(StartCode)) {
    ::waitpid(Child, nullptr, 0);
    return failed("cannot run '" + Program + "': " + std::strerror(StartCode));
  }

  ProcessResult Result;
  uint64_t DroppedOut = 0, DroppedErr = 0;
  bool OutOpen = true, ErrOpen = true, Exited = false;
  int Wait = 0;
  while (OutOpen || ErrOpen || !Exited) {
    if (!Exited && ::waitpid(Child, &Wait, WNOHANG) == Child) {
      Exited = true;
      // What the program left running is ended with it; it also holds the
      // pipes open.
      ::kill(-Child, SIGKILL);
    }
    if (interruptFlag()) {
      ::kill(-Child, SIGKILL);
      if (!Exited)
        ::waitpid(Child, &Wait, 0);
      return interrupted("'" + Program + "' was stopped");
    }
    uint64_t Passed = millisecondsSince(Start);
    if (!Exited && Spec.TimeoutMs && Passed >= Spec.TimeoutMs) {
      Result.TimedOut = true;
      ::kill(-Child, SIGKILL);
      ::waitpid(Child, &Wait, 0);
      Exited = true;
    }
    pollfd Polled[2] = {{OutOpen ? Out.Ends[0] : -1, POLLIN, 0},
                        {ErrOpen ? Err.Ends[0] : -1, POLLIN, 0}};
    ::poll(Polled, 2, 20);
    if (OutOpen && Polled[0].revents)
      OutOpen = drain(Out.Ends[0], Result.Out, Spec.OutputLimit, DroppedOut);
    if (ErrOpen && Polled[1].revents)
      ErrOpen = drain(Err.Ends[0], Result.Err, Spec.OutputLimit, DroppedErr);
  }
  for (auto [Text, Dropped] :
       {std::pair(&Result.Out, DroppedOut), std::pair(&Result.Err, DroppedErr)})
    if (Dropped)
      *Text += "\n[" + std::to_string(Dropped) + " more bytes left out]\n";
  if (WIFSIGNALED(Wait))
    Result.Signal = WTERMSIG(Wait);
  else
    Result.ExitCode = WEXITSTATUS(Wait);
  Result.WallMs = millisecondsSince(Start);
  return Result;
}
