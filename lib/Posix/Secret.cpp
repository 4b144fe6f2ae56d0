//===- Secret.cpp - Numbers that nobody can foresee -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   getrandom(), over interruptions
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/Secret.h"
#include <sys/random.h>

uint64_t stark::posix::secretNumber() {
  uint64_t Out = 0;
  while (::getrandom(&Out, sizeof(Out), 0) != sizeof(Out))
    ;
  return Out;
}
