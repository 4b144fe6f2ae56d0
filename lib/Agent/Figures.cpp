//===- Figures.cpp - What a GPU can do, for estimates ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace stark;

static constexpr unsigned WarpLanes = 32;
/// Registers and bytes of shared memory are given out in such portions.
static constexpr unsigned RegisterUnit = 256, SharedUnit = 128;

static std::string number(const char *Format, double Value) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Format, Value);
  return Text;
}

static std::optional<double> valueOf(const std::string &Formula,
                                     const Bindings &Names) {
  std::optional<double> Value = knownReal(Formula, Names);
  return Value && *Value >= 0 ? Value : std::nullopt;
}

/// The extents' product; unset when one cannot be told.
static std::optional<double> elements(const std::vector<std::string> &Shape,
                                      const Bindings &Names) {
  double Product = 1;
  for (const std::string &Extent : Shape) {
    std::optional<double> Value = valueOf(Extent, Names);
    if (!Value)
      return std::nullopt;
    Product *= *Value;
  }
  return Product;
}

/// Each input read once and each output written once.
static std::optional<double> argumentBytes(const Workload &W, const Size &S) {
  double Sum = 0;
  for (const Argument &A : W.Arguments) {
    if (!A.IsBuffer || A.Absent || A.Use == job::Role::Scratch)
      continue;
    std::optional<double> Count = elements(A.Shape, S.Names);
    if (!Count)
      return std::nullopt;
    Sum +=
        *Count * job::dtypeBytes(A.Type) * (A.Use == job::Role::InOut ? 2 : 1);
  }
  for (const ReturnedTensor &R : W.Returns) {
    std::optional<double> Count = elements(R.Shape, S.Names);
    if (!Count)
      return std::nullopt;
    Sum += *Count * job::dtypeBytes(R.Type);
  }
  return Sum;
}

/// The description that stands for \p Arch; unset when none does.
static std::optional<sim::GpuDescription> describedFor(llvm::StringRef Arch) {
  llvm::Expected<sim::GpuDescription> Gpu =
      sim::describeGpu(sim::gpuForArch(Arch));
  if (!Gpu) {
    llvm::consumeError(Gpu.takeError());
    return std::nullopt;
  }
  for (const std::string &Each : Gpu->StandsFor)
    if (Arch.starts_with(Each))
      return std::move(*Gpu);
  return std::nullopt;
}

Figures::Figures(const AgentInput &In) : Gpu(describedFor(In.Of->Parse.Arch)) {
  llvm::StringRef Device;
  if (In.OfSource) {
    Device = In.OfSource->Device;
    Modelled = In.OfSource->Modelled;
    if (!Modelled) {
      CopyGBs = In.OfSource->CopyGBs;
      EventPairUs = In.OfSource->EventPairUs;
    }
  }
  CopyMeasured = CopyGBs > 0;
  if (!Gpu)
    return;
  IsThis = Device.ends_with(Gpu->Name);
  LaunchUs = Gpu->LaunchUs;
  if (!CopyMeasured)
    CopyGBs = Gpu->DramGBs;
}

std::string Figures::describeDevice() const {
  std::string Whose, Out;
  if (Gpu)
    Whose = Modelled && IsThis ? "of the GPU that is simulated"
            : IsThis           ? "measured on another " + Gpu->Name +
                           " where no other "
                           "is named"
                     : "of an " + Gpu->Name +
                           ", which stands for this "
                           "architecture here, where no other is named";
  const char *Measured = " (measured on this GPU)";
  if (CopyGBs > 0)
    Out += "- Copy rate, bytes read and written together: " +
           number("%.0f", CopyGBs) + " GB/s" + (CopyMeasured ? Measured : "") +
           ".\n";
  if (EventPairUs > 0)
    Out += "- Two events with nothing between them: " +
           number("%.2f", EventPairUs) + " us" + Measured +
           ". It is in every time.\n";
  if (Gpu)
    Out += describeUnits();
  if (Out.empty())
    return Out;
  return "Figures for estimates" + (Gpu ? " (" + Whose + ")" : Whose) +
         ":\n\n" + Out;
}

/// What follows from the numbers of a GPU's parts.
std::string Figures::describeUnits() const {
  double LatencyNs = Gpu->DramLatency / Gpu->ClockGHz;
  std::string Threads = std::to_string(Gpu->MaxThreadsPerSm);
  return "- A launch of a kernel that does nothing: " +
         number("%.1f", LaunchUs) +
         " us between the events, which are in it.\n"
         "- Bytes in flight: DRAM answers after " +
         number("%.0f", LatencyNs) +
         " ns when it is idle, so that the copy rate takes at least " +
         number("%.1f", LatencyNs * CopyGBs / Gpu->Sms / 1024) +
         " KB on their way for each SM at any time, and two to three times "
         "that under load. " +
         Threads + " threads with one load of 4 bytes each have " +
         number("%.0f", 4.0 * Gpu->MaxThreadsPerSm / 1024) +
         " KB on their way, with one of 16 bytes " +
         number("%.0f", 16.0 * Gpu->MaxThreadsPerSm / 1024) +
         " KB.\n"
         "- Waves: " +
         std::to_string(Gpu->Sms) + " SMs hold at most " + Threads +
         " threads and " + std::to_string(Gpu->MaxBlocksPerSm) +
         " blocks each, which is " +
         std::to_string(Gpu->Sms * (Gpu->MaxThreadsPerSm / 256)) +
         " blocks of 256 threads at a time. A last wave of few blocks takes "
         "about as long as a full one.\n";
}

double Figures::firstReadUs() const {
  return Gpu ? Gpu->DramLatency / Gpu->ClockGHz * 1e-3 : 0;
}

std::string Figures::describeSize(const Workload &W, const Size &S) const {
  std::string Text, Takes = "; about ";
  std::optional<double> Bytes = valueOf(W.Bytes, S.Names);
  if (Bytes) {
    Text = "has to move at least " + number("%.6g", *Bytes / 1e9) + " GB";
  } else if ((Bytes = argumentBytes(W, S))) {
    Text = "its arguments are " + number("%.6g", *Bytes / 1e9) +
           " GB, each input read and each output written once";
    Takes = "; if all of that moves, about ";
  }
  if (std::optional<double> Flops = valueOf(W.Flops, S.Names))
    Text += (Text.empty() ? "" : ", ") +
            ("computes " + number("%.6g", *Flops / 1e9)) + " GFLOP";
  if (Bytes && CopyGBs > 0)
    Text +=
        Takes +
        number("%.1f", launchUs() + firstReadUs() + *Bytes / CopyGBs * 1e-3) +
        " us";
  return Text;
}

std::optional<double> Figures::mostFlopsPerByte(const Workload &W) const {
  std::optional<double> Most;
  for (const Size &S : W.Sizes) {
    if (S.CheckOnly || S.Added)
      continue;
    std::optional<double> Flops = valueOf(W.Flops, S.Names),
                          Bytes = valueOf(W.Bytes, S.Names);
    if (!Bytes)
      Bytes = argumentBytes(W, S);
    if (Flops && Bytes && *Bytes > 0)
      Most = std::max(Most.value_or(0), *Flops / *Bytes);
  }
  return Most;
}

std::string Figures::describeMemoryTimes() const {
  if (CopyGBs <= 0)
    return "";
  double Launch = launchUs();
  return "\nThe times are those of memory alone: " +
         (Launch > 0 ? "an empty launch (" + number("%.1f", Launch) + " us), "
                     : std::string()) +
         (Gpu ? "the answer to the first read from DRAM (" +
                    number("%.1f", firstReadUs()) + " us) and "
              : std::string()) +
         "these bytes at the copy rate of " + number("%.0f", CopyGBs) +
         " GB/s; what is written last may stay in L2, which makes it less. A "
         "size that comes near its time here gains only by fewer bytes. One "
         "that is far above it waits for something else: a read "
         "that waits for what another brought adds an answer of DRAM, and "
         "barriers, reductions and further passes add to it, too.\n";
}

unsigned Figures::blocksPerSm(unsigned Threads, unsigned Registers,
                              uint64_t Shared) const {
  auto Up = [](uint64_t Value, uint64_t Unit) {
    return (Value + Unit - 1) / Unit * Unit;
  };
  if (Threads == 0 || Threads > Gpu->MaxThreadsPerBlock)
    return 0;
  uint64_t Warps = (Threads + WarpLanes - 1) / WarpLanes;
  uint64_t OfBlock = Warps * Up(uint64_t(Registers) * WarpLanes, RegisterUnit);
  uint64_t Blocks = std::min<uint64_t>(
      Gpu->MaxBlocksPerSm, Gpu->MaxThreadsPerSm / (Warps * WarpLanes));
  if (OfBlock)
    Blocks = std::min(Blocks, Gpu->RegistersPerSm / OfBlock);
  if (Gpu->SharedPerSm)
    Blocks = std::min(Blocks, Gpu->SharedPerSm /
                                  Up(Shared + Gpu->SharedReserved, SharedUnit));
  return unsigned(Blocks);
}

/// The product of up to three extents, "ceildiv(n, 256), rows".
static std::optional<double> productOf(const std::string &Triple,
                                       const Bindings &Names) {
  double Product = 1;
  for (llvm::StringRef Each : splitTriple(Triple)) {
    std::optional<double> Value = valueOf(Each.trim().str(), Names);
    if (!Value)
      return std::nullopt;
    Product *= *Value;
  }
  return Product;
}

std::string Figures::describeLaunchRule(const Workload &W, unsigned Registers,
                                        uint64_t Shared) const {
  std::string Out;
  for (const Size &S : W.Sizes) {
    if (S.CheckOnly || S.Added)
      continue;
    std::optional<double> Blocks = productOf(W.Launch->Grid, S.Names),
                          Threads = productOf(W.Launch->Block, S.Names),
                          Dynamic = valueOf(W.Launch->SharedBytes, S.Names);
    if (!Blocks || !Threads)
      continue;
    unsigned PerSm = blocksPerSm(unsigned(*Threads), Registers,
                                 Shared + uint64_t(Dynamic.value_or(0)));
    if (PerSm)
      Out += "; at " + S.label() + " " + number("%.0f", *Blocks) +
             " blocks of " + number("%.0f", *Threads) + ", " +
             std::to_string(PerSm) + " an SM, " +
             number("%.2f", *Blocks / (double(PerSm) * Gpu->Sms)) + " waves";
  }
  return Out;
}

std::string Figures::describeOccupancy(const Workload &W,
                                       llvm::StringRef Compiler) const {
  if (!Gpu)
    return "";
  std::string Out;
  for (llvm::StringRef Line : llvm::split(Compiler, '\n')) {
    // "softmax_kernel: 16 registers, 1024 bytes of static shared memory, ..."
    size_t At = Line.rfind(" registers, ");
    size_t Colon = Line.substr(0, At).rfind(": ");
    unsigned Registers = 0, Shared = 0;
    if (At == llvm::StringRef::npos || Colon == llvm::StringRef::npos ||
        Line.slice(Colon + 2, At).getAsInteger(10, Registers) ||
        Line.substr(At)
            .drop_front(strlen(" registers, "))
            .consumeInteger(10, Shared))
      continue;
    Out += "- " + Line.take_front(Colon).str() + ": ";
    llvm::StringRef Separator = "";
    for (unsigned Threads : {64u, 128u, 256u, 512u, 1024u})
      if (unsigned PerSm = blocksPerSm(Threads, Registers, Shared)) {
        Out += (Separator + std::to_string(PerSm) +
                (PerSm == 1 ? " block of " : " blocks of ") +
                std::to_string(Threads))
                   .str();
        Separator = ", ";
      }
    if (Separator.empty())
      Out += "no block fits";
    if (W.Launch && Line.take_front(Colon).split('<').first == W.Launch->Kernel)
      Out += describeLaunchRule(W, Registers, Shared);
    Out += "\n";
  }
  if (Out.empty())
    return "";
  return "What an SM holds at a time, by the registers and the static shared "
         "memory above (" +
         std::to_string(Gpu->Sms) +
         " times that is a wave; dynamic shared memory lowers it):\n\n" + Out +
         "\n";
}
