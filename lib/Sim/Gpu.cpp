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

llvm::Expected<GpuDescription> sim::parseGpu(llvm::StringRef Text,
                                             llvm::StringRef File) {
  Json J = Json::parse(Text.begin(), Text.end(), nullptr, false);
  if (J.is_discarded())
    return failed(File + ": not valid JSON");
  GpuDescription G;
  std::string Sources;
  FieldReader<Json> R(J, File.str(), "");
  auto Whole = [&](const char *Name, auto &Value) {
    uint64_t Wide = 0;
    R.required(Name, Wide);
    if (R.good() && (Wide < 1 || Wide > (uint64_t(1) << 40)))
      R.fail(Name, std::to_string(Wide), "a number from 1 to 2^40");
    Value = std::remove_reference_t<decltype(Value)>(Wide);
  };
  auto Real = [&](const char *Name, double &Value) {
    R.required(Name, Value);
    if (R.good() && !(Value > 0 && Value < 1e15))
      R.fail(Name, std::to_string(Value), "a positive number");
  };
  R.required("name", G.Name);
  R.required("arch", G.Arch);
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
  Real("memory_rate", G.MemoryRate);
  Real("l1_bytes_per_cycle", G.L1BytesPerCycle);
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
  R.optional("sources", Sources);
  if (std::string Problem = R.problem(); !Problem.empty())
    return failed(Problem);
  return G;
}

std::vector<std::string> sim::knownGpus() {
  std::vector<std::string> Names;
  for (const EmbeddedFile &G : embeddedGpus())
    Names.push_back(llvm::StringRef(G.Name).rsplit('.').first.str());
  return Names;
}

llvm::Expected<GpuDescription> sim::describeGpu(llvm::StringRef NameOrFile) {
  for (const EmbeddedFile &G : embeddedGpus())
    if (llvm::StringRef(G.Name).rsplit('.').first == NameOrFile)
      return parseGpu(G.Text, G.Name);
  if (NameOrFile.ends_with(".json")) {
    llvm::Expected<std::string> Text = readFile(NameOrFile);
    if (!Text)
      return Text.takeError();
    return parseGpu(*Text, NameOrFile);
  }
  std::string Names;
  for (const std::string &N : knownGpus())
    Names += N + ", ";
  return usageError("GPU: got '" + NameOrFile + "', wanted " + Names +
                    "or a .json file that describes one");
}
