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

struct EmbeddedHeader {
  std::string Name, Text;
};

const std::vector<EmbeddedHeader> &embeddedHeaders();

/// lib/Sim/gpus, likewise.
const std::vector<EmbeddedHeader> &embeddedGpus();

} // namespace stark::sim

#endif
