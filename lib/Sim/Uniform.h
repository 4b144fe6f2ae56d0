//===- Uniform.h - What is the same for all threads of a warp -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_UNIFORM_H
#define STARK_LIB_SIM_UNIFORM_H

#include "llvm/IR/Instructions.h"

namespace stark::sim {

/// Whether a warp asks L2 or shared memory once for \p Atomic, whatever number
/// of its threads do it: nvcc 13.0 has one of them do so for whole numbers of
/// 32 bits where it sees that their address is one (seen in its machine code
/// for sm_90: REDUX, or a count of the threads, and a predicate; not of 64
/// bits, not of floating-point numbers, nor of an address that threadIdx is
/// in). To be called while the registers of a thread are calls.
bool joinsWarp(const llvm::AtomicRMWInst &Atomic);

} // namespace stark::sim

#endif
