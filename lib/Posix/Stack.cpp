//===- Stack.cpp - What lies below a frame --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Stack.h"
#include <cstring>

using namespace stark;

void posix::scribble(void *At, size_t Bytes, uint64_t Seed) {
  // Marsaglia's xorshift64, which 0 would stop; near seeds begin far apart.
  uint64_t Draw = Seed * 0x9E3779B97F4A7C15 | 1;
  for (size_t Done = 0; Done + sizeof(Draw) <= Bytes; Done += sizeof(Draw)) {
    Draw ^= Draw << 13;
    Draw ^= Draw >> 7;
    Draw ^= Draw << 17;
    std::memcpy(static_cast<char *>(At) + Done, &Draw, sizeof(Draw));
  }
}

[[gnu::noinline]] void posix::scribbleStack(uint64_t Seed) {
  char Below[ScribbledBytes];
  scribble(Below, sizeof(Below), Seed);
  // It is read, for all that a compiler knows.
  asm volatile("" : : "r"(Below) : "memory");
}
