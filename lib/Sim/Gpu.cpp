//===- Gpu.cpp - The GPU that is simulated --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Gpu.h"
#include "Headers.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::sim;
using Json = nlohmann::json;

namespace stark::sim {
/// The format of lib/Sim/gpus.
template <class IO> static void fields(IO &F, GpuDescription &G) {
  constexpr uint64_t Most = uint64_t(1) << 40;
  auto Whole = [&](const char *Name, auto &Value) {
    F.required(Name, Value);
    F.check(Value >= 1 && Value <= Most, Name, "a number from 1 to 2^40");
  };
  auto Real = [&](const char *Name, double &Value) {
    F.required(Name, Value);
    F.check(Value > 0 && Value < 1e15, Name, "a positive number");
  };
  F.required("name", G.Name);
  F.required("arch", G.Arch);
  F.optional("stands_for", G.StandsFor);
  Whole("sms", G.Sms);
  Real("clock_ghz", G.ClockGHz);
  Real("dram_gb_per_s", G.DramGBs);
  Real("l2_gb_per_s", G.L2GBs);
  Real("l2_bytes", G.L2Bytes);
  Real("l1_bytes", G.L1Bytes);
  Whole("max_threads_per_block", G.MaxThreadsPerBlock);
  Whole("max_threads_per_sm", G.MaxThreadsPerSm);
  Whole("max_blocks_per_sm", G.MaxBlocksPerSm);
  Whole("registers_per_sm", G.RegistersPerSm);
  Whole("shared_per_sm", G.SharedPerSm);
  Whole("shared_per_block", G.SharedPerBlock);
  Whole("shared_reserved", G.SharedReserved);
  Real("integer_rate", G.IntegerRate);
  Real("float_rate", G.FloatRate);
  Real("double_rate", G.DoubleRate);
  Real("half_rate", G.HalfRate);
  Real("special_rate", G.SpecialRate);
  Real("l1_latency", G.L1Latency);
  Real("l2_latency", G.L2Latency);
  Real("dram_latency", G.DramLatency);
  Real("shared_latency", G.SharedLatency);
  Real("barrier_latency", G.BarrierLatency);
  Real("atomic_cycles", G.AtomicCycles);
  Real("blocks_per_us", G.BlocksPerUs);
  Real("block_latency", G.BlockLatency);
  Real("warp_start_cycles", G.WarpStartCycles);
  Real("l2_writes_per_ns", G.L2WritesPerNs);
  Real("atomics_per_ns", G.AtomicsPerNs);
  Real("atomics_per_ns_one_line", G.AtomicsPerNsOneLine);
  Real("float_atomics_per_ns_one_line", G.FloatAtomicsPerNsOneLine);
  Real("launch_us", G.LaunchUs);
  F.optional("hop_latency", G.HopLatency);
  F.check(G.HopLatency > 0, "hop_latency", "a positive number");
  F.optional("fence_latency", G.FenceLatency);
  F.check(G.FenceLatency > 0, "fence_latency", "a positive number");
  F.ignored("sources");
  // Files that were written for earlier versions have them.
  F.ignored("memory_rate");
  F.ignored("l1_bytes_per_cycle");
}
} // namespace stark::sim

std::pair<int, int> GpuDescription::computeCapability() const {
  int Number = 0;
  for (char C : Arch)
    if (C >= '0' && C <= '9')
      Number = Number * 10 + (C - '0');
  return {Number / 10, Number % 10};
}

static llvm::Expected<GpuDescription> parseGpu(llvm::StringRef Text,
                                               llvm::StringRef File) {
  Json J = Json::parse(Text.begin(), Text.end(), nullptr, false);
  if (J.is_discarded())
    return failed(File + ": not valid JSON");
  GpuDescription G;
  std::string Problem = readFields(J, File.str(), "", G);
  if (!Problem.empty())
    return failed(Problem);
  return G;
}

static llvm::StringRef gpuName(const EmbeddedFile &G) {
  return llvm::StringRef(G.Name).rsplit('.').first;
}

llvm::Expected<GpuDescription> sim::describeGpu(llvm::StringRef NameOrFile) {
  NameOrFile.consume_back(EstimatedRegisters);
  std::string Names;
  for (const EmbeddedFile &G : embeddedGpus()) {
    if (gpuName(G) == NameOrFile)
      return parseGpu(G.Text, G.Name);
    Names += (gpuName(G) + ", ").str();
  }
  if (NameOrFile.ends_with(".json")) {
    llvm::Expected<std::string> Text = readFile(NameOrFile);
    if (!Text)
      return Text.takeError();
    return parseGpu(*Text, NameOrFile);
  }
  return usageError("GPU: got '" + NameOrFile + "', wanted " + Names +
                    "or a .json file that describes one");
}

std::optional<GpuDescription> sim::describeDevice(llvm::StringRef Device) {
  Device.consume_front("simulated ");
  for (const EmbeddedFile &File : embeddedGpus()) {
    llvm::Expected<GpuDescription> G = parseGpu(File.Text, File.Name);
    if (!G)
      llvm::consumeError(G.takeError());
    else if (G->Name == Device)
      return std::move(*G);
  }
  return std::nullopt;
}

std::string sim::gpuForArch(llvm::StringRef Arch) {
  for (const EmbeddedFile &File : embeddedGpus()) {
    llvm::Expected<GpuDescription> G = parseGpu(File.Text, File.Name);
    if (!G)
      llvm::consumeError(G.takeError());
    else
      for (const std::string &Each : G->StandsFor)
        if (Arch.starts_with(Each))
          return gpuName(File).str();
  }
  return DefaultGpu;
}
