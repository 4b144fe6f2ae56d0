//===- HostProcess.cpp - stark-sim-host, as stark-sim sees it -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostProcess.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace stark;
using namespace stark::sim;

/// Where the process finds its end of the socket.
static constexpr int ControlInHost = 3;

static std::vector<char *> pointersTo(std::vector<std::string> &Words) {
  std::vector<char *> Pointers;
  for (std::string &W : Words)
    Pointers.push_back(W.data());
  Pointers.push_back(nullptr);
  return Pointers;
}

/// In the child: nothing to read or print, the socket, and no other file.
static void become(const std::string &Program, int Theirs, char *const *Argv,
                   char *const *Envp) {
  int Null = open("/dev/null", O_RDWR);
  int From = fcntl(Theirs, F_DUPFD, 10);
  dup2(Null, 0);
  dup2(Null, 1);
  dup2(From, ControlInHost);
  close(From);
  execve(Program.c_str(), Argv, Envp);
}

std::unique_ptr<HostProcess> HostProcess::start(const std::string &Program,
                                                const HostLibraries &Libraries,
                                                const std::string &Folder,
                                                std::string &Error) {
  std::string Files;
  for (const std::string &File : Libraries.Preload)
    Files += (Files.empty() ? "" : ":") +
             (File.find('/') == std::string::npos ? Folder + "/" + File : File);
  // One thread: sums are the same each time, and a fork has all there are.
  std::vector<std::string> Words = {Program, std::to_string(ControlInHost),
                                    Files},
                           Environment = {"LC_ALL=C", "OMP_NUM_THREADS=1",
                                          "MKL_NUM_THREADS=1",
                                          "LD_LIBRARY_PATH=" +
                                              Libraries.SearchPath};
  std::vector<char *> Argv = pointersTo(Words), Envp = pointersTo(Environment);
  int Pair[2];
  if (access(Program.c_str(), X_OK) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Pair) != 0) {
    Error = "cannot start " + Program + ": " + std::strerror(errno);
    return nullptr;
  }
  std::optional<posix::ChildGroup> Group =
      posix::ChildGroup::start(posix::ChildGroup::Ties::WithParent, [&] {
        become(Program, Pair[1], Argv.data(), Envp.data());
      });
  close(Pair[1]);
  if (Group)
    return std::unique_ptr<HostProcess>(
        new HostProcess(Pair[0], std::move(*Group)));
  Error = "no process can be started for host code";
  close(Pair[0]);
  return nullptr;
}

HostProcess::~HostProcess() {
  Group.kill();
  close(Control);
}

std::optional<HostedCall> HostProcess::begin(const simhost::StartCall &Start,
                                             int Memory) const {
  int Messages[2], Fate[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Messages) != 0)
    return std::nullopt;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Fate) != 0) {
    close(Messages[0]);
    close(Messages[1]);
    return std::nullopt;
  }
  int Files[simhost::StartDescriptors] = {Messages[1], Memory, Fate[1]};
  bool Sent = simhost::sendRecord(Control, &Start, sizeof(Start), Files,
                                  simhost::StartDescriptors);
  close(Messages[1]);
  close(Fate[1]);
  if (Sent)
    return HostedCall{Messages[0], Fate[0]};
  close(Messages[0]);
  close(Fate[0]);
  return std::nullopt;
}
