//===- Lockdown.cpp - What a child gives up before it loads generated code ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A seccomp filter for all threads, then a landlock domain for this one.
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/Lockdown.h"
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace stark;

namespace {
#if defined(__x86_64__)
constexpr unsigned Architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned Architecture = AUDIT_ARCH_AARCH64;
#else
#error "the system call filter knows x86-64 and AArch64"
#endif

constexpr unsigned Refuse = SECCOMP_RET_ERRNO | EPERM;

/// Calls that no honest kernel launcher makes: the process ends with SIGSYS,
/// which the supervisor reports as forbidden.
constexpr long Fatal[] = {
#ifdef SYS_fork
    SYS_fork,
#endif
#ifdef SYS_vfork
    SYS_vfork,
#endif
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev};

/// Calls that the driver might try; they fail.
constexpr long Refused[] = {SYS_socket,
                            SYS_socketpair,
                            SYS_connect,
                            SYS_bind,
                            SYS_listen,
                            SYS_accept,
                            SYS_accept4,
                            SYS_io_uring_setup,
                            SYS_bpf,
                            SYS_unshare,
                            SYS_setns,
                            SYS_mount,
                            SYS_pidfd_open,
                            SYS_pidfd_getfd,
                            SYS_pidfd_send_signal,
                            SYS_perf_event_open,
                            SYS_userfaultfd,
                            SYS_keyctl,
                            SYS_setsid,
                            SYS_setpgid,
                            SYS_tkill,
                            SYS_rt_sigqueueinfo,
                            SYS_rt_tgsigqueueinfo,
                            SYS_chroot};

sock_filter load(size_t Offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, unsigned(Offset));
}
sock_filter give(unsigned Action) { return BPF_STMT(BPF_RET | BPF_K, Action); }
/// If the accumulator is not \p Value, skip the next \p Count instructions.
sock_filter unlessEqualSkip(unsigned Value, unsigned char Count) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Value, 0, Count);
}

std::vector<sock_filter> filterProgram() {
  // The low half of the first argument (both architectures are little-endian).
  constexpr size_t Argument = offsetof(seccomp_data, args[0]);
  std::vector<sock_filter> P;
  P.push_back(load(offsetof(seccomp_data, arch)));
  P.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Architecture, 1, 0));
  P.push_back(give(SECCOMP_RET_KILL_PROCESS));
  P.push_back(load(offsetof(seccomp_data, nr)));
#if defined(__x86_64__)
  // The x32 numbers name the same calls once more.
  P.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
  P.push_back(give(SECCOMP_RET_KILL_PROCESS));
#endif
  for (long Call : Fatal) {
    P.push_back(unlessEqualSkip(unsigned(Call), 1));
    P.push_back(give(SECCOMP_RET_KILL_PROCESS));
  }
  for (long Call : Refused) {
    P.push_back(unlessEqualSkip(unsigned(Call), 1));
    P.push_back(give(Refuse));
  }
  // glibc falls back to clone, whose flags a filter can read.
  P.push_back(unlessEqualSkip(SYS_clone3, 1));
  P.push_back(give(SECCOMP_RET_ERRNO | ENOSYS));
  // Threads are the driver's; processes are nobody's.
  P.push_back(unlessEqualSkip(SYS_clone, 4));
  P.push_back(load(Argument));
  P.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
  P.push_back(give(SECCOMP_RET_ALLOW));
  P.push_back(give(SECCOMP_RET_KILL_PROCESS));
  // A process may signal only itself (abort does).
  for (long Call : {SYS_kill, SYS_tgkill}) {
    P.push_back(unlessEqualSkip(unsigned(Call), 4));
    P.push_back(load(Argument));
    P.push_back(unlessEqualSkip(unsigned(getpid()), 1));
    P.push_back(give(SECCOMP_RET_ALLOW));
    P.push_back(give(Refuse));
  }
  P.push_back(give(SECCOMP_RET_ALLOW));
  return P;
}

bool filterCalls() {
  std::vector<sock_filter> Program = filterProgram();
  sock_fprog Described = {(unsigned short)Program.size(), Program.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_TSYNC, &Described) == 0;
}

/// What programs and drivers read, and nothing that is a user's.
constexpr const char *OfTheSystem[] = {
    "/dev",    "/proc", "/sys",  "/usr", "/lib",       "/lib32", "/lib64",
    "/libx32", "/bin",  "/sbin", "/opt", "/nix/store", "/etc"};

void allow(int Ruleset, const std::string &Folder, uint64_t Access) {
  landlock_path_beneath_attr Beneath = {};
  Beneath.allowed_access = Access;
  Beneath.parent_fd = open(Folder.c_str(), O_PATH | O_CLOEXEC);
  if (Beneath.parent_fd < 0)
    return;
  syscall(SYS_landlock_add_rule, Ruleset, LANDLOCK_RULE_PATH_BENEATH, &Beneath,
          0);
  close(Beneath.parent_fd);
}

/// Those where a library that is loaded later may lie.
void addSearched(std::vector<std::string> &Folders) {
  const char *Path = getenv("LD_LIBRARY_PATH");
  std::stringstream Parts(Path ? Path : "");
  for (std::string Folder; std::getline(Parts, Folder, ':');)
    if (!Folder.empty())
      Folders.push_back(Folder);
}

bool confineFiles(std::vector<std::string> Readable,
                  const std::string &Writable) {
  landlock_ruleset_attr Rules = {};
  Rules.handled_access_fs =
      LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
      LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
      LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
      LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  int Ruleset =
      int(syscall(SYS_landlock_create_ruleset, &Rules, sizeof(Rules), 0));
  if (Ruleset < 0)
    return false;
  constexpr uint64_t Read =
      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  for (const char *Folder : {"/dev", "/proc"})
    allow(Ruleset, Folder, Read | LANDLOCK_ACCESS_FS_WRITE_FILE);
  if (!Writable.empty())
    allow(Ruleset, Writable,
          Read | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
              LANDLOCK_ACCESS_FS_REMOVE_FILE);
  addSearched(Readable);
  Readable.insert(Readable.end(), std::begin(OfTheSystem),
                  std::end(OfTheSystem));
  for (const std::string &Folder : Readable)
    allow(Ruleset, Folder, Read);
  bool Done = syscall(SYS_landlock_restrict_self, Ruleset, 0) == 0;
  close(Ruleset);
  return Done;
}
} // namespace

bool posix::canConfineFiles() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0,
                 LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

void posix::closeToOthers(bool Closed) {
  prctl(PR_SET_DUMPABLE, Closed ? 0 : 1, 0, 0, 0);
}

std::string posix::lockDown(std::vector<std::string> Readable,
                            const std::string &Writable) {
  // What it prints goes to a file in memory; more than this is refused. Not
  // earlier: the driver sets up larger files of its own.
  rlimit Printed = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_FSIZE, &Printed);
  signal(SIGXFSZ, SIG_IGN);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  bool Landlock = confineFiles(std::move(Readable), Writable);
  bool Seccomp = filterCalls();
  std::string Held =
      std::string(Seccomp ? "seccomp " : "") + (Landlock ? "landlock " : "");
  return Held.empty() ? "none" : Held.substr(0, Held.size() - 1);
}
