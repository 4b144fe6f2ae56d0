//===- SealedPages.cpp - Memory that a library's code cannot read ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SealedPages.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace stark::gpu;

void *SealedPages::open(size_t Wanted) {
  size_t Page = size_t(sysconf(_SC_PAGESIZE));
  size_t Whole = (Wanted + Page - 1) / Page * Page;
  void *Got = mmap(nullptr, Whole, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Got == MAP_FAILED)
    return nullptr;
  At = Got;
  Bytes = Whole;
  return At;
}

bool SealedPages::callSealed(void (*Function)(void **),
                             void **Arguments) const {
  // This object may lie in other memory, but the pages hold what calls it.
  void *From = At;
  size_t Length = Bytes;
  bool Good = true;
  mprotect(From, Length, PROT_NONE);
  try {
    Function(Arguments);
  } catch (...) {
    Good = false;
  }
  mprotect(From, Length, PROT_READ | PROT_WRITE);
  return Good;
}
