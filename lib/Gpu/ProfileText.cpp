//===- ProfileText.cpp - Counters as a paragraph --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A line each: what was called, what bounds it, the floor, occupancy,
/// stalls, source lines, requests, conflicts, local memory, tensor cores,
/// other kernels.
///
//===----------------------------------------------------------------------===//

#include "ProfileText.h"
#include <algorithm>
#include <cstdio>

using namespace stark;
using namespace stark::gpu;

namespace {
/// Below this share of its peak neither memory nor arithmetic is what bounds a
/// kernel, as ncu's own rules have it.
constexpr double BoundPercent = 60;
/// From here on nothing limits how many warps an SM has.
constexpr double AllPercent = 99.5;
constexpr size_t MostStalls = 3, MostSourceLines = 3, MostOthers = 3;

std::string number(double Value, int Digits) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.*f", Digits, Value);
  return Text;
}
std::string percent(double Value) { return number(Value, 0) + " %"; }

/// "long scoreboard (global or local memory)"
std::string stallName(const std::string &Metric) {
  static const std::map<std::string, std::string> Meaning = {
      {"long_scoreboard", "global or local memory"},
      {"long_sb", "global or local memory"},
      {"short_scoreboard", "shared memory or special functions"},
      {"short_sb", "shared memory or special functions"},
      {"barrier", "other warps of the block"},
      {"math_pipe_throttle", "a busy arithmetic unit"},
      {"math", "a busy arithmetic unit"},
      {"mio_throttle", "a full queue to shared memory"},
      {"mio", "a full queue to shared memory"},
      {"lg_throttle", "a full queue to global memory"},
      {"lg", "a full queue to global memory"},
      {"wait", "a fixed latency"},
      {"no_instruction", "instructions"},
      {"no_inst", "instructions"},
      {"imc_miss",
       "a constant, or a parameter of the kernel, that no cache has"},
      {"not_selected", "another warp, which was ready as well"},
      {"drain", "stores before the end"},
      {"gmma", "tensor cores"}};
  std::string Name = Metric;
  std::replace(Name.begin(), Name.end(), '_', ' ');
  auto Found = Meaning.find(Metric);
  return Found == Meaning.end() ? Name : Name + " (" + Found->second + ")";
}

/// "softmax_kernel" of "void softmax_kernel<4>(const float *, int)"
std::string shortName(const std::string &Kernel) {
  return Kernel.size() <= 60 ? Kernel : Kernel.substr(0, 57) + "...";
}

class Paragraph {
public:
  Paragraph(const ProfiledCall &Call, const std::vector<NcuLaunch> &Launches,
            const std::vector<NcuLine> &Lines)
      : Call(Call), Launches(Launches), Lines(Lines),
        Main(mainKernelOf(Launches)), L(*Main.Longest) {}
  std::string write();
  std::string writeShort();

private:
  void add(const std::string &Line);
  void addCalled();
  void addBound();
  void addFloor();
  void addOccupancy();
  std::string occupancy() const;
  std::string stalls() const;
  void addSourceLines();
  void addRequests();
  void addShared();
  void addRest();
  double of(const char *Metric) const { return L.metric(Metric).value_or(-1); }

  const ProfiledCall &Call;
  const std::vector<NcuLaunch> &Launches;
  const std::vector<NcuLine> &Lines;
  const MainKernel Main;
  const NcuLaunch &L;
  std::string Out;
  size_t Count = 0;
};
} // namespace

static double usOf(const NcuLaunch &L) {
  return L.metric("gpu__time_duration.sum").value_or(0) / 1000;
}

MainKernel gpu::mainKernelOf(const std::vector<NcuLaunch> &Launches) {
  std::map<std::string, double> ByKernel;
  MainKernel Main;
  for (const NcuLaunch &L : Launches) {
    ByKernel[L.Kernel] += usOf(L);
    Main.AllUs += usOf(L);
  }
  std::string Name;
  for (const NcuLaunch &L : Launches)
    if (Name.empty() || ByKernel[L.Kernel] > ByKernel[Name])
      Name = L.Kernel;
  Main.Us = ByKernel[Name];
  for (const NcuLaunch &L : Launches)
    if (L.Kernel == Name && (!Main.Longest || usOf(L) > usOf(*Main.Longest)))
      Main.Longest = &L;
  return Main;
}

void gpu::addProfile(std::string &Text, const std::string &More) {
  if (Text.size() + More.size() <= job::MaxProfileBytes)
    Text += More;
}

void Paragraph::add(const std::string &Line) {
  if (Line.empty() || Count == job::MaxProfileLines ||
      Out.size() + Line.size() + 1 > job::MaxProfileBytes)
    return;
  Out += Line + "\n";
  ++Count;
}

void Paragraph::addCalled() {
  std::string Text = "size " + Call.Label + ": " +
                     std::to_string(Launches.size()) +
                     (Launches.size() == 1 ? " launch" : " launches") +
                     (Call.MaybeMoreLaunches ? ", the first alone" : "") +
                     "; what follows is of " + shortName(L.Kernel) + ", grid " +
                     L.Grid + ", block " + L.Block;
  if (Main.AllUs > 0)
    Text += ", " + number(usOf(L), 1) +
            " us with cold caches; its launches are " +
            percent(100 * Main.Us / Main.AllUs) + " of the time";
  add(Text);
}

void Paragraph::addBound() {
  struct Unit {
    const char *Name;
    double Share;
  };
  const Unit Units[] = {
      {"DRAM", of("dram__throughput.avg.pct_of_peak_sustained_elapsed")},
      {"L2", of("lts__throughput.avg.pct_of_peak_sustained_elapsed")},
      {"L1 and shared memory",
       of("l1tex__throughput.avg.pct_of_peak_sustained_active")}};
  double Arithmetic = of("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
         Memory = of("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_"
                     "elapsed");
  if (Arithmetic < 0 || Memory < 0)
    return;
  const Unit *Most = std::max_element(
      std::begin(Units), std::end(Units),
      [](const Unit &A, const Unit &B) { return A.Share < B.Share; });
  Memory = std::max(Memory, Most->Share);
  std::string Bound;
  if (std::max(Arithmetic, Memory) < BoundPercent)
    Bound = "latency: neither memory nor the SMs' units are near their peak";
  else if (Memory >= Arithmetic)
    Bound = std::string("memory, of which ") + Most->Name +
            " is nearest to its peak";
  else
    Bound = "the SMs' units";
  std::string Text =
      "bound by " + Bound + "; of its peak: SM " + percent(Arithmetic);
  for (const Unit &U : Units)
    if (U.Share >= 0)
      Text += std::string(", ") + U.Name + " " + percent(U.Share);
  if (double Busy = of("smsp__issue_active.avg.pct_of_peak_sustained_active");
      Busy >= 0)
    Text += "; an instruction is issued in " + percent(Busy) + " of the cycles";
  add(Text);
}

void Paragraph::addFloor() {
  double Bytes = 0;
  for (const NcuLaunch &Each : Launches)
    Bytes += Each.metric("dram__bytes.sum").value_or(0);
  std::string Traffic =
      Bytes > 0 ? number(Bytes / 1e6, 1) + " MB to and from DRAM" : "";
  if (Call.MovedBytes <= 0 || Call.CopyGBs <= 0 || Call.MedianUs <= 0)
    return add(Traffic);
  double FloorUs = Call.MovedBytes / Call.CopyGBs * 1e-3;
  if (!Traffic.empty())
    Traffic = "; " + Traffic + ", " + number(Bytes / Call.MovedBytes, 2) +
              " times as much as has to be moved" +
              (Bytes < Call.MovedBytes ? " (the rest was written last, and is "
                                         "still in L2)"
                                       : "");
  add("floor: its " + number(Call.MovedBytes / 1e6, 1) +
      " MB at the copy rate take " + number(FloorUs, 1) + " us, " +
      percent(100 * FloorUs / Call.MedianUs) + " of the measured " +
      number(Call.MedianUs, 1) + " us" + Traffic);
}

/// Empty when it was not counted.
std::string Paragraph::occupancy() const {
  double Achieved = of("sm__warps_active.avg.pct_of_peak_sustained_active"),
         Possible = of("sm__maximum_warps_per_active_cycle_pct");
  if (Achieved < 0)
    return Possible < 0 ? ""
                        : "occupancy: " + percent(Possible) +
                              " of an SM's warps possible";
  std::string Text = "occupancy: " + percent(Achieved) + " of an SM's warps";
  if (Possible >= 0)
    Text += ", " + percent(Possible) + " possible";
  return Text;
}

void Paragraph::addOccupancy() {
  struct Limit {
    const char *Name;
    double Blocks;
  };
  std::string Text = occupancy();
  double Possible = of("sm__maximum_warps_per_active_cycle_pct");
  if (Text.empty())
    return;
  std::vector<Limit> Limits;
  for (const Limit &Each :
       {Limit{"registers", of("launch__occupancy_limit_registers")},
        Limit{"shared memory", of("launch__occupancy_limit_shared_mem")},
        Limit{"the block's warps", of("launch__occupancy_limit_warps")},
        Limit{"blocks an SM", of("launch__occupancy_limit_blocks")}})
    if (Each.Blocks > 0)
      Limits.push_back(Each);
  std::stable_sort(
      Limits.begin(), Limits.end(),
      [](const Limit &A, const Limit &B) { return A.Blocks < B.Blocks; });
  if (!Limits.empty()) {
    if (Possible < AllPercent)
      Text += std::string(", limited by ") + Limits[0].Name;
    for (size_t I = 0; I < Limits.size(); ++I)
      Text += (I ? ", " : " (blocks an SM: ") + std::string(Limits[I].Name) +
              " " + number(Limits[I].Blocks, 0);
    Text += ")";
  }
  if (double Registers = of("launch__registers_per_thread"); Registers > 0)
    Text += ", " + number(Registers, 0) + " registers a thread";
  if (double Waves = of("launch__waves_per_multiprocessor"); Waves > 0)
    Text += ", " + number(Waves, 2) + " waves";
  add(Text);
}

std::string Paragraph::stalls() const {
  std::vector<std::pair<double, std::string>> Stalls;
  for (const char *Name : NcuStalls)
    if (std::optional<double> Cycles = L.metric(stallMetric(Name));
        Cycles && *Cycles >= 0.05)
      Stalls.push_back({*Cycles, Name});
  std::stable_sort(
      Stalls.begin(), Stalls.end(),
      [](const auto &A, const auto &B) { return A.first > B.first; });
  std::string Text;
  for (size_t I = 0; I < std::min(Stalls.size(), MostStalls); ++I)
    Text += (I ? ", " : "") + stallName(Stalls[I].second) + " " +
            number(Stalls[I].first, 1);
  return Text.empty() ? ""
                      : "a warp waits, in cycles for each instruction: " + Text;
}

/// Of the text's own lines those with the most samples; of what they call in
/// headers how much it is.
void Paragraph::addSourceLines() {
  double All = 0, InHeaders = 0;
  std::map<std::string, double> Headers;
  std::vector<const NcuLine *> Own;
  for (const NcuLine &Each : Lines) {
    All += Each.Samples;
    if (Each.File == Call.File) {
      Own.push_back(&Each);
    } else {
      InHeaders += Each.Samples;
      Headers[Each.File] += Each.Samples;
    }
  }
  size_t Most = MostSourceLines - !Headers.empty();
  for (size_t I = 0; I < std::min(Own.size(), Most); ++I)
    add("line " + std::to_string(Own[I]->Line) + ": " +
        percent(100 * Own[I]->Samples / All) + " of the samples" +
        (Own[I]->Reason.empty() || Own[I]->Reason == "selected"
             ? ""
             : ", most of them " + stallName(Own[I]->Reason)) +
        (Own[I]->Text.empty() ? "" : ": " + Own[I]->Text));
  if (Headers.empty())
    return;
  auto Largest = std::max_element(
      Headers.begin(), Headers.end(),
      [](const auto &A, const auto &B) { return A.second < B.second; });
  add("in functions of headers: " + percent(100 * InHeaders / All) +
      " of the samples, most of them in " + Largest->first);
}

void Paragraph::addRequests() {
  std::string Text;
  for (auto [Name, Metric] :
       {std::pair("loads", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_"
                           "global_op_ld.ratio"),
        std::pair("stores", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_"
                            "global_op_st.ratio")})
    if (double Sectors = of(Metric); Sectors > 0)
      Text += (Text.empty() ? "" : ", ") + std::string(Name) + " " +
              number(Sectors, 1);
  add(Text.empty() ? ""
                   : "global memory, sectors of 32 bytes a request (4 where a "
                     "warp's lanes take 4 bytes each side by side, 16 where "
                     "they take 16): " +
                         Text);
}

void Paragraph::addShared() {
  std::string Text;
  for (auto [Name, Suffix] :
       {std::pair("loads", "ld.sum"), std::pair("stores", "st.sum")}) {
    double Conflicts =
               of(("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" +
                   std::string(Suffix))
                      .c_str()),
           Wavefronts = of(("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" +
                            std::string(Suffix))
                               .c_str());
    if (Conflicts < 0 || Wavefronts <= 0)
      continue;
    Text += (Text.empty() ? "" : ", ") + std::string(Name) + " " +
            number(Conflicts, 0) + " (" +
            percent(100 * Conflicts / Wavefronts) + " of their wavefronts)";
  }
  add(Text.empty() ? "" : "shared memory, bank conflicts: " + Text);
}

/// Spills, tensor cores, other kernels.
void Paragraph::addRest() {
  double Loads = of("smsp__inst_executed_op_local_ld.sum"),
         Stores = of("smsp__inst_executed_op_local_st.sum");
  if (Loads > 0 || Stores > 0)
    add("local memory (spills, or arrays that are indexed by variables): " +
        number(std::max(Loads, 0.0), 0) + " loads and " +
        number(std::max(Stores, 0.0), 0) + " stores of warps");
  else if (Loads == 0 && Stores == 0)
    add("local memory: not used, so no spills");
  else if (double Bytes = of(LocalBytesMetric); Bytes > 0)
    add("local memory (spills, or arrays that are indexed by variables): " +
        number(Bytes, 0) + " bytes a thread");
  else if (Bytes == 0)
    add("local memory: none, so no spills");
  double Tensor =
      of("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
  if (Tensor >= 0)
    add(Tensor >= 0.5
            ? "tensor cores: busy in " + percent(Tensor) + " of the cycles"
            : "tensor cores: not used");
  std::map<std::string, double> Others;
  for (const NcuLaunch &Each : Launches)
    if (Each.Kernel != L.Kernel)
      Others[Each.Kernel] += usOf(Each);
  std::vector<std::pair<double, std::string>> Sorted;
  for (const auto &[Name, Us] : Others)
    Sorted.push_back({Us, Name});
  std::stable_sort(
      Sorted.begin(), Sorted.end(),
      [](const auto &A, const auto &B) { return A.first > B.first; });
  std::string Text;
  for (size_t I = 0; I < std::min(Sorted.size(), MostOthers); ++I)
    Text += (I ? ", " : "") + shortName(Sorted[I].second) + " " +
            number(Sorted[I].first, 1) + " us";
  add(Text.empty() ? "" : "other kernels: " + Text);
}

std::string Paragraph::write() {
  addCalled();
  addBound();
  addFloor();
  addOccupancy();
  add(stalls());
  addSourceLines();
  addRequests();
  addShared();
  addRest();
  return std::move(Out);
}

std::string Paragraph::writeShort() {
  addCalled();
  addBound();
  std::string Text = occupancy();
  if (double Waves = of("launch__waves_per_multiprocessor");
      !Text.empty() && Waves > 0)
    Text += ", " + number(Waves, 2) + " waves";
  std::string Waits = stalls();
  add(Text + (Text.empty() || Waits.empty() ? "" : "; ") + Waits);
  return std::move(Out);
}

std::string gpu::describeOtherSize(const ProfiledCall &Call,
                                   const std::vector<NcuLaunch> &Launches) {
  return Paragraph(Call, Launches, {}).writeShort();
}

std::string gpu::describeProfile(const ProfiledCall &Call,
                                 const std::vector<NcuLaunch> &Launches,
                                 const std::vector<NcuLine> &Lines) {
  return Paragraph(Call, Launches, Lines).write();
}
