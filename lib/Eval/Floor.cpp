//===- Floor.cpp - What no implementation can be faster than --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/Floor.h"
#include "stark/Sim/Gpu.h"
#include "stark/Task/Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stark;

FloorRates stark::floorRates(const Verdict &V) {
  FloorRates R;
  std::optional<sim::GpuDescription> Gpu = sim::describeDevice(V.Device);
  if (Gpu) {
    R.CopyGBs = Gpu->DramGBs;
    R.L2Bytes = Gpu->L2Bytes;
    // A desktop's GPU runs above the clock that its data sheet gives.
    if (!llvm::StringRef(Gpu->Name).contains("GeForce"))
      R.PeakGflops = 2 * Gpu->FloatRate * Gpu->Sms * Gpu->ClockGHz;
  }
  if (V.Modelled)
    return R;
  R.CopyGBs = V.CopyGBs > 0 ? V.CopyGBs : R.CopyGBs;
  R.LaunchUs = std::max(V.EventPairUs, Gpu ? Gpu->LaunchUs : 0);
  return R;
}

bool stark::isPlainArithmetic(llvm::StringRef SourceText) {
  if (SourceText.empty())
    return false;
  for (llvm::StringRef Word :
       {"mma",   "tcgen05",    "cublas",   "cudnn", "cutlass", "cute",
        "tf32",  "half",       "f16",      "fp16",  "bf16",    "bfloat",
        "fp8",   "fp6",        "fp4",      "dp4a",  "dp2a",    "at::",
        "torch", "include \"", "include\""})
    if (SourceText.contains_insensitive(Word))
      return false;
  return true;
}

/// Null: the workload has no such size.
static const Size *sizeThatTook(const Workload &Load, const job::Timing &T) {
  auto Known = llvm::find_if(
      Load.Sizes, [&](const Size &S) { return S.label() == T.Label; });
  return Known == Load.Sizes.end() ? nullptr : &*Known;
}

static std::optional<double> positive(std::optional<double> Value) {
  return Value && *Value > 0 ? Value : std::nullopt;
}

std::optional<double> stark::bytesToMove(const Workload &Load,
                                         const job::Timing &T) {
  const Size *S = sizeThatTook(Load, T);
  return S ? positive(knownReal(Load.Bytes, S->Names)) : std::nullopt;
}

/// Whether a bit fewer than fp32 has could be in what is computed with.
static bool hasNarrowBuffer(const Workload &Load) {
  return llvm::any_of(Load.Arguments, [](const Argument &A) {
    return A.IsBuffer && !job::isWhole(A.Type) && job::dtypeBytes(A.Type) < 4;
  });
}

std::optional<Floor> stark::floorOf(const Workload &Load, const job::Timing &T,
                                    const FloorRates &Rates, bool Plain) {
  const Size *Known = sizeThatTook(Load, T);
  if (!Known)
    return std::nullopt;
  Floor Most;
  auto Consider = [&](FloorKind Of, double Us) {
    if (Us > Most.Us)
      Most = {Of, Us};
  };
  Consider(FloorKind::Launch, Rates.LaunchUs);
  if (std::optional<double> Bytes = bytesToMove(Load, T);
      Bytes && Rates.CopyGBs > 0)
    Consider(FloorKind::Bytes, *Bytes / Rates.CopyGBs * 1e-3);
  if (std::optional<double> Flops =
          positive(knownReal(Load.Flops, Known->Names));
      Flops && Rates.PeakGflops > 0 && Load.SourcePrecision && Plain &&
      !hasNarrowBuffer(Load)) {
    // Work that outruns the peak is done by other units, or was counted wrong.
    double Us = *Flops / Rates.PeakGflops * 1e-3;
    if (T.SourceMedianUs >= Us)
      Consider(FloorKind::Operations, Us);
  }
  return Most.Us > 0 ? std::optional(Most) : std::nullopt;
}

std::string stark::floorText(const std::optional<Floor> &Of, double Us) {
  if (!Of || !(Us > 0))
    return "-";
  return llvm::formatv("{0:f0} % ({1})", 100 * Of->Us / Us, nameOf(Of->Of))
      .str();
}
