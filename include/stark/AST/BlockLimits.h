//===- BlockLimits.h - What a block of threads may have ---------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": what is the same for all of them from 5.0 on, and so is no
/// question of which GPU; and what none of them exceeds.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_BLOCKLIMITS_H
#define STARK_AST_BLOCKLIMITS_H

#include <cstdint>

namespace stark {

constexpr uint64_t MostThreadsOfBlock = 1024;
/// Bytes of `__shared__` variables of constant size.
constexpr uint64_t MostStaticSharedOfBlock = 48 << 10;
/// Bytes of all its shared memory, of the GPUs that have most (9.0, 10.0).
constexpr uint64_t MostSharedOfBlock = 227 << 10;
/// 32 bits each; as many as an SM has.
constexpr uint64_t MostRegistersOfBlock = 64 << 10;

} // namespace stark

#endif
