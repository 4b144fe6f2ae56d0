//===- ContractNames.cpp - What a candidate may not use ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;
using llvm::StringRef;

static constexpr StringRef Streams =
    "work goes to the stream that the entry is given";
static constexpr StringRef Events = "events could tamper with the clock";
static constexpr StringRef Graphs = "graphs could defer work";
static constexpr StringRef Device =
    "the state of the device belongs to the caller";
static constexpr StringRef Loading =
    "no code may be loaded or looked up at run time";
static constexpr StringRef State = "nothing may be kept between calls";
static constexpr StringRef Threads =
    "no threads or processes of its own; work could escape the clock";
static constexpr StringRef Files = "no files, sockets or other processes";
static constexpr StringRef Clocks = "a kernel has no use for a clock";
static constexpr StringRef System = "the process belongs to the caller";

namespace {
struct Rule {
  StringRef Prefix, Why;
};
} // namespace

/// Names that begin so are refused, but for the exceptions.
static const Rule Prefixes[] = {
    {"cudaStream", Streams},
    {"cudaEvent", Events},
    {"cudaGraph", Graphs},
    {"cudaLaunchHostFunc", Threads},
    {"cudaLaunchAttributeAccessPolicy", Device},
    {"cudaLaunchAttributeLaunchCompletion", Events},
    {"cudaLaunchAttributeProgrammaticEvent", Events},
    {"cudaAccessPropertyPersisting", Device},
    {"cudaDeviceSet", Device},
    {"cudaDeviceReset", Device},
    {"cudaDeviceEnablePeer", Device},
    {"cudaDeviceDisablePeer", Device},
    {"cudaDeviceGetDefaultMemPool", Device},
    {"cudaDeviceGetMemPool", Device},
    {"cudaDeviceFlush", Device},
    {"cudaSetDevice", Device},
    {"cudaSetValidDevices", Device},
    {"cudaInitDevice", Device},
    {"cudaCtx", Device},
    {"cudaThread", Device},
    {"cudaProfiler", Device},
    {"cudaHostRegister", Device},
    {"cudaHostUnregister", Device},
    {"cudaMemPool", State},
    {"cudaMallocFromPool", State},
    {"cudaIpc", Files},
    {"cudaImportExternal", Files},
    {"cudaExternal", Files},
    {"cudaDestroyExternal", Files},
    {"cudaSignalExternal", Files},
    {"cudaWaitExternal", Files},
    {"cudaUserObject", State},
    {"cudaLibrary", Loading},
    {"cudaKernel", Loading},
    {"cudaGetKernel", Loading},
    {"cudaGetDriverEntryPoint", Loading},
    {"cudaGetFuncBySymbol", Loading},
    {"cudaGetExportTable", Loading},
    {"cudaGetSymbolAddress", State},
    {"cudaMemcpyToSymbol", State},
    {"__cudaRegister", Loading},
    {"__cudaUnregister", Loading},
    {"__cudaInit", Loading},
    {"__cudaPush", Streams},
    {"__cudaPop", Streams},
    {"cuStream", Streams},
    {"cuEvent", Events},
    {"cuGraph", Graphs},
    {"cuModule", Loading},
    {"cuLibrary", Loading},
    {"cuLink", Loading},
    {"cuLaunch", Loading},
    {"cuKernel", Loading},
    {"cuFunc", Loading},
    {"cuGetProcAddress", Loading},
    {"cuGetExportTable", Loading},
    {"cuInit", Device},
    {"cuCtx", Device},
    {"cuDevice", Device},
    {"cuDevicePrimary", Device},
    {"cuDriver", Device},
    {"cuMem", Device},
    {"cuArray", Device},
    {"cuMipmapped", Device},
    {"cuPointer", Device},
    {"cuProfiler", Device},
    {"cuGreenCtx", Device},
    {"cuMulticast", Device},
    {"cuCoredump", Device},
    {"cuUserObject", State},
    {"cuIpc", Files},
    {"cuImportExternal", Files},
    {"cuExternal", Files},
    {"cuSignalExternal", Files},
    {"cuWaitExternal", Files},
    {"nvrtc", Loading},
    {"nvml", Device},
    {"cupti", Device},
    {"nvJitLink", Loading},
    {"pthread_", Threads},
    {"thrd_", Threads},
    {"posix_spawn", Threads},
    {"omp_", Threads},
    {"sem_", Threads},
    {"_dl_", Loading},
    {"__libc_", System},
    {"process_vm_", System},
    {"stark_", "the name is the judge's own"},
};

static const StringRef Allowed[] = {
    "cudaStream_t",
    "cudaStreamSynchronize",
    "cudaStreamQuery",
    "cudaStreamIsCapturing",
    "cudaStreamCaptureStatus",
    "cudaStreamCaptureStatusNone",
    "cudaStreamCaptureStatusActive",
    "cudaStreamGetDevice",
};

static const llvm::StringSet<> &set(std::initializer_list<StringRef> Names,
                                    llvm::StringSet<> &Storage) {
  for (StringRef Name : Names)
    Storage.insert(Name);
  return Storage;
}

llvm::StringRef stark::forbiddenWord(StringRef Name) {
  for (StringRef A : Allowed)
    if (Name == A)
      return "";
  for (const Rule &R : Prefixes)
    if (Name.starts_with(R.Prefix)) {
      // cuMemory and the like are somebody's own names.
      StringRef Rest = Name.substr(R.Prefix.size());
      bool Driver = R.Prefix.starts_with("cu") && R.Prefix.size() > 2 &&
                    llvm::isUpper(R.Prefix[2]);
      if (!Driver || Rest.empty() || llvm::isUpper(Rest[0]) || Rest[0] == '_' ||
          Rest.starts_with("cpy") || Rest.starts_with("set"))
        return R.Why;
    }
  static llvm::StringSet<> S1, S2, S3, S4, S5;
  static const llvm::StringSet<> &Load =
      set({"dlopen", "dlsym", "dlmopen", "dlvsym", "dladdr", "dladdr1",
           "dlinfo", "dlclose", "dl_iterate_phdr", "mprotect", "mmap", "mmap64",
           "mremap", "memfd_create", "_r_debug"},
          S1);
  static const llvm::StringSet<> &Thread = set({"fork",
                                                "vfork",
                                                "execv",
                                                "execve",
                                                "execvp",
                                                "execvpe",
                                                "execl",
                                                "execlp",
                                                "execle",
                                                "fexecve",
                                                "popen",
                                                "jthread",
                                                "packaged_task",
                                                "condition_variable",
                                                "call_once",
                                                "sigaction",
                                                "sigprocmask",
                                                "sigaltstack",
                                                "setitimer",
                                                "timer_create",
                                                "clone3",
                                                "waitpid",
                                                "sched_setaffinity",
                                                "sched_yield"},
                                               S2);
  static const llvm::StringSet<> &File =
      set({"fopen",          "fopen64",        "freopen",       "freopen64",
           "fdopen",         "openat",         "openat64",      "open64",
           "opendir",        "tmpfile",        "mkstemp",       "creat",
           "socket",         "socketpair",     "shm_open",      "shmget",
           "shmat",          "ifstream",       "ofstream",      "fstream",
           "basic_ifstream", "basic_ofstream", "basic_fstream", "basic_filebuf",
           "filebuf",        "pread",          "pwrite",        "epoll_create",
           "epoll_wait",     "inotify_init",   "ioctl",         "fcntl"},
          S3);
  static const llvm::StringSet<> &Sys = set({"getenv",
                                             "secure_getenv",
                                             "setenv",
                                             "putenv",
                                             "unsetenv",
                                             "clearenv",
                                             "environ",
                                             "__environ",
                                             "ptrace",
                                             "syscall",
                                             "prctl",
                                             "userfaultfd",
                                             "setjmp",
                                             "_setjmp",
                                             "sigsetjmp",
                                             "longjmp",
                                             "siglongjmp",
                                             "_exit",
                                             "_Exit",
                                             "quick_exit",
                                             "atexit",
                                             "at_quick_exit",
                                             "on_exit",
                                             "__cxa_atexit",
                                             "setrlimit",
                                             "personality",
                                             "setuid",
                                             "chroot",
                                             "__builtin_setjmp",
                                             "__builtin_longjmp",
                                             "backtrace",
                                             "__builtin_return_address",
                                             "__builtin_frame_address",
                                             "getcontext",
                                             "setcontext",
                                             "makecontext",
                                             "swapcontext"},
                                            S4);
  static const llvm::StringSet<> &Clock =
      set({"clock_gettime", "clock_settime", "gettimeofday", "timespec_get",
           "clock_nanosleep", "usleep", "chrono", "high_resolution_clock",
           "steady_clock", "system_clock", "__rdtsc", "__rdtscp", "_rdtsc",
           "__builtin_ia32_rdtsc", "__builtin_ia32_rdtscp", "globaltimer",
           "__globaltimer", "globaltimer_lo"},
          S5);
  if (Load.contains(Name))
    return Loading;
  if (Thread.contains(Name))
    return Threads;
  if (File.contains(Name))
    return Files;
  if (Sys.contains(Name))
    return System;
  if (Clock.contains(Name))
    return Clocks;
  if (Name == "once_flag")
    return State;
  return "";
}

llvm::StringRef stark::forbiddenFunction(StringRef Name) {
  static llvm::StringSet<> S1, S2, S3;
  static const llvm::StringSet<> &File = set(
      {"open",    "read",   "write",  "readv",  "writev",   "lseek",  "pipe",
       "pipe2",   "dup",    "dup2",   "dup3",   "bind",     "listen", "accept",
       "connect", "send",   "sendto", "recv",   "recvfrom", "select", "poll",
       "remove",  "rename", "unlink", "link",   "symlink",  "chmod",  "mkdir",
       "rmdir",   "chdir",  "stat",   "access", "truncate"},
      S1);
  static const llvm::StringSet<> &Thread =
      set({"system", "clone", "wait", "daemon", "kill", "raise", "signal",
           "alarm", "nice"},
          S2);
  static const llvm::StringSet<> &Clock =
      set({"clock", "time", "times", "sleep", "nanosleep", "ftime"}, S3);
  if (File.contains(Name))
    return Files;
  if (Thread.contains(Name))
    return Threads;
  if (Clock.contains(Name))
    return Clocks;
  return "";
}

llvm::StringRef stark::forbiddenQualified(StringRef Name) {
  auto Within = [&](StringRef Scope) {
    return Name == Scope || (Name.starts_with(Scope) &&
                             Name.substr(Scope.size()).starts_with("::"));
  };
  for (StringRef Scope :
       {"std::thread", "std::jthread", "std::async", "std::this_thread",
        "std::future", "std::promise", "std::packaged_task",
        "std::condition_variable", "std::call_once", "std::launch"})
    if (Within(Scope))
      return Threads;
  for (StringRef Scope : {"std::filesystem", "std::experimental::filesystem",
                          "std::basic_ifstream", "std::basic_ofstream",
                          "std::basic_fstream", "std::basic_filebuf"})
    if (Within(Scope))
      return Files;
  for (StringRef Scope : {"std::chrono", "cuda::std::chrono"})
    if (Within(Scope))
      return Clocks;
  for (StringRef Scope : {"cuda::stream", "cuda::event", "cuda::timed_event",
                          "cuda::experimental"})
    if (Within(Scope))
      return Streams;
  return "";
}

llvm::StringRef stark::forbiddenHeader(StringRef Name) {
  for (StringRef Prefix :
       {"sys/", "netinet/", "arpa/", "linux/", "asm/", "asm-generic/", "bits/"})
    if (Name.starts_with(Prefix))
      return System;
  for (StringRef Part : {"nvrtc", "nvml", "cupti", "nvJitLink"})
    if (Name.starts_with(Part))
      return Loading;
  static llvm::StringSet<> S1, S2, S3;
  static const llvm::StringSet<> &Thread =
      set({"thread", "future", "condition_variable", "stop_token", "semaphore",
           "pthread.h", "threads.h", "spawn.h", "semaphore.h", "omp.h",
           "sched.h", "csignal", "signal.h"},
          S1);
  static const llvm::StringSet<> &File =
      set({"fstream", "filesystem", "experimental/filesystem", "fcntl.h",
           "unistd.h", "dirent.h", "poll.h", "aio.h", "mqueue.h", "netdb.h"},
          S2);
  static const llvm::StringSet<> &Sys =
      set({"dlfcn.h", "link.h", "elf.h", "setjmp.h", "csetjmp", "ucontext.h",
           "execinfo.h", "cuda_profiler_api.h", "cudaProfiler.h", "syscall.h",
           "x86intrin.h"},
          S3);
  if (Thread.contains(Name))
    return Threads;
  if (File.contains(Name))
    return Files;
  return Sys.contains(Name) ? System : "";
}

bool stark::forbiddenAttribute(StringRef Name) {
  static llvm::StringSet<> S;
  static const llvm::StringSet<> &Names = set({"constructor",
                                               "destructor",
                                               "weak",
                                               "weakref",
                                               "weak_import",
                                               "alias",
                                               "ifunc",
                                               "section",
                                               "init_priority",
                                               "visibility",
                                               "copy",
                                               "externally_visible",
                                               "retain",
                                               "naked",
                                               "symver",
                                               "target_clones",
                                               "no_instrument_function",
                                               "dllexport",
                                               "init_seg",
                                               "cleanup"},
                                              S);
  Name.consume_front("__");
  Name.consume_back("__");
  return Names.contains(Name);
}

bool stark::languageWord(StringRef Name) {
  static llvm::StringSet<> S;
  static const llvm::StringSet<> &Words = set({"alignas",
                                               "asm",
                                               "auto",
                                               "bool",
                                               "break",
                                               "case",
                                               "catch",
                                               "char",
                                               "class",
                                               "const",
                                               "constexpr",
                                               "const_cast",
                                               "continue",
                                               "decltype",
                                               "default",
                                               "delete",
                                               "do",
                                               "double",
                                               "dynamic_cast",
                                               "else",
                                               "enum",
                                               "explicit",
                                               "extern",
                                               "false",
                                               "float",
                                               "for",
                                               "friend",
                                               "goto",
                                               "if",
                                               "inline",
                                               "int",
                                               "long",
                                               "mutable",
                                               "namespace",
                                               "new",
                                               "noexcept",
                                               "nullptr",
                                               "operator",
                                               "private",
                                               "protected",
                                               "public",
                                               "register",
                                               "reinterpret_cast",
                                               "return",
                                               "short",
                                               "signed",
                                               "sizeof",
                                               "static",
                                               "static_assert",
                                               "static_cast",
                                               "struct",
                                               "switch",
                                               "template",
                                               "this",
                                               "thread_local",
                                               "throw",
                                               "true",
                                               "try",
                                               "typedef",
                                               "typeid",
                                               "typename",
                                               "union",
                                               "unsigned",
                                               "using",
                                               "virtual",
                                               "void",
                                               "volatile",
                                               "while",
                                               "threadIdx",
                                               "blockIdx",
                                               "blockDim",
                                               "gridDim",
                                               "warpSize",
                                               "main",
                                               "defined"},
                                              S);
  return Words.contains(Name) || Name.starts_with("__") ||
         (Name.starts_with("cuda") && Name.size() > 4 &&
          llvm::isUpper(Name[4])) ||
         (Name.size() > 2 && Name.starts_with("cu") &&
          llvm::isUpper(Name[2])) ||
         Name.starts_with("CUDART");
}
