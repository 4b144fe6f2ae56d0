//===- Headers.h - CUDA's headers as the simulator has them --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   lib/Sim/headers, embedded.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_HEADERS_H
#define STARK_LIB_SIM_HEADERS_H

#include <string>
#include <vector>

namespace stark::sim {

struct EmbeddedFile {
  std::string Name; ///< within its folder: "cuda/cuda_fp16.h"
  std::string Text;
};

/// cuda/... are the names that a source includes, stark/... what they stand on.
const std::vector<EmbeddedFile> &embeddedHeaders();

/// Where they lie for the compiler, in messages and in debug locations.
constexpr char HeaderFolder[] = "/stark-sim/";

/// lib/Sim/gpus, likewise.
const std::vector<EmbeddedFile> &embeddedGpus();

} // namespace stark::sim

#endif
