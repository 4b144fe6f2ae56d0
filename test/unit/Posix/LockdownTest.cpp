//===- LockdownTest.cpp - What a child gives up --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Lockdown.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace stark;

namespace {
/// How a locked-down process ends that does \p Deed: "exit 0", "signal 31".
template <class Function>
std::string fateOf(Function Deed, std::vector<std::string> Readable = {},
                   const std::string &Writable = "") {
  pid_t Child = fork();
  if (Child == 0) {
    std::string Held = posix::lockDown(Readable, Writable);
    if (Held.find("seccomp") == std::string::npos)
      _exit(99);
    _exit(Deed(Held) ? 0 : 1);
  }
  int Wait = 0;
  waitpid(Child, &Wait, 0);
  return WIFSIGNALED(Wait) ? "signal " + std::to_string(WTERMSIG(Wait))
                           : "exit " + std::to_string(WEXITSTATUS(Wait));
}
bool unsupported(const std::string &Fate) { return Fate == "exit 99"; }
#define SKIP_WITHOUT_SECCOMP(Fate)                                             \
  if (unsupported(Fate))                                                       \
  GTEST_SKIP() << "this kernel has no seccomp filters"
} // namespace

TEST(Lockdown, NewProcessesAndProgramsEndTheChild) {
  std::string Killed = "signal " + std::to_string(SIGSYS);
  std::string Fate = fateOf([](const std::string &) { return fork() >= 0; });
  SKIP_WITHOUT_SECCOMP(Fate);
  EXPECT_EQ(Fate, Killed);
  EXPECT_EQ(fateOf([](const std::string &) {
              return execl("/bin/true", "true", nullptr) == 0;
            }),
            Killed);
}

TEST(Lockdown, SocketsAndSignalsToOthersFail) {
  std::string Fate = fateOf([](const std::string &) {
    return socket(AF_INET, SOCK_STREAM, 0) < 0 && kill(getppid(), 0) < 0 &&
           kill(getpid(), 0) == 0;
  });
  SKIP_WITHOUT_SECCOMP(Fate);
  EXPECT_EQ(Fate, "exit 0");
}

TEST(Lockdown, AbortStillEndsTheChildAsAnAbort) {
  std::string Fate = fateOf([](const std::string &) {
    abort();
    return true;
  });
  SKIP_WITHOUT_SECCOMP(Fate);
  EXPECT_EQ(Fate, "signal " + std::to_string(SIGABRT));
}

TEST(Lockdown, FilesAreReadButNotWritten) {
  std::string Path = "/tmp/stark-lockdown-" + std::to_string(getpid());
  std::string Fate = fateOf([&](const std::string &Held) {
    bool Reads = open("/proc/self/maps", O_RDONLY) >= 0 &&
                 open("/etc/passwd", O_RDONLY) >= 0 &&
                 open("/dev/null", O_WRONLY) >= 0;
    bool Writes = open(Path.c_str(), O_CREAT | O_WRONLY, 0600) >= 0;
    return Reads && Writes == (Held.find("landlock") == std::string::npos);
  });
  unlink(Path.c_str());
  SKIP_WITHOUT_SECCOMP(Fate);
  EXPECT_EQ(Fate, "exit 0");
}

// Of files, the system's and those of the job; not a user's own, as a key, nor
// those of another job.
TEST(Lockdown, OnlyTheSystemsFilesAndTheJobsAreRead) {
  char Mine[] = "/tmp/stark-lockdown-mine-XXXXXX",
       Others[] = "/tmp/stark-lockdown-others-XXXXXX";
  ASSERT_TRUE(mkdtemp(Mine) && mkdtemp(Others));
  auto FileIn = [](const char *Folder) {
    return std::string(Folder) + "/file";
  };
  for (const char *Folder : {Mine, Others})
    close(open(FileIn(Folder).c_str(), O_CREAT | O_WRONLY, 0600));
  std::string Fate = fateOf(
      [&](const std::string &Held) {
        bool ReadsMine = open(FileIn(Mine).c_str(), O_RDONLY) >= 0,
             ReadsOthers = open(FileIn(Others).c_str(), O_RDONLY) >= 0;
        return ReadsMine &&
               ReadsOthers == (Held.find("landlock") == std::string::npos);
      },
      {Mine});
  for (const char *Folder : {Mine, Others}) {
    unlink(FileIn(Folder).c_str());
    rmdir(Folder);
  }
  SKIP_WITHOUT_SECCOMP(Fate);
  EXPECT_EQ(Fate, "exit 0");
}

// The one folder that may be written to, and nothing beside it.
TEST(Lockdown, OneFolderMayBeWrittenTo) {
  char Mine[] = "/tmp/stark-lockdown-mine-XXXXXX";
  ASSERT_TRUE(mkdtemp(Mine));
  std::string Inner = std::string(Mine) + "/inner", File = Inner + "/file",
              Beside = std::string(Mine) + "/beside";
  ASSERT_EQ(mkdir(Inner.c_str(), 0700), 0);
  std::string Fate = fateOf(
      [&](const std::string &Held) {
        bool Writes = open(File.c_str(), O_CREAT | O_RDWR, 0600) >= 0,
             Strays = open(Beside.c_str(), O_CREAT | O_RDWR, 0600) >= 0;
        return Writes && Strays == (Held.find("landlock") == std::string::npos);
      },
      {}, Inner);
  unlink(File.c_str());
  unlink(Beside.c_str());
  rmdir(Inner.c_str());
  rmdir(Mine);
  SKIP_WITHOUT_SECCOMP(Fate);
  EXPECT_EQ(Fate, "exit 0");
}
