//===- Process.cpp - Child processes with a deadline ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   spec -> pipes -> child group -> drain until both streams and the child end
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/Process.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Posix/Pipe.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace stark;
using namespace stark::posix;

extern char **environ;

namespace {
/// How long to wait for output before the child, the user and the deadline are
/// looked at again.
constexpr int LookEveryMs = 20;

/// What one stream of the child brings.
class Stream {
public:
  Stream(size_t Limit, std::string &Into) : Limit(Limit), Into(Into) {}
  bool open() { return Ends.open(); }
  int writeEnd() const { return Ends.writeEnd(); }
  void started() { Ends.closeWriteEnd(); }
  bool atEnd() const { return AtEnd; }
  pollfd polled() const { return {AtEnd ? -1 : Ends.readEnd(), POLLIN, 0}; }
  /// Reads what is there.
  void drain();
  void noteWhatWasCut() {
    if (Dropped)
      Into += "\n[" + std::to_string(Dropped) + " more bytes left out]\n";
  }

private:
  Pipe Ends;
  size_t Limit;
  std::string &Into;
  uint64_t Dropped = 0;
  bool AtEnd = false;
};

/// The words of a program in the form that execve() takes.
std::vector<char *> pointersTo(const std::vector<std::string> &Words) {
  std::vector<char *> Pointers;
  for (const std::string &W : Words)
    Pointers.push_back(const_cast<char *>(W.c_str()));
  Pointers.push_back(nullptr);
  return Pointers;
}

bool hasSecretName(std::string_view Entry) {
  std::string Name(Entry.substr(0, Entry.find('=')));
  for (char &C : Name)
    C = char(std::toupper((unsigned char)C));
  for (const char *Word :
       {"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"})
    if (Name.find(Word) != std::string::npos)
      return true;
  return false;
}
} // namespace

void Stream::drain() {
  char Buffer[1 << 16];
  ssize_t Count = ::read(Ends.readEnd(), Buffer, sizeof(Buffer));
  AtEnd = Count == 0 || (Count < 0 && errno != EINTR && errno != EAGAIN);
  if (Count <= 0)
    return;
  size_t Room = Limit - std::min(Limit, Into.size());
  size_t Kept = std::min(size_t(Count), Room);
  Into.append(Buffer, Kept);
  Dropped += size_t(Count) - Kept;
}

static std::vector<std::string> environmentWithoutSecrets() {
  std::vector<std::string> Kept;
  for (char **Entry = environ; *Entry; ++Entry)
    if (!hasSecretName(*Entry))
      Kept.push_back(*Entry);
  return Kept;
}

std::vector<std::string> posix::environmentWithin(const std::string &Folder) {
  std::vector<std::string> Kept = environmentWithoutSecrets();
  Kept.push_back("TMPDIR=" + Folder);
  return Kept;
}

std::string posix::findProgram(const std::string &Name) {
  if (Name.find('/') != std::string::npos)
    return Name;
  const char *Path = std::getenv("PATH");
  std::string_view Left = Path ? Path : "";
  while (!Name.empty() && !Left.empty()) {
    size_t Colon = std::min(Left.find(':'), Left.size());
    std::string Folder(Left.substr(0, Colon));
    Left.remove_prefix(std::min(Colon + 1, Left.size()));
    std::string File = Folder + "/" + Name;
    struct stat Status;
    if (!Folder.empty() && ::access(File.c_str(), R_OK | X_OK) == 0 &&
        ::stat(File.c_str(), &Status) == 0 && S_ISREG(Status.st_mode))
      return File;
  }
  return "";
}

/// In the child: gives it its streams and becomes the program. Returns errno
/// when that failed.
static int become(const ProcessSpec &Spec, char *const *Argv, char *const *Envp,
                  int Out, int Err) {
  ::dup2(Spec.Input >= 0 ? Spec.Input : ::open("/dev/null", O_RDONLY), 0);
  ::dup2(Out, 1);
  ::dup2(Err, 2);
  if (Spec.WorkingFolder.empty() || ::chdir(Spec.WorkingFolder.c_str()) == 0)
    ::execve(Argv[0], Argv, Envp);
  return errno;
}

/// Starts it with these for its streams; nothing, with \p Error, when it does
/// not become the program.
static std::optional<ChildGroup> start(const ProcessSpec &Spec, int Out,
                                       int Err, std::string &Error) {
  std::string Program = findProgram(Spec.Program);
  auto NotStarted = [&](const std::string &Why) {
    Error = "cannot run '" + (Program.empty() ? Spec.Program : Program) +
            "': " + Why;
    return std::nullopt;
  };
  if (Program.empty())
    return NotStarted("not found on PATH");

  // Everything that allocates is done before the fork.
  std::vector<std::string> Words{Program}, Environment;
  Words.insert(Words.end(), Spec.Arguments.begin(), Spec.Arguments.end());
  Environment =
      Spec.Environment ? *Spec.Environment : environmentWithoutSecrets();
  std::vector<char *> Argv = pointersTo(Words), Envp = pointersTo(Environment);
  Pipe Failure;
  if (!Failure.open())
    return NotStarted(std::strerror(errno));
  std::optional<ChildGroup> Child =
      ChildGroup::start(ChildGroup::Ties::None, [&] {
        int Code = become(Spec, Argv.data(), Envp.data(), Out, Err);
        (void)!::write(Failure.writeEnd(), &Code, sizeof(Code));
      });
  if (!Child)
    return NotStarted(std::strerror(errno));
  Failure.closeWriteEnd();
  int Code = 0;
  ssize_t Count;
  do
    Count = ::read(Failure.readEnd(), &Code, sizeof(Code));
  while (Count < 0 && errno == EINTR);
  if (Count == sizeof(Code))
    return NotStarted(std::strerror(Code));
  return Child;
}

std::optional<ChildGroup> posix::startProgram(const ProcessSpec &Spec,
                                              const std::string &Log,
                                              std::string &Error) {
  int File =
      ::open(Log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (File < 0) {
    Error = Log + ": " + std::strerror(errno);
    return std::nullopt;
  }
  std::optional<ChildGroup> Child = start(Spec, File, File, Error);
  ::close(File);
  return Child;
}

Ran posix::runProcess(const ProcessSpec &Spec, Clock &Time,
                      ProcessResult &Result, std::string &Error) {
  Stream Out(Spec.OutputLimit, Result.Out), Err(Spec.OutputLimit, Result.Err);
  if (!Out.open() || !Err.open()) {
    Error = "cannot run '" + Spec.Program + "': " + std::strerror(errno);
    return Ran::NotStarted;
  }
  Clock::Time Start = Time.now();
  std::optional<ChildGroup> Child =
      start(Spec, Out.writeEnd(), Err.writeEnd(), Error);
  if (!Child)
    return Ran::NotStarted;
  Out.started();
  Err.started();

  // What the program left running is ended with it; it also holds the pipes
  // open.
  for (bool Ended = false; !Out.atEnd() || !Err.atEnd() || !Ended;) {
    Ended = Child->ended();
    if (interruptFlag() && !Spec.ClearsUp) {
      Error = "'" + findProgram(Spec.Program) + "' was stopped";
      return Ran::Interrupted;
    }
    if (!Ended && Spec.TimeoutMs &&
        Time.millisecondsSince(Start) >= Spec.TimeoutMs) {
      Result.TimedOut = true;
      Child->kill();
      Ended = true;
    }
    if (!Ended && Spec.MemoryLimit &&
        Child->residentBytes() > Spec.MemoryLimit) {
      Result.OutOfMemory = true;
      Child->kill();
      Ended = true;
    }
    pollfd Polled[2] = {Out.polled(), Err.polled()};
    ::poll(Polled, 2, LookEveryMs);
    if (Polled[0].revents)
      Out.drain();
    if (Polled[1].revents)
      Err.drain();
  }
  Out.noteWhatWasCut();
  Err.noteWhatWasCut();
  Result.Signal = Child->status().Signal;
  Result.ExitCode = Child->status().ExitCode;
  Result.WallMs = Time.millisecondsSince(Start);
  return Ran::ToAnEnd;
}
