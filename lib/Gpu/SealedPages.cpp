//===- SealedPages.cpp - Memory that a library's code cannot read ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SealedPages.h"
#include "stark/Posix/Secret.h"
#include "stark/Posix/Stack.h"
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

using namespace stark::gpu;

/// As much as a main program has.
static constexpr size_t StackBytes = size_t(8) << 20;
static constexpr size_t SmallestPage = 4096;

/// What it takes to call and to come back: in the pages, like all else.
struct SealedPages::Crossing {
  ucontext_t Blank; ///< a place where nothing of the harness is in registers
  ucontext_t There, Back;
  char *Stack; ///< its lowest byte
  size_t Bytes;
  void (*Function)(void **);
  void **Arguments;
  CallEnd End;
  uint64_t Floats; ///< floatControl() before the call
  uint64_t Noise;  ///< what lies on the stack is drawn from it
};

/// How this thread rounds, what it does with denormals, and what it traps. Has
/// a frame of its own: callOnItsStack(), which is never left, is to have
/// nothing there that the address sanitizer watches.
[[gnu::noinline]] static uint64_t floatControl() {
#if defined(__x86_64__)
  constexpr uint32_t Flags = 0x3F; // what has happened
  fenv_t Now;
  fegetenv(&Now);
  return (Now.__mxcsr & ~Flags) | uint64_t(Now.__control_word) << 32;
#elif defined(__aarch64__)
  fenv_t Now;
  fegetenv(&Now);
  return Now.__fpcr;
#else
  return uint64_t(fegetround());
#endif
}

/// What callOnItsStack() is for, which is given nothing. It names closed pages
/// while a call runs.
static void *Current = nullptr;

/// Between two pages that nobody may touch.
static char *mapStack(size_t Page) {
  void *Got = mmap(nullptr, StackBytes + 2 * Page, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Got == MAP_FAILED)
    return nullptr;
  char *Stack = static_cast<char *>(Got) + Page;
  return mprotect(Stack, StackBytes, PROT_READ | PROT_WRITE) == 0 ? Stack
                                                                  : nullptr;
}

/// As it was before a call. What was written stays mapped, so that the next
/// call finds a stack as warm as any.
static void clearStack(char *Stack) {
  static unsigned char Resident[StackBytes / SmallestPage];
  size_t Page = size_t(sysconf(_SC_PAGESIZE)), Pages = StackBytes / Page;
  if (mincore(Stack, StackBytes, Resident) != 0) {
    madvise(Stack, StackBytes, MADV_DONTNEED);
    return;
  }
  for (size_t Begin = 0, End = 0; Begin < Pages; Begin = End) {
    bool IsThere = Resident[Begin] & 1;
    while (End < Pages && (Resident[End] & 1) == IsThere)
      ++End;
    char *At = Stack + Begin * Page;
    if (IsThere)
      std::memset(At, 0, (End - Begin) * Page);
    else // perhaps swapped out
      madvise(At, (End - Begin) * Page, MADV_DONTNEED);
  }
}

/// Registers that a function saves on its stack are those of its caller.
static void forgetRegisters(ucontext_t &In) {
#if defined(__x86_64__)
  for (int Register : {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15})
    In.uc_mcontext.gregs[Register] = 0;
#elif defined(__aarch64__)
  for (unsigned Register = 19; Register < 30; ++Register)
    In.uc_mcontext.regs[Register] = 0;
#endif
}

void *SealedPages::open(size_t Wanted) {
  size_t Page = size_t(sysconf(_SC_PAGESIZE));
  size_t Before = (sizeof(Crossing) + Page - 1) / Page * Page;
  size_t Whole = Before + (Wanted + Page - 1) / Page * Page;
  void *Got = mmap(nullptr, Whole, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Got == MAP_FAILED)
    return nullptr;
  Crossing *C = new (Got) Crossing();
  C->Stack = mapStack(Page);
  C->Bytes = Bytes = Whole;
  C->Noise = posix::secretNumber();
  if (!C->Stack || getcontext(&C->Blank) != 0)
    return nullptr;
  forgetRegisters(C->Blank);
  At = C;
  return static_cast<char *>(Got) + Before;
}

void SealedPages::callOnItsStack() {
  auto *C = static_cast<Crossing *>(Current);
  void (*Function)(void **) = C->Function;
  void **Arguments = C->Arguments;
  size_t Length = C->Bytes;
  CallEnd End = CallEnd::Returned;
  C->Floats = floatControl();
  mprotect(C, Length, PROT_NONE);
  try {
    Function(Arguments);
  } catch (...) {
    End = CallEnd::Threw;
  }
  mprotect(C, Length, PROT_READ | PROT_WRITE);
  if (End == CallEnd::Returned && floatControl() != C->Floats)
    End = CallEnd::ChangedFloats;
  C->End = End;
  setcontext(&C->Back);
}

CallEnd SealedPages::callSealed(void (*Function)(void **),
                                void **Arguments) const {
  Current = At;
  At->Function = Function;
  At->Arguments = Arguments;
  clearStack(At->Stack);
  posix::scribble(At->Stack + StackBytes - posix::ScribbledBytes,
                  posix::ScribbledBytes, ++At->Noise);
  At->There = At->Blank;
  At->There.uc_stack.ss_sp = At->Stack;
  At->There.uc_stack.ss_size = StackBytes;
  At->There.uc_link = nullptr;
#if defined(__x86_64__)
  // It points into the place that it was copied from.
  At->There.uc_mcontext.fpregs = &At->There.__fpregs_mem;
#endif
  makecontext(&At->There, &SealedPages::callOnItsStack, 0);
  swapcontext(&At->Back, &At->There);
  return At->End;
}
