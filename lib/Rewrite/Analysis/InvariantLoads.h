//===- InvariantLoads.h - Loads that a loop repeats -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The loads of a loop whose element stays the same in all of its iterations,
/// and when they are made.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_INVARIANTLOADS_H
#define STARK_LIB_REWRITE_ANALYSIS_INVARIANTLOADS_H

#include "Accesses.h"
#include "CountedLoop.h"

namespace stark {

struct InvariantLoad {
  const Access *At = nullptr;
  bool Always = false; ///< also when no iteration runs
};

struct InvariantLoads {
  std::vector<InvariantLoad> All;
  WhyNot Lacks; ///< of a load that comes near and is not in All
};

/// Unset when the loop neither stores nor waits for other threads: then the
/// compiler sees by itself what stays the same.
std::optional<InvariantLoads> findInvariantLoads(const Facts &F,
                                                 const Kernel &K,
                                                 const Accesses &A,
                                                 const CountedLoop &L);

} // namespace stark

#endif
