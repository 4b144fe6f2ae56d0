//===- SealedPages.h - Memory that a library's code cannot read -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   pages of the harness -> no access -> a call on a stack of its own ->
///   access
/// What follows a pointer that a call left on the stack, or looks through
/// memory, ends with a fault. Above its own frames a call finds nothing that
/// could tell it what it is called for, and below them nothing that an earlier
/// one left. Who may make system calls could open the pages again: the gates of
/// the build are there for that.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_SEALEDPAGES_H
#define STARK_GPU_SEALEDPAGES_H

#include <cstddef>

namespace stark::gpu {

enum class CallEnd {
  Returned,
  Threw,
  /// With another rounding mode than before, say. It is as it was again, which
  /// other callers would have to see to themselves.
  ChangedFloats,
};

class SealedPages {
public:
  SealedPages() = default;
  SealedPages(const SealedPages &) = delete;
  SealedPages &operator=(const SealedPages &) = delete;

  /// Zeros, somewhere; null when there is no memory. Never given back.
  void *open(size_t Bytes);
  /// Calls with the pages closed. One at a time. The code finds numbers where
  /// its frames will lie, as it would below other callers, and zeros further
  /// down.
  CallEnd callSealed(void (*Function)(void **), void **Arguments) const;

private:
  struct Crossing;
  static void callOnItsStack();

  Crossing *At = nullptr; ///< the first of the pages
  size_t Bytes = 0;
};

} // namespace stark::gpu

#endif
