//===- Secret.h - Numbers that nobody can foresee -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   From the kernel's generator: seeds and nonces for what must not be told to
/// generated code.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_SECRET_H
#define STARK_POSIX_SECRET_H

#include <cstdint>

namespace stark::posix {

uint64_t secretNumber();

} // namespace stark::posix

#endif
