//===- stark_sim_atomic.h - Atomic operations ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Relaxed operations on whatever memory the pointer names.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_ATOMIC_H
#define STARK_SIM_ATOMIC_H

#endif
