//===- Operators.cpp - What an operator of a library takes ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   One launch, and what is longer: its bytes through DRAM, or its products
/// and sums in the units of its element type, tensor cores left out.
///
//===----------------------------------------------------------------------===//

#include "Model/Model.h"
#include <algorithm>

using namespace stark::sim;

double stark::sim::modelOperator(const OperatorProfile &P,
                                 const GpuDescription &Gpu) {
  double Rate = P.ElementBytes >= 8   ? Gpu.DoubleRate
                : P.ElementBytes <= 2 ? Gpu.HalfRate
                                      : Gpu.FloatRate;
  // A multiplication and an addition are one instruction.
  double FlopsPerUs = 2 * Rate * double(Gpu.Sms) * Gpu.ClockGHz * 1e3;
  return Gpu.LaunchUs +
         std::max(P.Bytes / (Gpu.DramGBs * 1e3), P.Flops / FlopsPerUs);
}
