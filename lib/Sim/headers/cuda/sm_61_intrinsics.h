//===- sm_61_intrinsics.h - Intrinsics -----------------------------------===//
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
