//===- RunFacts.cpp - What a page says of a run ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>

using namespace stark;

VerdictMark stark::markOf(VerdictKind K) {
  switch (K) {
  case VerdictKind::Correct:
    return {"correct", "correct"};
  case VerdictKind::Wrong:
  case VerdictKind::Unstable:
    return {"wrong", "wrong or unstable"};
  case VerdictKind::NotCompiled:
    return {"uncompiled", "not compiled"};
  case VerdictKind::Crashed:
  case VerdictKind::TimedOut:
    return {"crashed", "crashed or timed out"};
  case VerdictKind::NoCandidate:
    return {"none", "no candidate"};
  case VerdictKind::ContractBroken:
  case VerdictKind::Forbidden:
  case VerdictKind::Ungrounded:
  case VerdictKind::Unsupported:
    break;
  }
  return {"refused", "refused"};
}

std::string stark::times(double Ratio) {
  return fixed(Ratio, Ratio >= 100 ? 0 : Ratio >= 10 ? 1 : 2);
}

std::string stark::grouped(uint64_t Value) {
  std::string Digits = std::to_string(Value);
  for (int At = int(Digits.size()) - 3; At > 0; At -= 3)
    Digits.insert(size_t(At), ",");
  return Digits;
}

std::string stark::duration(double Us) {
  if (!std::isfinite(Us))
    return "-";
  if (Us >= 1e6)
    return fixed(Us * 1e-6, 2) + " s";
  if (Us >= 1e3)
    return fixed(Us * 1e-3, 2) + " ms";
  return fixed(Us, Us >= 100 ? 1 : 2) + " µs";
}

static std::optional<double> valueOf(const std::string &Formula,
                                     const Bindings &Names) {
  std::optional<double> Value = knownReal(Formula, Names);
  return Value && *Value > 0 ? Value : std::nullopt;
}

static SizeFacts factsOf(const job::Timing &T, const RunFacts &Of) {
  SizeFacts S{.Took = T, .Bytes = {}, .Flops = {}, .FloorUs = {}, .Bound = {}};
  if (!Of.Load)
    return S;
  auto Known = llvm::find_if(Of.Load->Sizes, [&](const Size &Each) {
    return Each.label() == T.Label;
  });
  if (Known == Of.Load->Sizes.end())
    return S;
  S.Bytes = valueOf(Of.Load->Bytes, Known->Names);
  S.Flops = valueOf(Of.Load->Flops, Known->Names);
  if (S.Bytes && Of.Gpu && Of.Gpu->DramGBs > 0)
    S.FloorUs = *S.Bytes / (Of.Gpu->DramGBs * 1e3);
  return S;
}

/// The description of the GPU that a verdict names, "NVIDIA H200" or
/// "simulated NVIDIA H200"; files of a user's own are not looked for.
static std::optional<sim::GpuDescription> gpuOf(llvm::StringRef Device,
                                                llvm::StringRef Arch) {
  std::string Name = sim::gpuForArch(Arch);
  if (Name.empty())
    return std::nullopt;
  llvm::Expected<sim::GpuDescription> Gpu = sim::describeGpu(Name);
  if (!Gpu) {
    llvm::consumeError(Gpu.takeError());
    return std::nullopt;
  }
  if (!Device.ends_with(Gpu->Name))
    return std::nullopt;
  return std::move(*Gpu);
}

RunFacts::RunFacts(const RecordedRun &Run, llvm::StringRef Folder)
    : Run(Run), Folder(Folder.str()), Count(countFigures(Run)) {
  Name = llvm::sys::path::filename(Folder.rtrim('/')).str();
  size_t Nodes = Run.Nodes.size();
  OnPath.resize(Nodes);
  AttemptOf.resize(Nodes, -1);
  for (size_t I = 0; I < Run.Attempts.size(); ++I)
    if (Run.Attempts[I].Node)
      AttemptOf[*Run.Attempts[I].Node] = int(I);
  for (size_t I = 0; I < Nodes; ++I)
    Texts.push_back(std::make_unique<Code>(Run.Nodes.node(I).Text));
  if (Run.WorkloadText.empty())
    LoadProblem = "the run was made before a run's workload was kept with it";
  else if (auto Parsed = parseWorkload(Run.WorkloadText, RunWorkloadFile))
    Load = std::move(*Parsed);
  else
    LoadProblem = llvm::toString(Parsed.takeError());
  Device = devicesOf(Run);
  if (!Nodes)
    return;
  Modelled = node(0).Found.Modelled;
  int Best = Count.Winner >= 0 ? Count.Winner : Count.Best;
  // A best that is no faster than the source is no result.
  if (Count.Winner < 0 && Best >= 0 &&
      node(unsigned(Best)).Found.speedup() <= 1)
    Best = -1;
  Result = Best < 0 ? 0 : unsigned(Best);
  for (int N = int(Result); N >= 0; N = node(unsigned(N)).Parent) {
    Path.push_back(unsigned(N));
    OnPath[unsigned(N)] = true;
  }
  std::reverse(Path.begin(), Path.end());
  Gpu = gpuOf(found().Device.empty() ? Device : found().Device,
              Run.Identity.Arch);
  for (const job::Timing &T : found().Timings)
    Sizes.push_back(factsOf(T, *this));
  std::vector<std::optional<Floor>> Bounds = runFloors(Run, found());
  for (size_t I = 0; I < Bounds.size(); ++I)
    Sizes[I].Bound = Bounds[I];
}

bool RunFacts::hasSource() const {
  return Run.Nodes.size() && node(0).Found.correct();
}

const Verdict &RunFacts::found() const {
  return hasWinner() ? *Count.WinnerFound : result().Found;
}
