//===- Alignments.h - Alignments where Clang reads them ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_ALIGNMENTS_H
#define STARK_LIB_SIM_ALIGNMENTS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark::sim {

/// "extern __shared__ alignas(16) int a[]", which nvcc takes, becomes
/// "alignas(16) extern __shared__ int a[]". Nothing else changes its place.
std::string alignmentsFirst(llvm::StringRef Source);

} // namespace stark::sim

#endif
