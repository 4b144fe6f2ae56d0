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
    "one of f32, f64, f16, bf16, i8, i16, i32, i64, u8, bool, c64, c128";

inline constexpr Named<TensorKind> TensorKindNames[] = {
    {TensorKind::Input, "input"},
    {TensorKind::Parameter, "parameter"},
    {TensorKind::Buffer, "buffer"},
    {TensorKind::Constant, "constant"}};
constexpr std::span<const Named<TensorKind>> namesOf(TensorKind) {
  return TensorKindNames;
}

// Both made for nlohmann::json alone.

/// The field "shape": extents as integers or expressions.
template <class Json>
void readShape(FieldReader<Json> &F, std::vector<std::string> &Shape);
template <class Json> void fields(FieldReader<Json> &F, Argument &A);

} // namespace stark

#endif
