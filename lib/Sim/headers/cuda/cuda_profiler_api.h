//===- cuda_profiler_api.h - Start and stop of profiling -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The simulator includes everything before the source already.
///
//===----------------------------------------------------------------------===//

#include "../stark/stark_sim.h"
