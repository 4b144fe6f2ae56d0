//===- HostCall.cpp - One call of an entry of tensors ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   map -> lock down -> load -> stark_prepare, stark_call or stark_reference,
/// stark_collect (lib/Task/TensorTrampoline.cpp) -> the last message
///
//===----------------------------------------------------------------------===//

#include "HostCall.h"
#include "stark/Posix/Lockdown.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace stark;
using namespace stark::simhost;

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static int Socket = -1;

int simhost::callSocket() { return Socket; }

[[noreturn]] static void finish(HostEvent What, const std::string &Text) {
  HostMessage M;
  M.What = What;
  setText(M.Name, Text);
  sendRecord(Socket, &M, sizeof(M));
  // Neither destructors nor atexit handlers: the library may have left some.
  _exit(0);
}

namespace {
/// What the library has: lib/Task/TensorTrampoline.cpp.
struct Library {
  void (*Prepare)(void **, int) = nullptr;
  void (*Call)(void **) = nullptr;
  int (*Collect)(void **) = nullptr;
  const char *(*Problem)() = nullptr;
  const char *(*Note)() = nullptr; ///< of the source alone
};

/// What the observer has: lib/Eval/TensorObserver.cpp.
struct Listener {
  void (*Ran)(const char *Name, double Bytes, double Flops,
              unsigned ElementBytes);
  void (*Allocated)(void *At, size_t Bytes);
  void (*Released)(void *At);
  void (*Written)(void *At, size_t Bytes);
  char *Arena, *ArenaEnd; ///< for tensors
};
struct Observer {
  void (*Begin)(const Listener *To) = nullptr;
  void (*Watch)(int On) = nullptr;
};

void tellOperator(const char *Name, double Bytes, double Flops,
                  unsigned ElementBytes) {
  HostMessage M;
  M.What = HostEvent::Operator;
  setText(M.Name, Name);
  M.Bytes = uint64_t(Bytes);
  M.Flops = Flops;
  M.ElementBytes = ElementBytes;
  sendRecord(Socket, &M, sizeof(M));
}

void tellMemory(HostEvent What, void *At, size_t Bytes) {
  HostMessage M;
  M.What = What;
  M.Address = reinterpret_cast<uint64_t>(At);
  M.Bytes = Bytes;
  sendRecord(Socket, &M, sizeof(M));
}
void tellAllocated(void *At, size_t Bytes) {
  tellMemory(HostEvent::Allocation, At, Bytes);
}
void tellReleased(void *At) { tellMemory(HostEvent::Release, At, 0); }
void tellWritten(void *At, size_t Bytes) {
  tellMemory(HostEvent::Written, At, Bytes);
}

template <class Function>
void find(void *In, Function &Found, const char *Name) {
  Found = reinterpret_cast<Function>(dlsym(In, Name));
}

/// "undefined symbol: X" -> X; else all of it.
std::string missingSymbol(const std::string &Why) {
  constexpr char Mark[] = "undefined symbol: ";
  size_t At = Why.find(Mark);
  if (At == std::string::npos)
    return Why;
  std::string Name = Why.substr(At + sizeof(Mark) - 1);
  return Name.substr(0, Name.find_first_of(" ,("));
}

Library load(const StartCall &Start) {
  void *Loaded = dlopen(Start.Library, RTLD_NOW | RTLD_LOCAL);
  if (!Loaded) {
    const char *Why = dlerror();
    finish(HostEvent::NotLoaded, missingSymbol(Why ? Why : Start.Library));
  }
  Library L;
  find(Loaded, L.Prepare, "stark_prepare");
  find(Loaded, L.Call, Start.Reference ? "stark_reference" : "stark_call");
  find(Loaded, L.Collect, "stark_collect");
  find(Loaded, L.Problem, "stark_problem");
  find(Loaded, L.Note, "stark_note");
  if (!L.Prepare || !L.Call || !L.Collect || !L.Problem)
    finish(HostEvent::Infrastructure, "the library has no stark_prepare()");
  return L;
}

void map(const SharedMemory &M, int File) {
  void *Wanted = reinterpret_cast<void *>(M.Address);
  void *Got = mmap(Wanted, M.Bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, File, 0);
  if (Got != Wanted)
    finish(
        HostEvent::Infrastructure,
        std::string("the memory of a call cannot be mapped where it lies: ") +
            std::strerror(errno));
}

bool call(const Library &L, void **Leaves) {
  try {
    L.Call(Leaves);
  } catch (...) {
    finish(HostEvent::Threw, "an exception that it does not catch");
  }
  return !*L.Problem();
}
} // namespace

void simhost::runCall(const StartCall &Start, int CallSocket, int Memory) {
  Socket = CallSocket;
  // What it prints is nobody's.
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
    finish(HostEvent::Infrastructure, "/dev/null cannot be opened");
  map(Start.Memory, Memory);
  close(Memory);
  Observer Watcher;
  find(RTLD_DEFAULT, Watcher.Begin, "stark_observe_begin");
  find(RTLD_DEFAULT, Watcher.Watch, "stark_observe");
  if (!Watcher.Begin || !Watcher.Watch)
    finish(HostEvent::Infrastructure, "no observer was loaded");
  auto *Begin = reinterpret_cast<char *>(Start.Memory.Address);
  Listener To = {tellOperator,
                 tellAllocated,
                 tellReleased,
                 tellWritten,
                 Begin + Start.Memory.Arena,
                 Begin + Start.Memory.Bytes};
  Watcher.Begin(&To);
  useRuntime();
  // libtorch reads parts of itself when they are first called.
  posix::lockDown({"/"});
  Library L = load(Start);
  auto **Leaves = reinterpret_cast<void **>(Start.Memory.Address);
  L.Prepare(Leaves, /*on_gpu=*/0);
  if (*L.Problem())
    finish(HostEvent::Infrastructure,
           std::string("no tensors can be made: ") + L.Problem());
  Watcher.Watch(1);
  bool Ran = call(L, Leaves);
  Watcher.Watch(0);
  if (!Ran)
    finish(HostEvent::Threw, L.Problem());
  bool Good = L.Collect(Leaves);
  if (*L.Problem())
    finish(Good ? HostEvent::Threw : HostEvent::BadResult, L.Problem());
  finish(HostEvent::Done, Start.Reference && L.Note ? L.Note() : "");
}
