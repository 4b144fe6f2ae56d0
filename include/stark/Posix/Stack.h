//===- Stack.h - What lies below a frame ------------------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A new process has a stack of zeros, which no program that calls a function
/// has: what reads a variable that was never written is right there alone.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_STACK_H
#define STARK_POSIX_STACK_H

#include <cstddef>
#include <cstdint>

namespace stark::posix {

/// So much is scribbled over: the frames of most entries lie in it.
constexpr size_t ScribbledBytes = size_t(16) << 10;

/// Numbers that follow from \p Seed over \p Bytes bytes.
void scribble(void *At, size_t Bytes, uint64_t Seed);

/// The same over the stack below the caller's frame.
void scribbleStack(uint64_t Seed);

} // namespace stark::posix

#endif
