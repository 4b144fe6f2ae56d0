//===- WorkloadArgument.h - One argument of a workload -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   {"dtype": ..., "shape": [...], "role": ..., "init": ...} or {"value": ...}
/// -> Argument
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TASK_WORKLOADARGUMENT_H
#define STARK_LIB_TASK_WORKLOADARGUMENT_H

#include "stark/Json/Fields.h"
#include "stark/Task/Workload.h"

namespace stark {

/// How errors speak of dtypes.
inline constexpr char WantedTypes[] =
    "one of f32, f64, f16, bf16, i32, i64, u8";

/// Made for nlohmann::json alone.
template <class Json> void fields(FieldReader<Json> &F, Argument &A);

} // namespace stark

#endif
