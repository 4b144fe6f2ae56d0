//===- Instrument.h - Device code that tells what it does ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   device module -> optimized as nvcc would -> instrumented module + tables
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_INSTRUMENT_H
#define STARK_LIB_SIM_INSTRUMENT_H

#include "stark/Sim/Tables.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace stark::sim {

/// Scalar optimizations alone: what makes one instruction of many accesses
/// (vectorizers) or a library call of a loop would change what is counted.
void optimizeDevice(llvm::Module &M);

/// Metadata of a memcpy that is a bulk copy, which the load/store pipe of the
/// SMs does not see.
constexpr const char *BulkCopyNote = "stark.bulk";

/// Errors: more probes than can be numbered.
llvm::Expected<Tables> instrument(llvm::Module &M, llvm::StringRef UserFile);

} // namespace stark::sim

#endif
