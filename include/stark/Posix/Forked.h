//===- Forked.h - Locks in a child that was forked --------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A lock that another thread held when this process was forked is held for
/// ever: its holder is not in the child, which has one thread and needs none.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_FORKED_H
#define STARK_POSIX_FORKED_H

#include <mutex>

namespace stark::posix {

/// Whether this is a child of ChildGroup::start() that runs its Body.
bool isForked();

/// Of what a child may ask for as well: not taken there. What is guarded is to
/// be whole whenever the lock is held for long.
class UnlessForked {
public:
  explicit UnlessForked(std::mutex &Guard) : Lock(Guard, std::defer_lock) {
    if (!isForked())
      Lock.lock();
  }

private:
  std::unique_lock<std::mutex> Lock;
};

} // namespace stark::posix

#endif
