//===- Told.h - What a child tells its parent -------------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Memory that a child writes to and its parent reads. Host code of a text
/// runs in that child: what it is said to have done is out of its reach then.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_RUNNER_TOLD_H
#define STARK_LIB_SIM_RUNNER_TOLD_H

#include <sys/mman.h>

namespace stark::sim {

/// A \p T of zeros in pages of its own. In a process that began after, hide()
/// and show() are of that process alone.
template <class T> class Told {
public:
  Told() {
    void *Pages = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    Memory = Pages == MAP_FAILED ? nullptr : static_cast<T *>(Pages);
  }
  ~Told() {
    if (Memory)
      munmap(Memory, sizeof(T));
  }
  Told(const Told &) = delete;
  Told &operator=(const Told &) = delete;

  /// False: there is no memory for it.
  explicit operator bool() const { return Memory; }
  T &operator*() const { return *Memory; }
  T *operator->() const { return Memory; }
  /// Who reads or writes it from now on ends with a signal.
  void hide() const { mprotect(Memory, sizeof(T), PROT_NONE); }
  void show() const { mprotect(Memory, sizeof(T), PROT_READ | PROT_WRITE); }

private:
  T *Memory;
};

} // namespace stark::sim

#endif
