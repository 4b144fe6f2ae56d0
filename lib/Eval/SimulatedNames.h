//===- SimulatedNames.h - Tensors that pass for a GPU's -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The tensors of the simulated GPU lie in the host's memory, and are what
/// code that asks for tensors of a GPU is to take.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SIMULATEDNAMES_H
#define STARK_LIB_EVAL_SIMULATEDNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

/// \p Text with such names after its last include; lines keep their numbers.
std::string withSimulatedNames(llvm::StringRef Text);

/// What ends them, for what follows the text.
constexpr const char *NoLongerSimulated =
    "\n#undef is_cuda\n#undef kCUDA\n#undef STARK_TORCH_CUDA";

} // namespace stark

#endif
