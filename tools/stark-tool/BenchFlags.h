//===- BenchFlags.h - Flags of stark-tool bench --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What only one of the forms of bench has.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TOOL_BENCHFLAGS_H
#define STARK_TOOL_BENCHFLAGS_H

#include "Flags.h"

namespace stark::tool {

/// bench --torch-baselines
struct BaselineFlags {
  explicit BaselineFlags(cl::SubCommand &Of);
  Flag<bool> Measure;
  Flag<std::string> Variants, Device;
  Flag<unsigned> Timeout;
  Flag<bool> Again;

  /// Returns only with an error. \p Budget is --budget: seconds.
  llvm::Error run(const std::vector<std::string> &Tasks, const std::string &Out,
                  const std::string &Python,
                  const std::vector<std::string> &Budget) const;
};

} // namespace stark::tool

#endif
